package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// run of a test "T" and others; outcome is 'f', 'p' or '-', where the run did not get to it.
func runOf(outcome byte, red, tests int) result {
	r := result{Passed: map[string]bool{}, Red: red, Tests: tests}
	switch outcome {
	case 'f':
		r.Failed = []failed{{Test: "T", Log: "--- FAIL: T (0.00s)\n"}}
	case 'p':
		r.Passed["T"] = true
	}
	return r
}

func observed(runs, before, elsewhere string) labelled {
	l := labelled{attempt: &attempt{}, found: found{Test: "T"}, base: &baseline{}}
	for i := range runs {
		l.attempt.Runs = append(l.attempt.Runs, runOf(runs[i], 1, 10))
	}
	for i := range before {
		l.base.Calm = append(l.base.Calm, runOf(before[i], 0, 10))
	}
	other := runOf(elsewhere[0], 0, 10)
	l.attempt.Elsewhere = &other
	return l
}

func TestWitnessesSayWhatWasObserved(t *testing.T) {
	t.Parallel()
	steady, flaky := observed("ffff", "pppppppp", "f"), observed("fpfpfp", "pppppppp", "p")
	for seed := range uint64(40) {
		rng := func() *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
		if e, ok := steady.rerun(rng()); !ok || e.Supports != productBug || !strings.Contains(e.Content, "failed") {
			t.Errorf("a test that always fails is re-run: %+v", e)
		}
		if e, _ := steady.history(rng()); e.Supports == noDefect {
			t.Errorf("a test that fails since some time is called flaky: %+v", e)
		}
		e, _ := flaky.history(rng())
		alternates := strings.Contains(e.Content, "failed, passed")
		if alternates != (e.Supports == noDefect) {
			t.Errorf("the history is not read as it is: %+v", e)
		}
	}
	if _, ok := observed("f-", "pppppp", "-").rerun(rand.New(rand.NewPCG(1, 0))); ok {
		t.Error("a run that did not get to the test speaks of it")
	}
}

func TestProbesSpeakOfWhatIsAmiss(t *testing.T) {
	t.Parallel()
	sound := []reading{{"a", "fine", true}, {"b", "fine", true}, {"c", "fine", true}, {"d", "fine", true}}
	for change, want := range map[reading]string{
		{"d", "broken", false}:    systemIssue,
		{"load", "high", false}:   noDefect,
		{"load", "usual", true}:   "",
		{"home", "missing", true}: "",
	} {
		l := observed("f", "p", "p")
		l.attempt.Readings = slices.Concat(sound[:3], []reading{change})
		if e, ok := l.probes(rand.New(rand.NewPCG(1, 0))); !ok || e.Supports != want {
			t.Errorf("%+v speaks for %q, want %q", change, e.Supports, want)
		}
	}
	if _, ok := observed("f", "p", "p").probes(rand.New(rand.NewPCG(1, 0))); ok {
		t.Error("no readings speak")
	}
}

func TestSummaryCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		red, tests int
		want       string
	}{{1, 10, automationBug}, {2, 10, productBug}, {9, 10, systemIssue}} {
		l := observed("f", "p", "p")
		l.attempt.Runs[0].Red, l.attempt.Runs[0].Tests = c.red, c.tests
		if e, ok := l.summary(nil); !ok || e.Supports != c.want {
			t.Errorf("%d of %d: %q, want %q", c.red, c.tests, e.Supports, c.want)
		}
	}
}
