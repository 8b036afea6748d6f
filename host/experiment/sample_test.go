package experiment_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

// TestSample: every run of a cell is told by itself, and none ends the others early.
func TestSample(t *testing.T) {
	t.Parallel()
	dir := checkout(t)
	lab := open(t, experiment.Config{Source: filepath.Join(dir, "cart"), Base: "green", Mode: experiment.All, Budget: time.Hour})
	cases := docket(t, dir)
	sample := func(test string, product, tests abi.TreeRevision, runs int) experiment.Sample {
		t.Helper()
		s, err := lab.Sample(t.Context(), cases[test], abi.Experiment{Product: product, Tests: tests, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: runs})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	all := func(s experiment.Sample, n int, is abi.ExperimentOutcome) bool {
		return len(s.Runs) == n && !slices.ContainsFunc(s.Runs, func(o experiment.Observation) bool { return o.Outcome != is || o.Wall <= 0 })
	}
	if s := sample("TestTotal/two", abi.Head, abi.Head, 3); !all(s, 3, abi.OutcomeSame) || s.Runs[0].Look == "" || s.Runs[0].Look != s.Runs[2].Look || s.Loaded != abi.Certified {
		t.Errorf("head: %+v", s)
	}
	if s := sample("TestTotal/two", abi.Base, abi.Base, 4); !all(s, 4, abi.OutcomePassed) || s.Runs[0].Look != "" {
		t.Errorf("base: %+v", s)
	}
	if s := sample("TestCount", abi.Base, abi.Base, 2); s.Outcome != abi.OutcomeNoTest || len(s.Runs) > 0 {
		t.Errorf("a test that base does not have: %+v", s)
	}
	rain := slices.IndexFunc(slices.Sorted(maps.Keys(cases)), func(name string) bool { return strings.HasPrefix(name, "TestWeather/") })
	if rain < 0 {
		t.Skip("by chance, once in 1,024 times, no row of TestWeather failed")
	}
	flaky, passed, failed := sample(slices.Sorted(maps.Keys(cases))[rain], abi.Head, abi.Head, 30), 0, 0
	for _, o := range flaky.Runs {
		switch o.Outcome { //nolint:exhaustive // all others are wrong
		case abi.OutcomePassed:
			passed++
		case abi.OutcomeSame:
			failed++
		}
	}
	if passed == 0 || failed == 0 || passed+failed != 30 { // by chance once in 2^29
		t.Errorf("a flaky test: %d passed, %d failed", passed, failed)
	}
}

// TestRunsAreSpread: two runs begin in two seconds of the clock, and more of them take two seconds.
func TestRunsAreSpread(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, int(900*time.Millisecond), time.UTC)
	for runs, want := range map[int]time.Duration{1: 100 * time.Millisecond, 2: 100 * time.Millisecond, 3: 100 * time.Millisecond, 5: 500 * time.Millisecond, 81: 25 * time.Millisecond} {
		if got := experiment.NextRun(at, experiment.DefaultApart, runs).Sub(at); got != want {
			t.Errorf("of %d runs the next begins after %v, want %v", runs, got, want)
		}
	}
}

// TestStepsAddUp: all runs of a flaky test are made, and the second step of a cell builds nothing.
func TestStepsAddUp(t *testing.T) {
	command, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	tools, calls := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	script := "#!/bin/sh\necho \"$@\" >> '" + calls + "'\nexec '" + command + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(tools, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	l := open(t, experiment.Config{Source: checkout(t), Mode: experiment.Reruns, Budget: time.Hour})
	subject := &abi.Case{
		Subject: "TestWeather/1 fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    environment_test.go:9: it rains\n"}},
	}
	builds := func() int {
		text, err := os.ReadFile(calls)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte("test -c"))
	}
	for _, name := range []string{again, "head/head/original/alone/15"} {
		r, err := l.Run(t.Context(), subject, parse(t, name))
		if err != nil || r.Made() != r.Experiment.Runs || r.Other > 0 {
			t.Errorf("got %+v, %v", r, err)
		}
		if name != again && r.Outcome != abi.OutcomeMixed { // one time in 16,000 all 15 runs agree by chance
			t.Errorf("got %+v", r)
		}
	}
	if n := builds(); n != 1 {
		t.Errorf("%d builds", n)
	}
}
