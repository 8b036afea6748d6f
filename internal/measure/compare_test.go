package measure

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// ended is a result with a label, or a mistrial without one.
func ended(id, label string) trial.Result {
	final := trial.Final{Status: trial.Affirmed, Classification: label, Confidence: 0.7}
	if label == "" {
		final = trial.Final{Status: trial.Mistrial, Cause: trial.CauseTrap}
	}
	return trial.Result{ID: id, Activated: true, Final: final, Path: []string{"indict"}, Modules: map[string]string{}}
}

// both adds a case that ends with the labels before and after; "x" is right, and truth may be missing.
func both(c *CandidateComparison, n int, group, truth, before, after string) {
	for i := range n {
		t := &trial.Trial{Result: ended(fmt.Sprint(before, after, i), before)}
		t.Beside = &trial.Trial{Result: ended(t.Result.ID, after)}
		t.Case.Group = group
		if truth != "" {
			t.Truth = &trial.Truth{Classification: truth}
		}
		c.Add(t, t)
	}
}

func TestAccept_PL12_TheGate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fill    func(*CandidateComparison)
		finding Finding
		flips   int
		says    string
	}{
		"nothing":         {func(*CandidateComparison) {}, NotWorse, 0, "no case states its truth"},
		"five to worse":   {func(c *CandidateComparison) { both(c, 5, "", "x", "x", "y") }, NotWorse, 5, "fewer than 6 pairs"},
		"six to worse":    {func(c *CandidateComparison) { both(c, 6, "", "x", "x", "y") }, Worse, 6, "right less often"},
		"six to right":    {func(c *CandidateComparison) { both(c, 6, "", "x", "y", "x") }, Better, 6, "right more often"},
		"as many each":    {func(c *CandidateComparison) { both(c, 9, "", "x", "x", "y"); both(c, 9, "", "x", "y", "x") }, NotWorse, 18, "p = 1"},
		"wrong both ways": {func(c *CandidateComparison) { both(c, 9, "", "x", "y", "z") }, NotWorse, 9, "of 0 discordant pairs"},
		"one group":       {func(c *CandidateComparison) { both(c, 20, "g", "x", "x", "y") }, NotWorse, 20, "of 1 discordant pairs, each a group of cases, 1 for the court"},
		"no truth":        {func(c *CandidateComparison) { both(c, 20, "", "", "x", "y") }, NotWorse, 20, "no case states its truth"},
		"one mistrial":    {func(c *CandidateComparison) { both(c, 1, "", "", "x", "") }, Worse, 1, "1 mistrials, the court in force has 0"},
		"better, but a mistrial": {func(c *CandidateComparison) {
			both(c, 20, "", "x", "y", "x")
			both(c, 1, "", "x", "x", "")
		}, Worse, 21, "1 mistrials"},
		"fewer mistrials": {func(c *CandidateComparison) { both(c, 1, "", "x", "", "x") }, NotWorse, 1, "no difference"},
		"many":            {func(c *CandidateComparison) { both(c, 18, "", "x", "x", "y"); both(c, 7, "", "x", "y", "x") }, Worse, 25, "p = 0.0433"},
	} {
		c := NewCandidateComparison(DefaultAlpha)
		test.fill(c)
		r := c.Report()
		if r.Finding != test.finding || len(r.Flips) != test.flips || !strings.Contains(strings.Join(r.Why, "\n"), test.says) {
			t.Errorf("%s: %s, %d flips, %q; want %s, %d, %q", name, r.Finding, len(r.Flips), r.Why, test.finding, test.flips, test.says)
		}
	}
}

func TestAccept_PL12_TheReportByHand(t *testing.T) {
	t.Parallel()
	c := NewCandidateComparison(0.1)
	both(c, 40, "", "x", "x", "x")
	both(c, 3, "", "x", "x", "y")
	both(c, 2, "g", "x", "x", "y") // a group of three, two of which went wrong
	both(c, 1, "g", "x", "y", "x")
	both(c, 1, "", "x", "y", "x")
	both(c, 2, "", "x", "y", "z")
	alone := &trial.Trial{Result: ended("alone", "y"), Truth: &trial.Truth{Classification: "x"}} // Light was sure
	c.Add(alone, alone)
	r := c.Report()
	want := CandidateTruth{
		Cases: 50, CourtRight: 45, CandidateRight: 42, CourtOnly: 5, CandidateOnly: 2, CourtPairs: 4, CandidatePairs: 1,
		Pairs: Pairs{P: 12.0 / 32, first: 4, second: 1}, // 2(1+5)/2^5
	}
	if *r.Truth != want && (fmt.Sprintf("%.9v", *r.Truth) != fmt.Sprintf("%.9v", want)) {
		t.Errorf("%+v, want %+v", *r.Truth, want)
	}
	if r.Cases != 50 || r.Tried != 49 || len(r.Flips) != 9 || r.Finding != NotWorse {
		t.Errorf("%+v", r)
	}
	marks := map[Mark]int{}
	for _, f := range r.Flips {
		marks[f.Mark]++
	}
	if marks[ToRight] != 2 || marks[FromRight] != 5 || marks[StillWrong] != 2 {
		t.Errorf("marks %v", marks)
	}
	data, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(data), `{"id":"xy0","flips":true,"truth":"x","court":{"id":"xy0"`) || !strings.Contains(string(data), `"mark":"from_right"}`) {
		t.Errorf("%s, %v", data, err)
	}
}
