package experiment_test

import (
	"maps"
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
