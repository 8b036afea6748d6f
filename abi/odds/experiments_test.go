package odds_test

import (
	"math"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

func experiment(product, tests abi.TreeRevision, environment abi.RunEnvironment) abi.Experiment {
	return abi.Experiment{Product: product, Tests: tests, Environment: environment, Order: abi.Alone, Runs: 5}
}

func given(a, b, c float64) []abi.LabelWeight {
	return []abi.LabelWeight{{Label: "a", Weight: a}, {Label: "b", Weight: b}, {Label: "c", Weight: c}}
}

var (
	again   = experiment(abi.Head, abi.Head, abi.OriginalEnvironment)
	starved = experiment(abi.Head, abi.Head, abi.StarvedEnvironment)
	clean   = experiment(abi.Head, abi.Head, abi.CleanEnvironment)
	green   = experiment(abi.Base, abi.Base, abi.OriginalEnvironment)
	unknown = experiment(abi.Head, abi.Base, abi.OriginalEnvironment)
)

// profile has c for flaky.
func experimentProfile() *abi.Profile {
	table := func(e abi.Experiment, same, passed []abi.LabelWeight) abi.ExperimentTable {
		return abi.ExperimentTable{Experiment: e, Outcomes: []abi.OutcomeLikelihood{
			{Outcome: abi.OutcomeSame, Given: same}, {Outcome: abi.OutcomePassed, Given: passed}, {Outcome: abi.OutcomeMixed, Given: given(0.01, 0.01, 0.5)},
		}}
	}
	return &abi.Profile{Experiments: []abi.ExperimentTable{
		table(again, given(0.8, 0.8, 0.1), given(0.1, 0.1, 0.4)),
		table(starved, given(0.8, 0.8, 0.2), given(0.1, 0.1, 0.2)),
		table(clean, given(0.8, 0.4, 0.4), given(0.1, 0.4, 0.5)),
		table(green, given(0.1, 0.8, 0.1), []abi.LabelWeight{{Label: "a", Weight: 0.8}, {Label: "b", Weight: 0.2}}),
		table(again, given(1, 0.001, 0.001), given(1, 0.001, 0.001)), // a second one of the same counts nothing
	}}
}

func results(list ...any) []abi.ExperimentResult {
	var out []abi.ExperimentResult
	for i := 0; i < len(list); i += 2 {
		out = append(out, abi.ExperimentResult{Experiment: list[i].(abi.Experiment), Outcome: list[i+1].(abi.ExperimentOutcome)})
	}
	return out
}

func TestAddExperiments(t *testing.T) {
	t.Parallel()
	l := math.Log
	for _, tc := range []struct {
		name    string
		results []abi.ExperimentResult
		want    []float64
	}{
		{"none", nil, []float64{0, 0, 0}},
		{"what an outcome says against each label", results(again, abi.OutcomeSame), []float64{0, 0, l(0.1 / 0.8)}},
		{"an experiment without a table", results(unknown, abi.OutcomeSame), []float64{0, 0, 0}},
		{"an outcome that is not listed", results(again, abi.OutcomeNotBuilt), []float64{0, 0, 0}},
		{"a label that is not listed has the mean", results(again, abi.OutcomeSame, green, abi.OutcomePassed), []float64{0, l(0.2 / 0.8), l(0.4/0.8) + l(0.1/0.8)}},
		{"the same again", results(again, abi.OutcomeSame, again, abi.OutcomeSame, starved, abi.OutcomeSame), []float64{0, 0, l(0.1 / 0.8)}},
		{"of the same trees the strongest against each label", results(again, abi.OutcomeSame, clean, abi.OutcomePassed), []float64{l(0.1 / 0.5), l(0.4 / 0.5), l(0.1 / 0.8)}},
		{"in a clean environment the same failure speaks against chance alone", results(again, abi.OutcomeSame, clean, abi.OutcomeSame), []float64{0, 0, l(0.1 / 0.8)}},
		{"other trees add up", results(again, abi.OutcomeSame, green, abi.OutcomePassed), []float64{0, l(0.2 / 0.8), l(0.1/0.8) + l(0.4/0.8)}},
		{"a base that fails, too, tells nothing", results(again, abi.OutcomeSame, green, abi.OutcomeSame), []float64{0, 0, l(0.1 / 0.8)}},
		{"other trees tell nothing before head was run again", results(green, abi.OutcomePassed), []float64{0, 0, 0}},
		{"nor does a clean environment", results(clean, abi.OutcomePassed, starved, abi.OutcomeSame), []float64{0, 0, l(0.2 / 0.8)}},
		{"passes and failures on one tree are mixed", results(again, abi.OutcomeSame, starved, abi.OutcomePassed), []float64{l(0.01 / 0.5), l(0.01 / 0.5), 0}},
		{"a clean environment mixes with nothing", results(again, abi.OutcomeSame, clean, abi.OutcomePassed, starved, abi.OutcomeSame), []float64{l(0.1 / 0.5), l(0.4 / 0.5), l(0.1 / 0.8)}},
		{"other trees tell nothing where head no longer fails", results(green, abi.OutcomeSame, again, abi.OutcomePassed), []float64{l(0.1 / 0.4), l(0.1 / 0.4), 0}},
		{"nor where it fails sometimes", results(green, abi.OutcomeSame, again, abi.OutcomeMixed), []float64{l(0.01 / 0.5), l(0.01 / 0.5), 0}},
		{"nor where it fails in ways that vary", append(results(green, abi.OutcomeSame), abi.ExperimentResult{Experiment: again, Outcome: abi.OutcomeOther, Same: 2, Other: 3}), []float64{0, 0, 0}},
		{"nor does a clean environment then", results(clean, abi.OutcomePassed, again, abi.OutcomeMixed), []float64{l(0.01 / 0.5), l(0.01 / 0.5), 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := make([]float64, 3)
			odds.AddExperiments(got, labels(), experimentProfile(), tc.results)
			near(t, got, tc.want)
		})
	}
	got := []float64{1, 2, 3}
	odds.AddExperiments(got, labels(), nil, results(again, abi.OutcomeSame))
	near(t, got, []float64{1, 2, 3})
}

func TestPredict(t *testing.T) {
	t.Parallel()
	table := &abi.ExperimentTable{Outcomes: []abi.OutcomeLikelihood{
		{Outcome: abi.OutcomeSame, Given: []abi.LabelWeight{{Label: "a", Weight: 0.9}, {Label: "b", Weight: 0.1}}}, {Outcome: abi.OutcomePassed, Given: given(0.1, 0.5, 0.5)}, {Outcome: abi.OutcomeMixed},
	}}
	got := predict(labels(), nil, table, nil)
	near(t, got[0], []float64{0.9, 0.1, 0.3})
	near(t, got[1], []float64{0.1, 0.5, 0.5})
	near(t, got[2], []float64{0, 0, 0})
	table.Outcomes[1].Given[0].Weight = 0.6
	near(t, predict(labels(), nil, table, nil)[0], []float64{0.9 / 1.5, 0.1 / 1.5, 0.3 / 1.5})
}

var (
	swapped = experiment(abi.Head, abi.Base, abi.OriginalEnvironment)
	back    = experiment(abi.Base, abi.Head, abi.OriginalEnvironment)
)

// counted are results on mixtures, with those without which they don't count: the test fails again on head, and passes on the base.
func counted(list ...any) []abi.ExperimentResult {
	return append(results(list...), results(again, abi.OutcomeSame, green, abi.OutcomePassed)...)
}

// twoWays is a profile in which b comes true by a test that changed and by one that did not, and a by the product alone: swapped and
// back show one fact.
func twoWays() *abi.Profile {
	table := func(e abi.Experiment, same, passed []abi.LabelWeight) abi.ExperimentTable {
		return abi.ExperimentTable{Experiment: e, Outcomes: []abi.OutcomeLikelihood{{Outcome: abi.OutcomeSame, Given: same}, {Outcome: abi.OutcomePassed, Given: passed}}}
	}
	of := func(product, changed, stale float64) []abi.LabelWeight {
		return []abi.LabelWeight{{Label: "a", Weight: product}, {Label: "b changed", Weight: changed}, {Label: "b", Weight: stale}, {Label: "c", Weight: 0.5}}
	}
	return &abi.Profile{
		Experiments: []abi.ExperimentTable{
			table(swapped, of(0.9, 0.1, 0.9), of(0.1, 0.9, 0.1)), table(back, of(0.1, 0.9, 0.1), of(0.9, 0.1, 0.9)),
		},
		Causes: []abi.Cause{
			{Name: "b changed", Label: "b", Changed: 0.5, New: 0.1}, {Name: "b stale", Label: "b", Unchanged: 0.3, Changed: 0.1},
		},
	}
}

// Two trees that show one fact count little more than one of them: what is left between a and b is the share of tests that nobody updated.
func TestDependentOutcomesCountOnce(t *testing.T) {
	t.Parallel()
	between := func(results []abi.ExperimentResult) float64 {
		v := make([]float64, 3)
		odds.AddExperiments(v, labels(), twoWays(), results)
		return v[0] - v[1]
	}
	one, both := between(counted(swapped, abi.OutcomeSame)), between(counted(swapped, abi.OutcomeSame, back, abi.OutcomePassed))
	near(t, []float64{one, both}, []float64{math.Log(0.9 / (0.4*0.9 + 0.5*0.1)), math.Log(0.81 / (0.4*0.81 + 0.5*0.01))})
	if both > math.Log(1/0.4) {
		t.Errorf("%v: more than the share of the cause", both)
	}
	// By itself each would count the same again, had it no causes.
	single := twoWays()
	single.Causes = nil
	v := make([]float64, 3)
	odds.AddExperiments(v, labels(), single, counted(swapped, abi.OutcomePassed, back, abi.OutcomeSame))
	near(t, []float64{v[0] - v[1]}, []float64{0})
}

// What is known of the test decides which causes are possible, and how likely it is under each label.
func TestCausesByTheChangeOfTheTest(t *testing.T) {
	t.Parallel()
	for change, want := range map[abi.TestChange]float64{
		"": 0.5*0.9 + 0.4*0.1, abi.TestUnchanged: 0.3 * 0.1, abi.TestChanged: 0.5*0.9 + 0.1*0.1, abi.TestNew: 0.1 * 0.9,
	} {
		r := counted(swapped, abi.OutcomePassed)
		r[0].Test = change
		v := make([]float64, 3)
		odds.AddExperiments(v, labels(), twoWays(), r)
		near(t, []float64{v[1] - v[0]}, []float64{math.Log(want / 0.1)})
	}
	// A subtest that green does not have is new, whatever became of its test.
	r := append(results(swapped, abi.OutcomePassed, green, abi.OutcomeNoTest), results(again, abi.OutcomeSame)...)
	r[0].Test = abi.TestChanged
	v := make([]float64, 3)
	odds.AddExperiments(v, labels(), twoWays(), r)
	near(t, []float64{v[1] - v[0]}, []float64{math.Log(0.9)})
}

// What was seen on one tree changes what is expected on the others.
func TestPredictAfterResults(t *testing.T) {
	t.Parallel()
	p := twoWays()
	if before, after := predict(labels(), p, &p.Experiments[1], nil)[0][1], predict(labels(), p, &p.Experiments[1], counted(swapped, abi.OutcomeSame))[0][1]; math.Abs(before-0.58) > 1e-9 || after > 0.3 {
		t.Errorf("P(same failure | b) is %v before and %v after", before, after)
	}
}

// What was seen tells by which cause a label came true.
func TestCauses(t *testing.T) {
	t.Parallel()
	of := func(label string, results []abi.ExperimentResult) (list []float64) {
		sum := 0.0
		for _, c := range odds.Causes(label, twoWays(), results) {
			list, sum = append(list, c.Probability), sum+c.Probability
		}
		near(t, []float64{sum}, []float64{1})
		return list
	}
	if before, after := of("b", nil), of("b", counted(swapped, abi.OutcomePassed)); len(before) != 2 || after[0] < before[0]+0.2 {
		t.Errorf("P(cause | b) is %v before and %v after", before, after)
	}
	near(t, of("a", counted(swapped, abi.OutcomePassed)), []float64{1})
}

// predict gives P(outcome | label) of a table.
func predict(labels []string, p *abi.Profile, table *abi.ExperimentTable, results []abi.ExperimentResult) [][]float64 {
	even := make([]float64, len(labels))
	var out [][]float64
	with := &abi.Profile{}
	if p != nil {
		*with = *p
	}
	with.Experiments = append([]abi.ExperimentTable{*table}, with.Experiments...)
	for _, o := range odds.NewForecast(labels, even, 0, with, results).Of(&table.Experiment) {
		out = append(out, o.Given)
	}
	return out
}
