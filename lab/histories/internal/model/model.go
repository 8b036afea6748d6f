// Package model says how probable each answer to "did this change do it?" is, by the outcomes of runs. It is learned from cases whose
// truth is known.
//
// A pattern is one way in which an answer comes true, such as a test that passes on the base and fails on head each time. Under it, the
// runs of each group of cells are drawn with one probability to pass, to fail as the case did, and to fail otherwise; these come from a
// Dirichlet distribution, the shape of the group. So the runs of a group have the exact probability of a Dirichlet-multinomial
// distribution, whatever their number and order.
package model

import (
	"maps"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// Seen are the runs that were seen of a case.
type Seen struct {
	Cells []Cell
	// Absent: the base does not have the test, or does not build.
	Absent bool
	// Based: a run of the base was tried.
	Based bool
}

// Cell is the runs of one tree, which is head or base, in one place.
type Cell struct {
	Tree        history.Role
	Environment abi.RunEnvironment
	Order       abi.RunOrder
	Counts
}

// Counts are of runs that passed, failed as the case did, and failed otherwise.
type Counts struct{ Passed, Same, Other int }

// Shape is a Dirichlet distribution over the ways in which a run ends.
type Shape struct{ Passed, Same, Other float64 }

// group is cells with one rate. What is empty has any.
type group struct {
	tree        history.Role
	environment abi.RunEnvironment
	order       abi.RunOrder
	shape       string
	above       history.Role // the tree whose rate of failures is lower; empty for none
}

func (g *group) has(c *Cell) bool {
	return (g.tree == "" || g.tree == c.Tree) && (g.environment == "" || g.environment == c.Environment) && (g.order == "" || g.order == c.Order)
}

// pattern is one way in which an answer comes true. The first of its groups that has a cell counts.
type pattern struct {
	name   string
	says   history.Attribution
	groups []group
	// mayLack: the base may lack the test.
	mayLack bool
}

// The shapes.
const (
	passes = "passes"
	fails  = "fails"
	varies = "varies"
	flakes = "flakes"
	others = "fails otherwise"
)

func patterns() []pattern {
	const head, base = history.Head, history.Base
	all := func(shape string) []group { return []group{{shape: shape}} }
	each := func(onHead, onBase string) []group {
		return []group{{tree: head, shape: onHead}, {tree: base, shape: onBase}}
	}
	return []pattern{
		{"fails since the change", history.Caused, each(fails, passes), true},
		{"fails in several ways since the change", history.Caused, each(varies, passes), true},
		{"fails sometimes since the change", history.Caused, each(flakes, passes), true},
		{"fails more often since the change", history.Caused, []group{{tree: head, shape: flakes, above: base}, {tree: base, shape: flakes}}, false},
		{"failed otherwise before", history.Caused, each(fails, others), false},
		{"fails behind other tests since the change", history.Caused, []group{
			{tree: head, order: abi.OriginalOrder, shape: fails}, {shape: passes},
		}, false},
		{"failed before", history.Preexisting, each(fails, fails), false},
		{"failed in several ways before", history.Preexisting, each(varies, varies), false},
		{"flaky", history.ByChance, all(flakes), false},
		{"gone", history.Surroundings, all(passes), true},
		{"the environment of both", history.Surroundings, []group{{environment: abi.CleanEnvironment, shape: passes}, {tree: head, shape: fails}, {tree: base, shape: fails}}, true},
		{"the machine", history.Surroundings, each(fails, fails), true},
	}
}

// Model weighs runs.
type Model struct {
	// Weights are the probabilities of the patterns before any run, and Lacks those that the base lacks the test; both by pattern.
	Weights, Lacks map[string]float64
	Shapes         map[string]Shape
}

// First is the model before anything is learned: all patterns alike.
func First() *Model {
	m := &Model{map[string]float64{}, map[string]float64{}, map[string]Shape{
		passes: {50, 0.05, 0.05}, fails: {0.05, 50, 0.1}, varies: {0.05, 5, 2}, flakes: {1.5, 0.5, 0.1}, others: {0.05, 0.1, 50},
	}}
	list := patterns()
	for i := range list {
		m.Weights[list[i].name] = 1 / float64(len(list))
		if list[i].mayLack {
			m.Lacks[list[i].name] = 0.1
		}
	}
	return m
}

// Answers are the probabilities of the answers by what was seen. They add up to 1.
func (m *Model) Answers(s *Seen) map[history.Attribution]float64 {
	list := patterns()
	out := map[history.Attribution]float64{}
	for i, p := range m.responsibilities(s, "") {
		out[list[i].says] += p
	}
	return out
}

// responsibilities are the probabilities of the patterns, of those of one answer alone if it is not empty.
func (m *Model) responsibilities(s *Seen, says history.Attribution) []float64 {
	list := patterns()
	logs := make([]float64, len(list))
	for i := range list {
		logs[i] = math.Inf(-1)
		if says == "" || list[i].says == says {
			logs[i] = math.Log(m.Weights[list[i].name]) + m.likelihood(&list[i], s)
		}
	}
	most := slices.Max(logs)
	if math.IsInf(most, -1) {
		return make([]float64, len(list))
	}
	sum := 0.0
	for i := range logs {
		logs[i] = math.Exp(logs[i] - most)
		sum += logs[i]
	}
	for i := range logs {
		logs[i] /= sum
	}
	return logs
}

// unlikely is the probability of what can't be.
const unlikely = 1e-6

// likelihood is the logarithm of the probability of what was seen under a pattern.
func (m *Model) likelihood(p *pattern, s *Seen) float64 {
	total := 0.0
	if s.Based {
		lacks := max(m.Lacks[p.name], unlikely)
		if s.Absent {
			total += math.Log(lacks)
		} else {
			total += math.Log(1 - lacks)
		}
	}
	sums := p.sums(s)
	for i := range p.groups {
		g := &p.groups[i]
		shape := m.Shapes[g.shape]
		total += logMarginal(shape, sums[i])
		if g.above == "" {
			continue
		}
		at := slices.IndexFunc(p.groups, func(o group) bool { return o.tree == g.above })
		other := m.Shapes[p.groups[at].shape]
		total += math.Log(max(exceeds(failing(shape, sums[i]), failing(other, sums[at])), unlikely)) -
			math.Log(exceeds(failing(shape, Counts{}), failing(other, Counts{})))
	}
	return total
}

// sums are the runs of the groups of a pattern.
func (p *pattern) sums(s *Seen) []Counts {
	sums := make([]Counts, len(p.groups))
	for i := range s.Cells {
		c := &s.Cells[i]
		if at := slices.IndexFunc(p.groups, func(g group) bool { return g.has(c) }); at >= 0 {
			sums[at].Passed, sums[at].Same, sums[at].Other = sums[at].Passed+c.Passed, sums[at].Same+c.Same, sums[at].Other+c.Other
		}
	}
	return sums
}

// logMarginal is the logarithm of the probability of a sequence of runs whose probabilities are drawn from a shape.
func logMarginal(s Shape, n Counts) float64 {
	rises := func(a float64, n int) float64 { return logGamma(a+float64(n)) - logGamma(a) }
	return rises(s.Passed, n.Passed) + rises(s.Same, n.Same) + rises(s.Other, n.Other) - rises(s.Passed+s.Same+s.Other, n.Passed+n.Same+n.Other)
}

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// Learn fits a model to cases whose answers are known: by expectation and maximization over the patterns of each answer.
func Learn(seen []Seen, truths []history.Attribution) *Model {
	const rounds = 40
	m, list := First(), patterns()
	for range rounds {
		weights, lacks, based := map[string]float64{}, map[string]float64{}, map[string]float64{}
		told := map[string][]weighted{}
		for i := range seen {
			s := &seen[i]
			for j, r := range m.responsibilities(s, truths[i]) {
				p := &list[j]
				if r < unlikely {
					continue
				}
				weights[p.name] += r
				if s.Based {
					based[p.name] += r
					if s.Absent {
						lacks[p.name] += r
					}
				}
				for k, n := range p.sums(s) {
					if n != (Counts{}) {
						told[p.groups[k].shape] = append(told[p.groups[k].shape], weighted{n, r})
					}
				}
			}
		}
		for i := range list {
			name := list[i].name
			m.Weights[name] = (weights[name] + 0.5) / (float64(len(seen)) + 0.5*float64(len(list)))
			if list[i].mayLack {
				m.Lacks[name] = (lacks[name] + 0.2) / (based[name] + 2)
			}
		}
		first := First().Shapes
		for _, name := range slices.Sorted(maps.Keys(m.Shapes)) {
			m.Shapes[name] = refit(m.Shapes[name], first[name], told[name])
		}
	}
	return m
}

type weighted struct {
	Counts
	by float64
}

// refit moves a shape towards runs that were drawn from it, beside some that its first form gives: a round of Minka's fixed-point
// iteration for the Dirichlet-multinomial distribution.
func refit(s, first Shape, told []weighted) Shape {
	const runs, by = 20, 2
	sum := first.Passed + first.Same + first.Other
	share := func(a float64) int { return int(math.Round(runs * a / sum)) }
	told = append(slices.Clone(told), weighted{Counts{share(first.Passed), share(first.Same), share(first.Other)}, by})
	var up [3]float64
	down, all := 0.0, s.Passed+s.Same+s.Other
	for i := range told {
		t := &told[i]
		up[0] += t.by * (digamma(float64(t.Passed)+s.Passed) - digamma(s.Passed))
		up[1] += t.by * (digamma(float64(t.Same)+s.Same) - digamma(s.Same))
		up[2] += t.by * (digamma(float64(t.Other)+s.Other) - digamma(s.Other))
		down += t.by * (digamma(float64(t.Passed+t.Same+t.Other)+all) - digamma(all))
	}
	bound := func(a float64) float64 { return min(max(a, 0.005), 500) }
	return Shape{bound(s.Passed * up[0] / down), bound(s.Same * up[1] / down), bound(s.Other * up[2] / down)}
}

// digamma is the derivative of the logarithm of the gamma function, for positive numbers.
func digamma(x float64) float64 {
	sum := 0.0
	for ; x < 6; x++ {
		sum -= 1 / x
	}
	f := 1 / (x * x)
	return sum + math.Log(x) - 0.5/x - f*(1.0/12-f*(1.0/120-f/252))
}

// beta is a Beta distribution.
type beta struct{ a, b float64 }

// failing is the distribution of the rate of failures behind some runs.
func failing(s Shape, n Counts) beta {
	return beta{s.Same + s.Other + float64(n.Same+n.Other), s.Passed + float64(n.Passed)}
}

// exceeds is the probability that a rate drawn from one distribution is above one drawn from another. Both densities are summed over the
// middles of equal pieces, so that poles at the ends do no harm.
func exceeds(x, y beta) float64 {
	const pieces = 256
	fill := func(d beta) (p [pieces]float64) {
		most, sum := math.Inf(-1), 0.0
		for i := range p {
			v := (float64(i) + 0.5) / pieces
			p[i] = (d.a-1)*math.Log(v) + (d.b-1)*math.Log1p(-v)
			most = max(most, p[i])
		}
		for i := range p {
			p[i] = math.Exp(p[i] - most)
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	px, py := fill(x), fill(y)
	above, below := 0.0, 0.0
	for i := range px {
		above += px[i] * (below + py[i]/2)
		below += py[i]
	}
	return above
}
