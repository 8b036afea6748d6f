// Command demo makes a project, asks alibi about it, and compares the answers with what was planted there: the releases of a public Go
// module as a git repository, one commit each, a change of several commits on top, and a test run in which six tests fail.
//
//	go run ./tools/demo -program bin/shadowcourt -out out/demo
//
// OUT/uuid is the repository with the branches main and change, and OUT/report.json the true output of go test -json on change. All commits
// have the same ids everywhere. Only the module proxy is asked for something. The exit code is 0 only if all answers are right.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	program := flag.String("program", filepath.Join("bin", "shadowcourt"), "shadowcourt itself")
	out := flag.String("out", filepath.Join("out", "demo"), "folder to write to")
	flag.Parse()
	if err := run(context.Background(), *program, *out); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, out string) error {
	dir := filepath.Join(out, "uuid")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	commits, err := build(ctx, repository(dir))
	if err != nil {
		return err
	}
	report, err := failingRun(ctx, dir)
	if err != nil {
		return err
	}
	name := filepath.Join(out, "report.json")
	if err := os.WriteFile(name, report, 0o644); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "alibi runs the failing tests again, which takes some minutes")
	// Its exit code is 3: some failures are the change's.
	text, asked := command(ctx, "", nil, environment(), program, "alibi", name, "--source", dir, "--base", "main", "--culprit", "--format", "jsonl")
	answers := map[string]*answer{}
	for lines := json.NewDecoder(bytes.NewReader(text)); lines.More(); {
		var a answer
		if err := lines.Decode(&a); err != nil {
			return errors.Join(err, asked)
		}
		answers[a.ID] = &a
	}
	if len(answers) == 0 {
		return fmt.Errorf("no answers: %w", asked)
	}
	return compare(answers, commits, os.Stdout)
}

// zone is what breaks a test on the machine of the report: `make demo` sets it for the experiments, too.
const zone = "TZ=Asia/Tokyo"

// environment of the report, which needs no vet, and of the experiments: packages are built as those of the command were, so that they are built once.
func environment() []string {
	return []string{zone, "GOFLAGS=-mod=readonly -trimpath", "CGO_ENABLED=0"}
}

// failure is one that was planted.
type failure struct {
	test      string
	planted   string // in words
	answer    string // of the alibi
	culprit   string // the name of the patch
	sometimes bool   // it fails in some runs
}

// failures are all that were planted. The culprits are patches.
func failures() []failure {
	return []failure{
		{test: "TestUUID", planted: "a regression of the product", answer: "caused", culprit: "0002-Write-the-prefix-of-URNs-once"},
		{test: "TestScan", planted: "another regression, by a later commit", answer: "caused", culprit: "0005-Leave-it-to-Parse-what-Scan-accepts"},
		{test: "TestStrings", planted: "made flaky by the change: 3 of 8 runs fail", answer: "caused", culprit: "0004-Leave-out-repetitions-in-the-text-of-lists", sometimes: true},
		{test: "TestSpread", planted: "flaky since before the change: 1 of 3 runs fails", answer: "flaky", sometimes: true},
		{test: "TestEnclosed", planted: "a failure of the base", answer: "preexisting"},
		{test: "TestLocalTime", planted: "a failure in one time zone: " + zone, answer: "environment"},
	}
}

// answer is what is read of a line of shadowcourt alibi --format jsonl.
type answer struct {
	ID      string   `json:"id"`
	Verdict string   `json:"verdict"`
	Label   string   `json:"attribution"`
	Why     string   `json:"why"`
	Culprit *culprit `json:"culprit"`
	Seconds float64  `json:"seconds"`
}

type culprit struct {
	Commit string `json:"commit"`
	Title  string `json:"title"`
}

// wrong says what of an answer differs from what was planted; empty for nothing. A culprit is wanted where the change is to blame.
func (a *answer) wrong(planted *failure, commit string) string {
	switch {
	case a.Label == "":
		return "open: " + a.Why
	case a.Label != planted.answer:
		return "wrong: want " + planted.answer
	case commit != "" && a.Culprit == nil:
		return "no culprit: want " + commit[:12]
	case commit != "" && a.Culprit.Commit != commit:
		return "wrong culprit: want " + commit[:12]
	}
	return ""
}

// compare prints each failure that was planted with its answer. The error counts those that are not right, but for one that is open though it fails in
// some runs: of equal rates the runs tell nothing once in fifteen.
func compare(answers map[string]*answer, commits map[string]string, to io.Writer) error {
	right, chance := 0, 0
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TEST\tPLANTED\tANSWER\tSINCE\tSECONDS\tRIGHT")
	planted := failures()
	for i := range planted {
		f := &planted[i]
		a := answers[module+"."+f.test]
		if a == nil {
			fmt.Fprintf(table, "%s\t%s\t\t\t\tno answer\n", f.test, f.planted)
			continue
		}
		is := a.wrong(f, commits[f.culprit])
		if is == "" {
			right++
			is = "right"
		} else if f.sometimes && a.Label == "" && chance == 0 {
			chance++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.1f\t%s\n", f.test, f.planted, a.words(), a.Culprit, a.Seconds, is)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if right+chance < len(planted) || len(answers) != len(planted) {
		return fmt.Errorf("%d of %d planted failures are answered right, in %d answers", right, len(planted), len(answers))
	}
	if chance > 0 {
		_, err := fmt.Fprintf(to, "\n%d are right. One that fails in some runs is open: this time they did not tell.\n", right)
		return err
	}
	_, err := fmt.Fprintf(to, "\nAll %d are right.\n", right)
	return err
}

// words are the verdict and the label.
func (a *answer) words() string {
	if a.Label == "" {
		return a.Verdict
	}
	return a.Verdict + ": " + a.Label
}

// String is the commit as a person finds it; empty for none.
func (c *culprit) String() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%.12s %s", c.Commit, c.Title)
}

// maxRuns bounds the runs for the report: all that fail sometimes fail together in one of eight.
const maxRuns = 200

// failingRun runs the tests until one run has all failures that were planted, and no other. It is the report of that run.
func failingRun(ctx context.Context, dir string) ([]byte, error) {
	for range maxRuns {
		report, err := command(ctx, dir, nil, append(environment(), "GOWORK=off"), "go", "test", "-json", "-vet=off", "-count=1", "./...")
		failed := failedTests(report)
		if len(failed) == 0 {
			return nil, fmt.Errorf("no test fails: %w\n%s", err, report[:min(len(report), 2000)])
		}
		planted := failures()
		i := slices.IndexFunc(planted, func(f failure) bool { return !failed[f.test] })
		switch {
		case i >= 0 && !planted[i].sometimes:
			return nil, fmt.Errorf("%s does not fail; these do: %s", planted[i].test, strings.Join(slices.Sorted(maps.Keys(failed)), ", "))
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
