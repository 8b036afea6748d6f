package outcomes

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Prospect is what may come of an experiment.
type Prospect struct {
	// Given is P(it comes | label), after the results so far.
	Given []float64
	// Nats are the logarithms of the probability of all results under each label, this one included.
	Nats []float64
}

// mostAhead is how many further runs are looked ahead.
const mostAhead = 6

// Ahead lists what may come of an experiment after results. Of a step that has runs before it in its cell, the further ones count.
func (b *Belief) Ahead(results []abi.ExperimentResult, e *abi.Experiment) []Prospect {
	if !slices.ContainsFunc(b.model.Patterns, func(p abi.OutcomePattern) bool {
		return slices.ContainsFunc(p.Rates, func(rate abi.OutcomeRate) bool { return has(&rate, e) })
	}) {
		return nil
	}
	now := b.Nats(results)
	next := abi.ExperimentResult{Experiment: *e, Outcome: abi.OutcomeMixed}
	for _, r := range longest(results) {
		if sameCell(&r.Experiment, e) {
			next.Passed, next.Same, next.Other, next.Test = r.Passed, r.Same, r.Other, r.Test
		}
	}
	n := min(e.Runs-next.Made(), mostAhead)
	if n <= 0 {
		return nil
	}
	var list []Prospect
	add := func(r abi.ExperimentResult, ways float64) {
		p := Prospect{Given: make([]float64, len(now)), Nats: b.Nats(append(slices.Clone(results), r))}
		for j := range now {
			p.Given[j] = ways * math.Exp(p.Nats[j]-now[j])
		}
		list = append(list, p)
	}
	for passed := range n + 1 {
		for same := range n + 1 - passed {
			r := next
			other := n - passed - same
			r.Passed, r.Same, r.Other = next.Passed+passed, next.Same+same, next.Other+other
			add(r, math.Exp(logGamma(float64(n+1))-logGamma(float64(passed+1))-logGamma(float64(same+1))-logGamma(float64(other+1))))
		}
	}
	if e.Product == abi.Green && e.Tests == abi.Green && next.Made() == 0 {
		for _, missing := range []abi.ExperimentOutcome{abi.OutcomeNotBuilt, abi.OutcomeNoTest} {
			add(abi.ExperimentResult{Experiment: *e, Outcome: missing}, 1)
		}
	}
	return list
}
