package odds

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// belief weighs results by an outcome model. It holds nothing of a case.
//
// Under a pattern, all runs of the cells of one rate (a cell is a tree in an environment and an order) are drawn with one probability to
// pass, to fail as the case did, and to fail otherwise. That probability is drawn from the shape of the rate, and a set of runs
// has the exact probability of a Dirichlet-multinomial distribution. Rates are independent of each other, but for one that has to lie above
// another. A label is as probable as its patterns. Runs of one cell add up: experiments are asked for in steps. Runs that loaded the code of
// another tree tell nothing.
type belief struct {
	model  *abi.OutcomeModel
	shapes map[string]*abi.RateShape
	// shares are the logarithms of P(pattern | label), by label and pattern.
	shares [][]float64
}

// leastShape keeps a distribution proper.
const leastShape = 0.001

// newBelief prepares a model for the labels of a case. A label that no pattern names comes true by each of them alike.
func newBelief(labels []string, m *abi.OutcomeModel) *belief {
	b := &belief{model: m, shapes: map[string]*abi.RateShape{}, shares: make([][]float64, len(labels))}
	for i := range m.Shapes {
		s := m.Shapes[i]
		s.Passed, s.Same, s.Other = max(s.Passed, leastShape), max(s.Same, leastShape), max(s.Other, leastShape)
		b.shapes[s.Name] = &s
	}
	for j, label := range labels {
		share, sum := make([]float64, len(m.Patterns)), 0.0
		for i := range m.Patterns {
			for _, w := range m.Patterns[i].Labels {
				if w.Label == label && w.Weight > 0 {
					share[i] += w.Weight
				}
			}
			sum += share[i]
		}
		for i := range share {
			if sum > 0 {
				share[i] = math.Log(share[i] / sum)
			} else {
				share[i] = -math.Log(float64(len(share)))
			}
		}
		b.shares[j] = share
	}
	return b
}

// told are the logarithms of the probability of the results under each label.
func (b *belief) told(results []abi.ExperimentResult) []float64 {
	if len(b.model.Patterns) == 0 {
		return make([]float64, len(b.shares)) // it knows nothing
	}
	return b.labels(b.patterns(results))
}

// labels gives the labels what their patterns have together.
func (b *belief) labels(patterns []float64) []float64 {
	out := make([]float64, len(b.shares))
	for j, share := range b.shares {
		terms := make([]float64, len(share))
		for i := range share {
			terms[i] = share[i] + patterns[i]
		}
		out[j] = logSum(terms)
	}
	return out
}

// probable are the probabilities of the patterns of the model after results, where the labels have these probabilities without them.
func (b *belief) probable(prior []float64, results []abi.ExperimentResult) []float64 {
	patterns := b.patterns(results)
	out, most := make([]float64, len(patterns)), math.Inf(-1)
	for i := range out {
		terms := make([]float64, 0, len(b.shares))
		for j, share := range b.shares {
			terms = append(terms, math.Log(prior[j])+share[i]) //nolint:gosec // a share for each pattern
		}
		out[i] = logSum(terms) + patterns[i]
		most = max(most, out[i])
	}
	sum := 0.0
	for i := range out {
		out[i] = math.Exp(out[i] - most)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// patterns are the logarithms of the probability of the results under each pattern.
func (b *belief) patterns(results []abi.ExperimentResult) []float64 {
	out := make([]float64, len(b.model.Patterns))
	for i := range out {
		out[i] = b.pattern(&b.model.Patterns[i], results)
	}
	return out
}

func sameCell(a, b *abi.Experiment) bool {
	return a.Product == b.Product && a.Tests == b.Tests && a.Environment == b.Environment && a.Order == b.Order
}

// runs are those of all cells of one rate.
type runs struct{ passed, same, other int }

// unlikely is the probability of what a model says can't be.
const unlikely = 1e-6

func (b *belief) pattern(p *abi.OutcomePattern, results []abi.ExperimentResult) float64 {
	f := facts{}
	sums := sumsOf(p, results, &f)
	total := f.under(p)
	for at, s := range sums {
		shape := b.shapes[p.Rates[at].Shape]
		if shape == nil {
			continue
		}
		total += logMarginal(shape, s)
		if lower := lowerRate(p, at); lower >= 0 && b.shapes[p.Rates[lower].Shape] != nil {
			other := b.shapes[p.Rates[lower].Shape]
			total += math.Log(max(exceeds(failing(shape, s), failing(other, sums[lower])), unlikely)) -
				math.Log(max(exceeds(failing(shape, runs{}), failing(other, runs{})), unlikely))
		}
	}
	return total
}

// Based says whether a run of the base counts. Without that nobody knows what a change did: a test that the base does not have, or that does
// not build there, came with it.
func Based(results []abi.ExperimentResult) bool {
	f := FactsOf(results)
	return f.Based && !f.Absent
}

// sumsOf are the runs of the rates of a pattern.
func sumsOf(p *abi.OutcomePattern, results []abi.ExperimentResult, f *facts) []runs {
	sums := make([]runs, len(p.Rates))
	for i := range results {
		r := &results[i]
		if !f.add(r) {
			continue
		}
		if at := slices.IndexFunc(p.Rates, func(rate abi.OutcomeRate) bool { return hasCell(&rate, &r.Experiment) }); at >= 0 {
			s := &sums[at]
			s.passed, s.same, s.other = s.passed+r.Passed, s.same+r.Same, s.other+r.Other
		}
	}
	return sums
}

// facts are [Facts] in the making.
type facts Facts

// add says whether the runs of a result count.
func (f *facts) add(r *abi.ExperimentResult) bool {
	if r.Test != "" {
		f.Test = r.Test
	}
	if r.Changed != "" {
		f.Changed = r.Changed
	}
	if r.Outcome == abi.OutcomeNotRun || r.Loaded == abi.Contradicted {
		return false
	}
	if isBase(&r.Experiment) {
		f.Based = true
		f.Absent = f.Absent || r.Outcome == abi.OutcomeNotBuilt || r.Outcome == abi.OutcomeNoTest
	}
	return true
}

// under is the logarithm of their probability under a pattern.
func (f *facts) under(p *abi.OutcomePattern) float64 {
	total := 0.0
	if p.Changed > 0 && !f.Absent && (f.Test == abi.TestChanged || f.Test == abi.TestUnchanged) {
		total += math.Log(max(either(f.Test == abi.TestChanged, p.Changed), unlikely))
	}
	if f.Based {
		total += math.Log(max(either(f.Absent, p.Absent), unlikely))
	}
	if f.Changed != "" && f.Test == abi.TestUnchanged && p.Executed > 0 { // the change of a test may be all that it executes of it
		total += math.Log(max(either(f.Changed == abi.CodeExecuted, p.Executed), unlikely))
	}
	return total
}

func either(is bool, p float64) float64 {
	if is {
		return p
	}
	return 1 - p
}

// lowerRate is the place of the rate that one of a pattern is above; -1 for none.
func lowerRate(p *abi.OutcomePattern, at int) int {
	name := p.Rates[at].Above
	if name == "" {
		return -1
	}
	return slices.IndexFunc(p.Rates, func(r abi.OutcomeRate) bool { return r.Name == name })
}

// HasCell says whether a pattern has a rate for the runs of an experiment.
func HasCell(p *abi.OutcomePattern, e *abi.Experiment) bool {
	return slices.ContainsFunc(p.Rates, func(rate abi.OutcomeRate) bool { return hasCell(&rate, e) })
}

// hasCell says whether a rate has the cell of an experiment: one without a tree has those of single trees, not of mixtures.
func hasCell(rate *abi.OutcomeRate, e *abi.Experiment) bool {
	return (rate.Product == "" && e.Product == e.Tests || rate.Product == e.Product) && (rate.Tests == "" && e.Product == e.Tests || rate.Tests == e.Tests) &&
		(rate.Environment == "" || rate.Environment == e.Environment) && (rate.Order == "" || rate.Order == e.Order)
}

// logMarginal is the logarithm of the probability of a sequence of runs whose rates are drawn from a shape.
func logMarginal(s *abi.RateShape, r runs) float64 {
	if r == (runs{}) {
		return 0
	}
	rises := func(a float64, n int) float64 { return logGamma(a+float64(n)) - logGamma(a) }
	return rises(s.Passed, r.passed) + rises(s.Same, r.same) + rises(s.Other, r.other) - rises(s.Passed+s.Same+s.Other, r.passed+r.same+r.other)
}

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

func logSum(terms []float64) float64 {
	most := math.Inf(-1)
	for _, x := range terms {
		most = max(most, x)
	}
	if math.IsInf(most, -1) {
		return most
	}
	sum := 0.0
	for _, x := range terms {
		sum += math.Exp(x - most)
	}
	return most + math.Log(sum)
}

// Patterns are the probabilities of the patterns of a model under a label, after results. They add up to 1.
func Patterns(m *abi.OutcomeModel, label string, results []abi.ExperimentResult) []float64 {
	return newBelief([]string{label}, m).probable([]float64{1}, results)
}

// RateRuns are the runs that count for each rate of a pattern: those that passed, that failed as the case did, and that failed otherwise.
func RateRuns(p *abi.OutcomePattern, results []abi.ExperimentResult) [][3]int {
	out := make([][3]int, len(p.Rates))
	for at, s := range sumsOf(p, results, &facts{}) {
		out[at] = [3]int{s.passed, s.same, s.other}
	}
	return out
}

// Facts are what results tell beside their runs.
type Facts struct {
	// Based: the base was tried. Absent: it lacks the test, or does not build.
	Based, Absent bool
	Test          abi.TestChange
	Changed       abi.ChangedCode
}

// FactsOf gives the facts of results.
func FactsOf(results []abi.ExperimentResult) Facts {
	f := facts{}
	for i := range results {
		f.add(&results[i])
	}
	return Facts(f)
}
