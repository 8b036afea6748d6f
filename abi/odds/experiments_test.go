package odds_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func experiment(product, tests abi.TreeRevision, environment abi.RunEnvironment) abi.Experiment {
	return abi.Experiment{Product: product, Tests: tests, Environment: environment, Order: abi.Alone, Runs: 5}
}

var (
	again   = experiment(abi.Head, abi.Head, abi.OriginalEnvironment)
	starved = experiment(abi.Head, abi.Head, abi.StarvedEnvironment)
	clean   = experiment(abi.Head, abi.Head, abi.CleanEnvironment)
	green   = experiment(abi.Base, abi.Base, abi.OriginalEnvironment)
	swapped = experiment(abi.Head, abi.Base, abi.OriginalEnvironment)
	back    = experiment(abi.Base, abi.Head, abi.OriginalEnvironment)
)

// came are the results of experiments, each with its runs that passed; the others failed as the case did.
func came(list ...any) (out []abi.ExperimentResult) {
	for i := 0; i < len(list); i += 2 {
		r := abi.ExperimentResult{Experiment: list[i].(abi.Experiment), Outcome: abi.OutcomeMixed, Passed: list[i+1].(int)}
		r.Same = r.Experiment.Runs - r.Passed
		switch {
		case r.Same == 0:
			r.Outcome = abi.OutcomePassed
		case r.Passed == 0:
			r.Outcome = abi.OutcomeSame
		}
		out = append(out, r)
	}
	return out
}

// shipped is the profile with the shipped model.
func shipped(t *testing.T) *abi.Profile {
	t.Helper()
	return must.Get(module.LoadProfile(filepath.Join("..", "..", "pipelines", "profiles", "go-test.yaml")))(t)
}

const product, automation, environment, flaky = 0, 1, 2, 3

func fourLabels() []string { return []string{"pb001", "ab001", "si001", "nd001"} }

// after are the probabilities of the four labels after results, by the shipped model.
func after(p *abi.Profile, results []abi.ExperimentResult) []float64 {
	nats := make([]float64, 4)
	odds.AddBaseRates(nats, fourLabels(), p)
	odds.AddExperiments(nats, fourLabels(), p, results)
	return odds.Probabilities(nats, 0)
}

func TestWithoutAModelExperimentsTellNothing(t *testing.T) {
	t.Parallel()
	got := []float64{1, 2, 3}
	odds.AddExperiments(got, labels(), &abi.Profile{}, came(again, 0))
	near(t, got, []float64{1, 2, 3})
	if odds.Tells(nil, &again) || odds.Tells(&abi.Profile{}, &again) || odds.Objections(labels(), nil, came(again, 0), 0) != nil || odds.NewOutlook(labels(), nil, nil, []abi.Experiment{again}).From([]float64{1, 0, 0}).Information(&again) != 0 {
		t.Error("something is told")
	}
}

// What one result says is what its runs are worth under each label; a cell that the model lacks, and what was not run, tell nothing.
func TestAResultCountsByItsRuns(t *testing.T) {
	t.Parallel()
	once := again
	once.Runs = 1
	p := &abi.Profile{Outcomes: abitest.Outcomes(labels(), abitest.Passing{Of: once, Given: []float64{0.8, 0.4, 0.2}})}
	v := odds.Objections(labels(), p, came(once, 1), 0)
	for j, want := range []float64{0, math.Log(0.5), math.Log(0.25)} {
		if math.Abs(v[j]-want) > 1e-6 {
			t.Errorf("%v, want %v nats for label %d", v[j], want, j)
		}
	}
	near(t, odds.Objections(labels(), p, came(clean, 1), 0), []float64{0, 0, 0})
	if v := odds.Objections(labels(), p, []abi.ExperimentResult{{Experiment: once, Outcome: abi.OutcomeNotRun}}, 0); v != nil || odds.Tells(p, &clean) {
		t.Errorf("tells %v", v)
	}
}

// However often a failure comes back on head: it lowers chance, and what repeats moves no other label beside another.
func TestAccept_FZ3_IdenticalFailuresTellNothingButAgainstChance(t *testing.T) {
	t.Parallel()
	p := shipped(t)
	once := after(p, came(again, 0))
	if before := after(p, nil); once[flaky] > before[flaky]/5 {
		t.Errorf("flaky has %v, and %v before", once[flaky], before[flaky])
	}
	rapid.Check(t, func(t *rapid.T) {
		list := came(again, 0)
		for _, e := range rapid.SliceOfN(rapid.SampledFrom([]abi.Experiment{again, starved, again}), 0, 6).Draw(t, "experiments") {
			list = append(list, came(e, 0)...)
		}
		now := after(p, list)
		if now[flaky] > once[flaky]+1e-9 {
			t.Errorf("flaky rises from %v to %v", once[flaky], now[flaky])
		}
		for j := range now[:flaky] {
			if moved := math.Log(now[j]/now[product]) - math.Log(once[j]/once[product]); math.Abs(moved) > 0.1 {
				t.Errorf("%s moved by %v nats against %s", fourLabels()[j], moved, fourLabels()[product])
			}
		}
	})
}

// A base that fails, too, says that the change did not do it, and next to nothing of the product and its tests; trees that show one fact
// count little more than one of them.
func TestAccept_FZ3_ARedBaseTellsNotWhichHalfIsWrong(t *testing.T) {
	t.Parallel()
	p := shipped(t)
	head := after(p, came(again, 0))
	red := after(p, came(again, 0, green, 0))
	all := after(p, came(again, 0, green, 0, swapped, 0, back, 0))
	if red[flaky] > 0.1 || math.Abs(red[environment]-all[environment]) > 0.05 {
		t.Errorf("%v after the rerun, %v after the base, %v after all trees", head, red, all)
	}
	if list := came(again, 0, green, 0); odds.BaseFails(list) == nil || odds.BaseFails(list[:1]) != nil {
		t.Error("the base is not told apart")
	}
}

// Runs tell what they show: of each kind of cause the label, or that it stays open between the labels that look alike.
func TestTheShippedModelReadsTrees(t *testing.T) {
	t.Parallel()
	p := shipped(t)
	for _, tc := range []struct {
		name        string
		results     []abi.ExperimentResult
		label       int
		least, most float64
	}{
		{"the product, or a test that nobody updated", came(again, 0, green, 5, swapped, 0, back, 5), product, 0.5, 0.85},
		{"the tests, or what they show", came(again, 0, green, 5, swapped, 5, back, 0), automation, 0.5, 0.85},
		{"passes and fails", came(again, 2, green, 5), flaky, 0.9, 1},
		{"fails under load", came(again, 5, starved, 2), flaky, 0.9, 1},
		{"a clean environment mends it", came(again, 0, clean, 5), environment, 0.7, 1},
		{"it does not come back", came(again, 5, starved, 5, green, 5), flaky, 0.3, 0.7},
	} {
		got := after(p, tc.results)
		if top := slices.Index(got, slices.Max(got)); tc.name != "it does not come back" && top != tc.label || got[tc.label] < tc.least || got[tc.label] > tc.most {
			t.Errorf("%s: %.2f", tc.name, got)
		}
	}
}

// The rerun of head comes before all else, and the base before mixtures, whatever they take, unless they were run. Of a cell the least number of runs comes first.
func TestAccept_FZ3_WhatResultsRestOnIsChosenFirst(t *testing.T) {
	t.Parallel()
	p := shipped(t)
	more := again
	more.Runs = 20
	of := func(list ...abi.Experiment) (offers []abi.ExperimentOffer) {
		for _, e := range list {
			seconds := 1.0
			if e == again || e == green {
				seconds = 1000
			}
			offers = append(offers, abi.ExperimentOffer{Experiment: e, Seconds: seconds})
		}
		return offers
	}
	mixture := func(e *abi.Experiment) float64 { // worth more than all else
		if e.Product != e.Tests {
			return 1
		}
		return 0
	}
	for _, tc := range []struct {
		name    string
		results []abi.ExperimentResult
		offers  []abi.ExperimentOffer
		want    abi.Experiment
	}{
		{"nothing was run", nil, of(swapped, green, more, again), again},
		{"head was run", came(again, 0), of(swapped, green, more), green},
		{"both were run", came(again, 0, green, 5), of(swapped, more), swapped},
		{"they are not on offer", nil, of(swapped), swapped},
	} {
		if best, _ := odds.Choose(p, tc.results, tc.offers, 0, mixture); best == nil || best.Experiment != tc.want {
			t.Errorf("%s: %+v", tc.name, best)
		}
	}
	if best, _ := odds.Choose(p, nil, of(again, green, swapped), 0, func(*abi.Experiment) float64 { return 0 }); best != nil {
		t.Errorf("%+v, though nothing is worth it", best)
	}
}

// Of three labels and an outcome that leaves one of them, log 3 minus nothing is learned in a third of the cases, and log 3 minus log 2 in the others.
func TestInformation(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Outcomes: abitest.Outcomes(labels(), abitest.Passing{Of: again, Given: []float64{0, 0, 1}}, abitest.Passing{Of: clean, Given: []float64{0.5, 0.5, 0.5}})}
	third := []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}
	outlook := func(results []abi.ExperimentResult) *odds.Outlook {
		return odds.NewOutlook(labels(), p, results, []abi.Experiment{again, clean})
	}
	open := outlook(nil).From(third)
	got := []float64{open.Information(&again), open.Information(&clean), outlook(came(again, 0)).From([]float64{0.5, 0.5, 0}).Information(&again)}
	for i, want := range []float64{math.Log(3) - 2.0/3*math.Log(2), 0, 0} {
		if math.Abs(got[i]-want) > 1e-4 {
			t.Errorf("got %v", got)
		}
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
