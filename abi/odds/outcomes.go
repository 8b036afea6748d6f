package odds

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// belief weighs results by an outcome model. It holds nothing of a case, but keeps what it has computed: one goroutine at a time uses it.
//
// Under a pattern, all runs of the cells of one rate (a cell is a tree in an environment and an order) are drawn with one probability to
// pass, to fail as the case did, and to fail otherwise. That probability is drawn from the shape of the rate, and a set of runs
// has the exact probability of a Dirichlet-multinomial distribution. Rates are independent of each other, but for one that has to lie above
// another. A label is as probable as its patterns. Runs of one cell add up: experiments are asked for in steps. Runs that loaded the code of
// another tree tell nothing.
type belief struct {
	model *abi.OutcomeModel
	// shares are the logarithms of P(pattern | label), by label and pattern.
	shares [][]float64

	rates      [][]shapedRate // by pattern; nil until there are runs to weigh
	factorials rise
	facts      []knownFacts
	above      map[[2]beta]float64
}

// shapedRate is one of a pattern, with its shape.
type shapedRate struct {
	shape *shape // nil where the model has none
	lower int    // the place of the rate that it lies above, -1 for none
}

// newBelief prepares a model for the labels of a case. A label that no pattern names comes true by each of them alike.
func newBelief(labels []string, m *abi.OutcomeModel) *belief {
	b := &belief{model: m, shares: make([][]float64, len(labels)), factorials: newRise(1)}
	for j, label := range labels {
		share, sum := make([]float64, len(m.Patterns)), 0.0
		for i := range m.Patterns {
			weights := m.Patterns[i].Labels
			for k := range weights {
				if w := &weights[k]; w.Label == label && w.Weight > 0 {
					share[i] += w.Weight
				}
			}
			sum += share[i]
		}
		for i := range share {
			switch {
			case sum <= 0:
				share[i] = -math.Log(float64(len(share)))
			case share[i] == 0:
				share[i] = math.Inf(-1)
			default:
				share[i] = math.Log(share[i] / sum)
			}
		}
		b.shares[j] = share
	}
	return b
}

// findRates gives the rates of the patterns their shapes.
func (b *belief) findRates() {
	m := b.model
	shapes := make([]shape, len(m.Shapes))
	for i := range m.Shapes {
		shapes[i] = newShape(&m.Shapes[i])
	}
	shapeOf := func(r *abi.OutcomeRate) *shape {
		for i := range m.Shapes {
			if m.Shapes[i].Name == r.Shape {
				return &shapes[i]
			}
		}
		return nil
	}
	b.rates = make([][]shapedRate, len(m.Patterns))
	for i := range m.Patterns {
		p := &m.Patterns[i]
		rates := make([]shapedRate, len(p.Rates))
		for at := range p.Rates {
			lower := lowerRate(p, at)
			if lower >= 0 && shapeOf(&p.Rates[lower]) == nil {
				lower = -1
			}
			rates[at] = shapedRate{shapeOf(&p.Rates[at]), lower}
		}
		b.rates[i] = rates
	}
}

// told are the logarithms of the probability of the results under each label.
func (b *belief) told(results []abi.ExperimentResult) []float64 {
	out := make([]float64, len(b.shares))
	if len(b.model.Patterns) == 0 {
		return out // it knows nothing
	}
	b.labels(out, b.patterns(results))
	return out
}

// labels gives the labels what their patterns have together.
func (b *belief) labels(out, patterns []float64) {
	for j, share := range b.shares {
		most := math.Inf(-1)
		for i, x := range share {
			most = max(most, x+patterns[i])
		}
		if math.IsInf(most, -1) {
			out[j] = most
			continue
		}
		sum := 0.0
		for i, x := range share {
			if !math.IsInf(x, -1) {
				sum += math.Exp(x + patterns[i] - most)
			}
		}
		out[j] = most + math.Log(sum)
	}
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
	if len(results) == 0 {
		return out
	}
	s := b.see(results)
	for i, under := range b.under(s.facts) {
		out[i] = b.pattern(i, under, s.sums[i])
	}
	return out
}

// seen is what results show.
type seen struct {
	results []abi.ExperimentResult
	facts   facts
	sums    [][]runs // by pattern and rate
}

func (b *belief) see(results []abi.ExperimentResult) *seen {
	if b.rates == nil {
		b.findRates()
	}
	s := &seen{results: results, facts: facts(FactsOf(results)), sums: make([][]runs, len(b.model.Patterns))}
	for i := range s.sums {
		s.sums[i] = sumsOf(&b.model.Patterns[i], results)
	}
	return s
}

func sameCell(a, b *abi.Experiment) bool {
	return a.Product == b.Product && a.Tests == b.Tests && a.Environment == b.Environment && a.Order == b.Order
}

// runs are those of all cells of one rate.
type runs struct{ passed, same, other int }

func (r runs) plus(n *abi.ExperimentResult) runs {
	return runs{r.passed + n.Passed, r.same + n.Same, r.other + n.Other}
}

// unlikely is the probability of what a model says can't be.
const unlikely = 1e-6

// pattern is the logarithm of the probability of some runs by rate under the i-th pattern, with that of the facts.
func (b *belief) pattern(i int, total float64, sums []runs) float64 {
	rates := b.rates[i]
	for at := range rates {
		shape, s := rates[at].shape, sums[at]
		if shape == nil {
			continue
		}
		total += shape.logMarginal(s)
		lower := rates[at].lower
		if lower < 0 || s == (runs{}) && sums[lower] == (runs{}) {
			continue
		}
		other := rates[lower].shape
		total += b.logAbove(shape.failing(s), other.failing(sums[lower])) - b.logAbove(shape.failing(runs{}), other.failing(runs{}))
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
func sumsOf(p *abi.OutcomePattern, results []abi.ExperimentResult) []runs {
	sums := make([]runs, len(p.Rates))
	for i := range results {
		r := &results[i]
		if !counts(r) {
			continue
		}
		if at := placeOf(p, &r.Experiment); at >= 0 {
			sums[at] = sums[at].plus(r)
		}
	}
	return sums
}

// counts says whether the runs of a result count.
func counts(r *abi.ExperimentResult) bool {
	return r.Outcome != abi.OutcomeNotRun && r.Loaded != abi.Contradicted
}

// facts are [Facts] in the making.
type facts Facts

func (f *facts) add(r *abi.ExperimentResult) {
	if r.Test != "" {
		f.Test = r.Test
	}
	if counts(r) && isBase(&r.Experiment) {
		f.Based = true
		f.Absent = f.Absent || r.Outcome == abi.OutcomeNotBuilt || r.Outcome == abi.OutcomeNoTest
	}
}

// knownFacts are facts with what they count.
type knownFacts struct {
	facts facts
	under []float64 // by pattern
}

// under are the logarithms of the probability of facts under each pattern.
func (b *belief) under(f facts) []float64 {
	for i := range b.facts {
		if b.facts[i].facts == f {
			return b.facts[i].under
		}
	}
	under := make([]float64, len(b.model.Patterns))
	for i := range under {
		under[i] = f.under(&b.model.Patterns[i])
	}
	b.facts = append(b.facts, knownFacts{f, under})
	return under
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
func HasCell(p *abi.OutcomePattern, e *abi.Experiment) bool { return placeOf(p, e) >= 0 }

// placeOf is the place of the rate of a pattern for the runs of an experiment; -1 for none.
func placeOf(p *abi.OutcomePattern, e *abi.Experiment) int {
	for at := range p.Rates {
		if hasCell(&p.Rates[at], e) {
			return at
		}
	}
	return -1
}

// hasCell says whether a rate has the cell of an experiment: one without a tree has those of single trees, not of mixtures.
func hasCell(rate *abi.OutcomeRate, e *abi.Experiment) bool {
	return (rate.Product == "" && e.Product == e.Tests || rate.Product == e.Product) && (rate.Tests == "" && e.Product == e.Tests || rate.Tests == e.Tests) &&
		(rate.Environment == "" || rate.Environment == e.Environment) && (rate.Order == "" || rate.Order == e.Order)
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
	for at, s := range sumsOf(p, results) {
		out[at] = [3]int{s.passed, s.same, s.other}
	}
	return out
}

// Facts are what results tell beside their runs.
type Facts struct {
	// Based: the base was tried. Absent: it lacks the test, or does not build.
	Based, Absent bool
	Test          abi.TestChange
}

// FactsOf gives the facts of results.
func FactsOf(results []abi.ExperimentResult) Facts {
	f := facts{}
	for i := range results {
		f.add(&results[i])
	}
	return Facts(f)
}
