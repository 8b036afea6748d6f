package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

// results reads "head/base/original/alone/1 0 1 0": the experiment, and how many runs passed, failed as the case did, and failed
// in another way.
func results(t *testing.T, lines ...string) []abi.ExperimentResult {
	t.Helper()
	var list []abi.ExperimentResult
	for _, line := range lines {
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == '/' || r == ' ' })
		var n [4]int
		for i := range n {
			var err error
			if n[i], err = strconv.Atoi(fields[4+i]); err != nil {
				t.Fatal(err)
			}
		}
		r := abi.ExperimentResult{Experiment: abi.Experiment{
			Product: abi.TreeRevision(fields[0]), Tests: abi.TreeRevision(fields[1]), Environment: abi.RunEnvironment(fields[2]),
			Order: abi.RunOrder(fields[3]), Runs: n[0],
		}, Passed: n[1], Same: n[2], Other: n[3], Outcome: abi.OutcomeOther}
		switch {
		case n[1] > 0 && n[2]+n[3] > 0:
			r.Outcome = abi.OutcomeMixed
		case n[1] > 0:
			r.Outcome = abi.OutcomePassed
		case n[2] > 0 && n[3] == 0:
			r.Outcome = abi.OutcomeSame
		}
		list = append(list, r)
	}
	return list
}

const (
	fails      = "head/head/original/alone/5 0 5 0"
	passes     = "head/head/original/alone/5 5 0 0"
	greenGreen = "base/base/original/alone/2 "
	headGreen  = "head/base/original/alone/1 "
	greenHead  = "base/head/original/alone/1 "
)

func TestDecisionTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		lines         []string
		want, counted string
	}{
		{"nothing was run", nil, "", ""},
		{"mixed on head", []string{"head/head/starved/alone/5 1 1 0", greenGreen + "0 2 0"}, "nd001", "nd001"},
		{"the original order passes, alone it fails", []string{fails, "head/head/original/original/2 2 0 0"}, "nd001", "nd001"},
		{"head passes each time", []string{passes}, "", "nd001"},
		{"a clean environment mends it", []string{fails, "head/head/clean/alone/1 1 0 0"}, "", ""},
		{"green fails in the same way", []string{fails, greenGreen + "0 2 0", headGreen + "0 1 0"}, "si001", "si001"},
		{"green fails in another way", []string{fails, greenGreen + "0 0 2"}, "", ""},
		{"the product fails old tests", []string{fails, greenGreen + "2 0 0", headGreen + "0 1 0", greenHead + "1 0 0"}, "pb001", "pb001"},
		{"the tests fail the old product", []string{fails, greenGreen + "2 0 0", headGreen + "1 0 0", greenHead + "0 1 0"}, "ab001", "ab001"},
		{"either is enough", []string{fails, headGreen + "0 1 0", greenHead + "0 1 0"}, "", ""},
		{"both are needed", []string{fails, headGreen + "1 0 0", greenHead + "1 0 0"}, "", ""},
	} {
		list := results(t, c.lines...)
		if got := decide(list, false); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if got := decide(list, true); got != c.counted {
			t.Errorf("%s, failure counted: got %q, want %q", c.name, got, c.counted)
		}
	}
}

// TestCourtsPayForWhatTheyAsk: the build of head once, no experiment outside of the mode, nothing beyond the budget.
func TestCourtsPayForWhatTheyAsk(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	for _, line := range []string{"head/head/clean/alone/1 0 1 0", fails, greenGreen + "2 0 0"} {
		r := results(t, line)[0]
		l.Runs = append(l.Runs, performed{r, 10})
		l.Offers = append(l.Offers, abi.ExperimentOffer{Experiment: r.Experiment, Seconds: 1})
	}
	l.splitBuild() // 5 runs took 10 seconds, so that of the 10 seconds of the first one 8 are the build
	ask := func(c *client, i int) abi.ExperimentOutcome {
		r, err := c.Run(t.Context(), nil, l.Runs[i].Result.Experiment)
		if err != nil {
			t.Fatal(err)
		}
		return r.Outcome
	}
	c := &client{ledger: l, mode: experiment.All}
	if err := c.all(context.Background()); err != nil || c.seconds != 30 || len(c.results) != 3 {
		t.Errorf("everything: %v s, %d results, %v", c.seconds, len(c.results), err)
	}
	c = &client{ledger: l, mode: experiment.Reruns}
	if offers, _ := c.Offers(t.Context(), nil); len(offers) != 2 {
		t.Errorf("reruns: offered %v", offers)
	}
	if got := ask(c, 2); got != abi.OutcomeNotRun || c.seconds != 0 {
		t.Errorf("green with reruns: %s, %v s", got, c.seconds)
	}
	if got := ask(c, 0); got != abi.OutcomeSame || c.seconds != 10 {
		t.Errorf("one run on head: %s, %v s", got, c.seconds)
	}
	c.seconds = experiment.DefaultPerCase.Seconds()
	if got := ask(c, 1); got != abi.OutcomeNotRun {
		t.Errorf("without a budget: %s", got)
	}
}

// TestThePageHasItsMarks: the page of the study has a place for every table.
func TestThePageHasItsMarks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "lab", "experiments-study.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := study.Write(page, tables(nil), io.Discard); err != nil {
		t.Error(err)
	}
}
