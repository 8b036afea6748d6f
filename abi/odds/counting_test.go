package odds_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/profile"
)

// shipped is the profile with the shipped tables.
func shipped(t *testing.T) *abi.Profile {
	t.Helper()
	p, err := profile.Load(filepath.Join("..", "..", "pipelines", "profiles", "go-test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// However often a failure comes back on head, and wherever there: it lowers chance alone, and no label rises beside another.
func TestAccept_FZ3_IdenticalFailuresTellNothingButAgainstChance(t *testing.T) {
	t.Parallel()
	p, labels := shipped(t), []string{"pb001", "ab001", "si001", "nd001"}
	var head []abi.Experiment
	for i := range p.Experiments {
		if e := p.Experiments[i].Experiment; e.Product == abi.Head && e.Tests == abi.Head {
			head = append(head, e)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfN(rapid.Float64Range(-5, 5), len(labels), len(labels)).Draw(t, "nats")
		after := slices.Clone(before)
		var list []abi.ExperimentResult
		for _, e := range append(rapid.SliceOfN(rapid.SampledFrom(head), 0, 6).Draw(t, "experiments"), head[0]) {
			list = append(list, abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeSame, Same: e.Runs})
		}
		odds.AddExperiments(after, labels, p, list)
		for j := 1; j < 3; j++ {
			if moved := (after[j] - after[0]) - (before[j] - before[0]); math.Abs(moved) > 1e-9 {
				t.Errorf("%s moved by %v nats against %s", labels[j], moved, labels[0])
			}
		}
		if after[3]-after[0] > before[3]-before[0]-0.5 {
			t.Errorf("chance fell from %v to %v", before[3]-before[0], after[3]-after[0])
		}
		if was, is := odds.Probabilities(before, 0), odds.Probabilities(after, 0); is[3] > was[3] {
			t.Errorf("from %v to %v", was, is)
		}
	})
}

// The same of tables of any kind: labels that expect a failure to come back keep their odds.
func TestIdenticalFailuresOfAnyTable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.Float64Range(0.01, 1)
		share := rapid.Float64Range(0.01, 0.4)
		p := &abi.Profile{Causes: []abi.Cause{{Name: "lasting", Label: "b", Unchanged: share.Draw(t, "lasting")}, {Name: "gone", Label: "b", Unchanged: share.Draw(t, "gone")}}}
		var list []abi.ExperimentResult
		for i, e := range []abi.Experiment{again, starved, clean} {
			same := weight.Draw(t, "same")
			p.Experiments = append(p.Experiments, abi.ExperimentTable{Experiment: e, Outcomes: []abi.OutcomeLikelihood{
				{Outcome: abi.OutcomeSame, Given: []abi.LabelWeight{{Label: "a", Weight: same}, {Label: "lasting", Weight: weight.Draw(t, "lasting")}, {Label: "gone", Weight: 0.01}, {Label: "c", Weight: 0.01}}},
				{Outcome: abi.OutcomePassed, Given: []abi.LabelWeight{{Label: "a", Weight: 0.01}, {Label: "lasting", Weight: 0.01}, {Label: "gone", Weight: 0.9}, {Label: "c", Weight: 0.9}}},
			}})
			if i == 0 || rapid.Bool().Draw(t, "run") {
				list = append(list, abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeSame})
			}
		}
		none, v := make([]float64, 3), make([]float64, 3)
		odds.AddExperiments(none, labels(), p, nil)
		odds.AddExperiments(v, labels(), p, list)
		if was, is := none[0]-none[1], v[0]-v[1]; math.Abs(was-is) > 1e-9 {
			t.Errorf("the odds of a and b were %v and are %v", was, is)
		}
	})
}

// A base that fails, too, and mixtures with it, tell nothing, however the failure looks there.
func TestAccept_FZ3_ARedBaseSpeaksForNoLabel(t *testing.T) {
	t.Parallel()
	p, labels := shipped(t), []string{"pb001", "ab001", "si001", "nd001"}
	of := func(list []abi.ExperimentResult) []float64 {
		v := make([]float64, len(labels))
		odds.AddExperiments(v, labels, p, list)
		return v
	}
	head := []abi.ExperimentResult{{Experiment: p.Experiments[0].Experiment, Outcome: abi.OutcomeSame, Same: 5, Test: abi.TestUnchanged}}
	for _, outcome := range []abi.ExperimentOutcome{abi.OutcomeSame, abi.OutcomeOther} {
		list := slices.Clone(head)
		for i := range p.Experiments {
			e := p.Experiments[i].Experiment
			if e.Product == abi.Base || e.Tests == abi.Base {
				list = append(list, abi.ExperimentResult{Experiment: e, Outcome: outcome, Test: abi.TestUnchanged})
			}
		}
		near(t, of(list), of(head))
		if odds.BaseFails(list) == nil || odds.BaseFails(head) != nil {
			t.Error("the base is not told apart")
		}
		for i := 1; i < len(list); i++ {
			if v := odds.Objections(labels, p, list, i); v != nil {
				t.Errorf("%s tells %v", list[i].Experiment, v)
			}
		}
	}
}

// The rerun of head comes before all else, and the base before mixtures, whatever they take.
func TestAccept_FZ3_WhatResultsRestOnIsChosenFirst(t *testing.T) {
	t.Parallel()
	p := shipped(t)
	var offers []abi.ExperimentOffer
	for i := range p.Experiments {
		offers = append(offers, abi.ExperimentOffer{Experiment: p.Experiments[i].Experiment, Seconds: 1})
	}
	slow := func(is func(*abi.Experiment) bool) (rest []abi.ExperimentOffer) {
		for _, o := range offers {
			if is(&o.Experiment) {
				o.Seconds = 1000
			}
			rest = append(rest, o)
		}
		return rest
	}
	mixture := func(e *abi.Experiment) float64 { // worth more than all else
		if e.Product != e.Tests {
			return 1
		}
		return 0
	}
	isBase := func(e *abi.Experiment) bool { return e.Product == abi.Base && e.Tests == abi.Base }
	if best, _ := odds.Choose(p, slow(odds.IsRerun), 0, mixture); best == nil || !odds.IsRerun(&best.Experiment) {
		t.Errorf("%+v before the rerun", best)
	}
	later := slices.DeleteFunc(slow(isBase), func(o abi.ExperimentOffer) bool { return odds.IsRerun(&o.Experiment) })
	if best, _ := odds.Choose(p, later, 0, mixture); best == nil || !isBase(&best.Experiment) {
		t.Errorf("%+v before the base", best)
	}
	if best, _ := odds.Choose(p, offers, 0, func(*abi.Experiment) float64 { return 0 }); best != nil {
		t.Errorf("%+v, though nothing is worth it", best)
	}
}

// A failure came back only if a run on head in its own environment failed in the same way. Runs that don't count by themselves count here.
// That a clean environment mends what fails is no chance.
func TestAccept_FZ3_WhatDidNotComeBack(t *testing.T) {
	t.Parallel()
	ran := func(e abi.Experiment, outcome abi.ExperimentOutcome, passed, same, other int) abi.ExperimentResult {
		return abi.ExperimentResult{Experiment: e, Outcome: outcome, Passed: passed, Same: same, Other: other}
	}
	ordered := again
	ordered.Order, ordered.Runs = abi.OriginalOrder, 2
	passes, fails, varies := ran(again, abi.OutcomePassed, 5, 0, 0), ran(again, abi.OutcomeSame, 0, 5, 0), ran(again, abi.OutcomeOther, 0, 0, 5)
	mended := ran(clean, abi.OutcomePassed, 1, 0, 0)
	for _, tc := range []struct {
		name    string
		results []abi.ExperimentResult
		want    bool
	}{
		{"nothing was run", nil, false},
		{"nothing could be run", []abi.ExperimentResult{ran(again, abi.OutcomeNotRun, 0, 0, 0)}, false},
		{"other trees and environments alone", []abi.ExperimentResult{ran(green, abi.OutcomePassed, 2, 0, 0), mended, ran(starved, abi.OutcomePassed, 5, 0, 0)}, false},
		{"it passes", []abi.ExperimentResult{passes}, true},
		{"it passes, in a clean environment too", []abi.ExperimentResult{passes, mended}, true},
		{"it fails in other ways", []abi.ExperimentResult{varies}, true},
		{"it fails in one other way, which does not count", []abi.ExperimentResult{ran(again, abi.OutcomeNotRun, 0, 0, 5)}, true},
		{"it passes without a file that it names, which does not count", []abi.ExperimentResult{ran(again, abi.OutcomeNotRun, 5, 0, 0)}, true},
		{"it passes or fails in another way", []abi.ExperimentResult{ran(again, abi.OutcomeMixed, 1, 0, 1)}, true},
		{"another environment mends what fails", []abi.ExperimentResult{varies, mended}, false},
		{"it fails on a busy machine alone", []abi.ExperimentResult{passes, ran(starved, abi.OutcomeSame, 0, 5, 0)}, true},
		{"it fails", []abi.ExperimentResult{fails}, false},
		{"it fails sometimes", []abi.ExperimentResult{ran(again, abi.OutcomeMixed, 3, 2, 0)}, false},
		{"it fails after other tests", []abi.ExperimentResult{passes, ran(ordered, abi.OutcomeSame, 0, 2, 0)}, false},
	} {
		if got := odds.NotReproduced(tc.results); got != tc.want {
			t.Errorf("%s: got %v", tc.name, got)
		}
	}
}
