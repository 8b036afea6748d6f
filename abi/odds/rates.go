package odds

import (
	"math"

	"github.com/shadowcourt/shadowcourt/abi"
)

// beta is a Beta distribution.
type beta struct{ a, b float64 }

// failing is the distribution of the rate of failure behind some runs.
func (s *shape) failing(r runs) beta {
	return beta{s.same.from + s.other.from + float64(r.same+r.other), s.passed.from + float64(r.passed)}
}

// logAbove is the logarithm of what exceeds gives, which is kept.
func (b *belief) logAbove(x, y beta) float64 {
	pair := [2]beta{x, y}
	v, ok := b.above[pair]
	if !ok {
		v = math.Log(max(exceeds(x, y), unlikely))
		if b.above == nil {
			b.above = map[[2]beta]float64{}
		}
		b.above[pair] = v
	}
	return v
}

// steps is how finely two rates are compared.
const steps = 256

// exceeds is the probability that the odds of failure behind a rate drawn from one distribution are at least twice those behind one drawn
// from another: less is not told from chance by any number of runs that somebody makes. Both densities are summed over the middles of equal pieces and scaled to
// 1, so that poles at the ends do no harm.
func exceeds(x, y beta) float64 {
	var px, py [steps]float64
	fill(&px, x)
	fill(&py, y)
	above, below, j := 0.0, 0.0, 0
	for i := range px {
		v := (float64(i) + 0.5) / steps
		for ; j < steps && (float64(j)+0.5)/steps <= v/(2-v); j++ { // half the odds of v
			below += py[j]
		}
		above += px[i] * below
	}
	return above
}

func fill(p *[steps]float64, d beta) {
	most, sum := math.Inf(-1), 0.0
	for i := range p {
		v := (float64(i) + 0.5) / steps
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
}

// coming is what may come of an experiment.
type coming struct {
	given []float64 // P(it comes | label), after the results so far
	told  []float64 // of all results, this one included; see belief.told
}

// mostAhead is up to how many further runs all their outcomes are looked at. Of more runs only how many fail is, not how.
const mostAhead = 6

// ahead lists what may come of an experiment after results by which the labels are told so much now.
func (b *belief) ahead(s *seen, now []float64, e *abi.Experiment) []coming {
	places, known := make([]int, len(b.rates)), false
	for i := range places {
		places[i] = placeOf(&b.model.Patterns[i], e)
		known = known || places[i] >= 0
	}
	if !known {
		return nil
	}
	based := false
	for i := range s.results {
		r := &s.results[i]
		switch {
		case r.Experiment == *e && r.Outcome != abi.OutcomeNotRun:
			return nil
		case r.Outcome == abi.OutcomeNoTest && r.Experiment.Tests == e.Tests:
			return nil // nor has it the test in other runs
		}
		based = based || isBase(&r.Experiment) && r.Outcome != abi.OutcomeNotRun
	}
	var list []coming
	patterns := make([]float64, len(places))
	add := func(r *abi.ExperimentResult, ways float64) {
		f := s.facts
		f.add(r)
		for i, under := range b.under(f) {
			sums, at := s.sums[i], places[i]
			if at < 0 {
				patterns[i] = b.pattern(i, under, sums)
				continue
			}
			before := sums[at]
			sums[at] = before.plus(r)
			patterns[i] = b.pattern(i, under, sums)
			sums[at] = before
		}
		c := coming{make([]float64, len(now)), make([]float64, len(now))}
		b.labels(c.told, patterns)
		for j := range now {
			c.given[j] = ways * math.Exp(c.told[j]-now[j])
		}
		list = append(list, c)
	}
	logFactorial := b.factorials.by
	n := e.Runs
	if n <= mostAhead {
		for passed := range n + 1 {
			for same := range n + 1 - passed {
				other := n - passed - same
				add(&abi.ExperimentResult{Experiment: *e, Outcome: abi.OutcomeMixed, Passed: passed, Same: same, Other: other}, math.Exp(logFactorial(n)-logFactorial(passed)-logFactorial(same)-logFactorial(other)))
			}
		}
	} else {
		for _, c := range coarse(n) {
			add(&abi.ExperimentResult{Experiment: *e, Outcome: abi.OutcomeMixed, Passed: n - c.failed, Same: c.failed}, c.width*math.Exp(logFactorial(n)-logFactorial(n-c.failed)-logFactorial(c.failed)))
		}
	}
	if isBase(e) && !based {
		add(&abi.ExperimentResult{Experiment: *e, Outcome: abi.OutcomeNoTest}, 1)
	}
	scale(list) // rates above others, and what is looked at coarsely, add up to 1 only nearly
	return list
}

// count stands for so many counts of failures around it.
type count struct {
	failed int
	width  float64
}

// coarse are counts of failures in n runs: all where they are few or nearly all, and wider apart between.
func coarse(n int) (list []count) {
	for failed := 0; failed <= n; {
		step := max(1, min(failed, n-failed)/3)
		list = append(list, count{failed, float64(step)})
		failed += step
	}
	return list
}

// scale has all that may come add up to 1 under each label, and tell as much.
func scale(list []coming) {
	for j := range list[0].given {
		sum := 0.0
		for i := range list {
			sum += list[i].given[j]
		}
		for i := range list {
			if sum > 0 {
				list[i].given[j] /= sum
				list[i].told[j] -= math.Log(sum)
			}
		}
	}
}

// shape is one of a model: the distribution of a rate. It keeps the logarithms that it has computed.
type shape struct {
	passed, same, other, all rise
}

// leastShape keeps a distribution proper.
const leastShape = 0.001

func newShape(s *abi.RateShape) shape {
	passed, same, other := max(s.Passed, leastShape), max(s.Same, leastShape), max(s.Other, leastShape)
	return shape{newRise(passed), newRise(same), newRise(other), newRise(passed + same + other)}
}

// logMarginal is the logarithm of the probability of a sequence of runs whose rates are drawn from a shape.
func (s *shape) logMarginal(r runs) float64 {
	if r == (runs{}) {
		return 0
	}
	return s.passed.by(r.passed) + s.same.by(r.same) + s.other.by(r.other) - s.all.by(r.passed+r.same+r.other)
}

// rise is how much log Γ rises from one place on.
type rise struct {
	from, logGamma float64
	known          []float64 // by the steps; 0 where it is not known yet
}

func newRise(from float64) rise { return rise{from: from, logGamma: logGamma(from)} }

// mostKnown bounds what a rise keeps.
const mostKnown = 512

// by is log Γ(from+n) - log Γ(from).
func (r *rise) by(n int) float64 {
	switch {
	case n == 0:
		return 0
	case n < 0 || n >= mostKnown:
		return r.compute(n)
	case n >= len(r.known):
		r.known = append(r.known, make([]float64, n+1-len(r.known))...)
	}
	if r.known[n] == 0 {
		r.known[n] = r.compute(n)
	}
	return r.known[n]
}

func (r *rise) compute(n int) float64 { return logGamma(r.from+float64(n)) - r.logGamma }

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
