package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// environment is what breaks a test on the machine of the report: `make demo` sets it for the experiments, too.
const environment = "TZ=Asia/Tokyo"

// failure is one that was planted.
type failure struct {
	Test      string `json:"test"`    // package and name, with a dot between
	Planted   string `json:"planted"` // in words
	Answer    string `json:"answer"`  // of the alibi
	Culprit   string `json:"culprit,omitempty"`
	sometimes bool   // it fails in some runs
}

// failures are all that were planted. The culprits are patches.
func failures() []failure {
	return []failure{
		{Test: "TestUUID", Planted: "a regression of the product", Answer: "caused", Culprit: "0002-Write-the-prefix-of-URNs-once"},
		{Test: "TestScan", Planted: "another regression, by a later commit", Answer: "caused", Culprit: "0005-Leave-it-to-Parse-what-Scan-accepts"},
		{Test: "TestStrings", Planted: "made flaky by the change: 3 of 8 runs fail", Answer: "caused", Culprit: "0004-Leave-out-repetitions-in-the-text-of-lists", sometimes: true},
		{Test: "TestSpread", Planted: "flaky since before the change: 1 of 3 runs fails", Answer: "flaky", sometimes: true},
		{Test: "TestEnclosed", Planted: "a failure of the base", Answer: "preexisting"},
		{Test: "TestLocalTime", Planted: "a failure in one time zone: " + environment, Answer: "environment"},
	}
}

// truth is what was planted in a repository.
type truth struct {
	Base     string    `json:"base"`
	Head     string    `json:"head"`
	Failures []failure `json:"failures"`
}

// truth names tests as reports do, and culprits by their commits.
func (h *history) truth() truth {
	planted := failures()
	for i := range planted {
		planted[i].Test = module + "." + planted[i].Test
		planted[i].Culprit = h.commits[planted[i].Culprit]
	}
	return truth{Base: h.base, Head: h.head, Failures: planted}
}

// maxRuns bounds the runs for the report: all that fail sometimes fail together in one of eight.
const maxRuns = 200

// failingRun runs the tests until one run has all failures that were planted, and no other. It is the report of that run.
func failingRun(ctx context.Context, dir string) ([]byte, error) {
	for range maxRuns {
		report, err := command(ctx, dir, nil, []string{environment, "GOFLAGS=-mod=readonly", "GOWORK=off"}, "go", "test", "-json", "-count=1", "./...")
		failed := failedTests(report)
		if len(failed) == 0 {
			return nil, fmt.Errorf("no test fails: %w\n%s", err, report[:min(len(report), 2000)])
		}
		planted := failures()
		i := slices.IndexFunc(planted, func(f failure) bool { return !failed[f.Test] })
		switch {
		case i >= 0 && !planted[i].sometimes:
			return nil, fmt.Errorf("%s does not fail; these do: %s", planted[i].Test, strings.Join(slices.Sorted(maps.Keys(failed)), ", "))
		case i < 0 && len(failed) == len(planted):
			return report, nil
		}
	}
	return nil, fmt.Errorf("none of %d runs has the planted failures and no other", maxRuns)
}

// failedTests are the names of the tests that a report of go test -json says failed.
func failedTests(report []byte) map[string]bool {
	failed := map[string]bool{}
	for line := range bytes.Lines(report) {
		var event struct {
			Action string `json:"Action"`
			Test   string `json:"Test"`
		}
		if json.Unmarshal(line, &event) == nil && event.Action == "fail" && event.Test != "" {
			failed[event.Test] = true
		}
	}
	return failed
}
