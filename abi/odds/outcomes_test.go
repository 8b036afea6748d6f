package odds

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

var alibi = []string{"caused", "preexisting", "flaky", "environment"}

// small is a model with few patterns, of which a brute force can compute everything.
func small() *abi.OutcomeModel {
	head, base := abi.OutcomeRate{Product: abi.Head}, abi.OutcomeRate{Name: "base", Product: abi.Base}
	with := func(rate abi.OutcomeRate, shape string) abi.OutcomeRate { rate.Shape = shape; return rate }
	above := with(head, "flaky")
	above.Above = "base"
	weight := func(label string, w float64) []abi.LabelWeight { return []abi.LabelWeight{{Label: label, Weight: w}} }
	return &abi.OutcomeModel{
		Shapes: []abi.RateShape{{Name: "passes", Passed: 20, Same: 0.3, Other: 0.3}, {Name: "fails", Passed: 0.3, Same: 20, Other: 1}, {Name: "flaky", Passed: 2, Same: 1.5, Other: 0.5}},
		Patterns: []abi.OutcomePattern{
			{Name: "broken", Labels: weight("caused", 2), Rates: []abi.OutcomeRate{with(head, "fails"), with(base, "passes")}, Absent: 0.2},
			{Name: "made flaky", Labels: weight("caused", 1), Rates: []abi.OutcomeRate{with(head, "flaky"), with(base, "passes")}},
			{Name: "worse", Labels: weight("caused", 0.5), Rates: []abi.OutcomeRate{above, with(base, "flaky")}},
			{Name: "old", Labels: weight("preexisting", 1), Rates: []abi.OutcomeRate{{Shape: "fails"}}},
			{Name: "flaky", Labels: weight("flaky", 1), Rates: []abi.OutcomeRate{{Shape: "flaky"}}},
			{Name: "transient", Labels: weight("environment", 1), Rates: []abi.OutcomeRate{{Shape: "passes"}}},
		},
	}
}

func result(tree abi.TreeRevision, passed, same, other int) abi.ExperimentResult {
	return abi.ExperimentResult{
		Experiment: abi.Experiment{Product: tree, Tests: tree, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: passed + same + other},
		Outcome:    abi.OutcomeMixed, Passed: passed, Same: same, Other: other,
	}
}

// rate draws the rates of a shape: a Dirichlet variable by three Gamma variables.
func rate(rng *rand.Rand, s *abi.RateShape) [3]float64 {
	v := [3]float64{gammaOf(rng, s.Passed), gammaOf(rng, s.Same), gammaOf(rng, s.Other)}
	sum := v[0] + v[1] + v[2]
	return [3]float64{v[0] / sum, v[1] / sum, v[2] / sum}
}

// gammaOf draws by the method of Marsaglia and Tsang.
func gammaOf(rng *rand.Rand, a float64) float64 {
	if a < 1 {
		return gammaOf(rng, a+1) * math.Pow(rng.Float64(), 1/a)
	}
	d := a - 1.0/3
	for {
		x := rng.NormFloat64()
		v := math.Pow(1+x/math.Sqrt(9*d), 3)
		if v > 0 && math.Log(rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// byForce is the probability of results under a pattern, as rates give it that are drawn at random.
func byForce(rng *rand.Rand, m *abi.OutcomeModel, p *abi.OutcomePattern, results []abi.ExperimentResult) float64 {
	const draws = 40_000
	sum, counted := 0.0, 0
	for range draws {
		rates := make([][3]float64, len(p.Rates))
		for j := range p.Rates {
			at := slices.IndexFunc(m.Shapes, func(s abi.RateShape) bool { return s.Name == p.Rates[j].Shape })
			rates[j] = rate(rng, &m.Shapes[at])
		}
		if p.Rates[0].Above != "" && rates[1][0]*(1-rates[0][0]) < 2*rates[0][0]*(1-rates[1][0]) {
			continue
		}
		counted++
		probability := 1.0
		for _, r := range results {
			j := slices.IndexFunc(p.Rates, func(rate abi.OutcomeRate) bool { return hasCell(&rate, &r.Experiment) })
			probability *= math.Pow(rates[j][0], float64(r.Passed)) * math.Pow(rates[j][1], float64(r.Same)) * math.Pow(rates[j][2], float64(r.Other))
		}
		sum += probability
	}
	return (1 - p.Absent) * sum / float64(counted)
}

// TestAccept_AL4_TheModelAgreesWithABruteForce: patterns are as probable as rates drawn at random make them.
func TestAccept_AL4_TheModelAgreesWithABruteForce(t *testing.T) {
	t.Parallel()
	m, rng := small(), rand.New(rand.NewPCG(1, 2))
	prior := []float64{0.4, 0.2, 0.3, 0.1}
	share := []float64{0.4 * 2 / 3.5, 0.4 / 3.5, 0.4 * 0.5 / 3.5, 0.2, 0.3, 0.1}
	for _, results := range [][]abi.ExperimentResult{
		{result(abi.Head, 0, 3, 0), result(abi.Base, 2, 0, 0)},
		{result(abi.Head, 3, 2, 0), result(abi.Base, 5, 0, 0)},
		{result(abi.Head, 2, 3, 0), result(abi.Base, 4, 1, 0)},
		{result(abi.Head, 4, 0, 0), result(abi.Base, 4, 0, 0)},
		{result(abi.Head, 0, 2, 0), result(abi.Base, 0, 0, 1)},
	} {
		want, all := make([]float64, len(m.Patterns)), 0.0
		for i := range m.Patterns {
			want[i] = share[i] * byForce(rng, m, &m.Patterns[i], results)
			all += want[i]
		}
		for i, got := range newBelief(alibi, m).probable(prior, results) {
			if math.Abs(got-want[i]/all) > 0.02 {
				t.Errorf("%+v: %s has %.4f, by brute force %.4f", results, m.Patterns[i].Name, got, want[i]/all)
			}
		}
	}
}

// TestAccept_AL4_OrderOfOutcomesDoesNotMatter: results in any order are worth the same, and the steps of one cell add up.
func TestAccept_AL4_OrderOfOutcomesDoesNotMatter(t *testing.T) {
	t.Parallel()
	b := newBelief(alibi, small())
	head, base := result(abi.Head, 2, 3, 0), result(abi.Base, 4, 0, 1)
	one, other := b.told([]abi.ExperimentResult{head, base}), b.told([]abi.ExperimentResult{result(abi.Base, 1, 0, 0), result(abi.Head, 2, 1, 0), result(abi.Base, 3, 0, 1), result(abi.Head, 0, 2, 0)})
	for j := range alibi {
		if math.Abs(one[j]-other[j]) > 1e-12 {
			t.Errorf("%s: %v and %v", alibi[j], one[j], other[j])
		}
	}
}

// TestAccept_AL4_MoreOfTheSameNeverTurnsTheOdds: where head always fails, each further run of the base that passes speaks for the change,
// and each that fails in the same way against it.
func TestAccept_AL4_MoreOfTheSameNeverTurnsTheOdds(t *testing.T) {
	t.Parallel()
	b := newBelief(alibi, small())
	yours := func(results ...abi.ExperimentResult) float64 {
		p := b.probable([]float64{0.25, 0.25, 0.25, 0.25}, results)
		return p[0] + p[1] + p[2]
	}
	for _, first := range []int{1, 3, 10} {
		var passed, failed float64
		for n := 1; n < 40; n++ {
			head := result(abi.Head, 0, first, 0)
			p, f := yours(head, result(abi.Base, n, 0, 0)), yours(head, result(abi.Base, 0, n, 0))
			if n > 1 && (p < passed-1e-12 || f > failed+1e-12) {
				t.Errorf("after %d failures of head: %d runs of the base that pass give %v, before %v; that fail %v, before %v", first, n, p, passed, f, failed)
			}
			passed, failed = p, f
		}
	}
}

// TestAccept_AL4_WhatMayComeAddsUp: all that may come of an experiment is 1 under each label, and what it says of the labels
// is what the same result says when it is there.
func TestAccept_AL4_WhatMayComeAddsUp(t *testing.T) {
	t.Parallel()
	b := newBelief(alibi, small())
	results := []abi.ExperimentResult{result(abi.Head, 1, 4, 0)}
	for _, e := range []abi.Experiment{result(abi.Base, 3, 0, 0).Experiment, result(abi.Head, 2, 2, 0).Experiment, result(abi.Head, 9, 9, 0).Experiment} {
		sums := make([]float64, len(alibi))
		for _, p := range b.ahead(b.see(results), b.told(results), &e) {
			for j := range sums {
				sums[j] += p.given[j]
			}
		}
		for j, sum := range sums {
			if math.Abs(sum-1) > 1e-5 {
				t.Errorf("%v: under %s all that may come adds up to %v", e, alibi[j], sum)
			}
		}
	}
	if done := result(abi.Head, 1, 4, 0).Experiment; b.ahead(b.see(results), b.told(results), &done) != nil {
		t.Error("what was run may still come")
	}
}

// TestAccept_AL4_RunsAreExpectedToTellSomething: whatever was seen, further runs are expected to make the labels surer, never less sure.
func TestAccept_AL4_RunsAreExpectedToTellSomething(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Outcomes: small()}
	for _, results := range [][]abi.ExperimentResult{
		nil, {result(abi.Head, 0, 5, 0), result(abi.Base, 2, 0, 0)}, {result(abi.Head, 3, 2, 0), result(abi.Base, 3, 2, 0)}, {result(abi.Head, 20, 0, 0), result(abi.Base, 20, 0, 0)},
	} {
		f := NewForecast(alibi, make([]float64, len(alibi)), 0, p, results)
		for _, tree := range []abi.TreeRevision{abi.Head, abi.Base} {
			for _, n := range []int{1, 4, 7, 15, 80, 300} {
				e := result(tree, n, 0, 0).Experiment
				if gain := f.Information(&e); gain < -1e-9 {
					t.Errorf("%d runs of %s after %+v are expected to tell %v", n, tree, results, gain)
				}
			}
		}
	}
}
