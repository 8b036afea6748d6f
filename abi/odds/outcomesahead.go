package odds

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// coming is what may come of an experiment.
type coming struct {
	given []float64 // P(it comes | label), after the results so far
	told  []float64 // of all results, this one included; see belief.told
}

// mostAhead is how many further runs are looked ahead.
const mostAhead = 6

// ahead lists what may come of an experiment after results. Of a step that has runs before it in its cell, the further ones count.
func (b *belief) ahead(results []abi.ExperimentResult, e *abi.Experiment) []coming {
	if !slices.ContainsFunc(b.model.Patterns, func(p abi.OutcomePattern) bool {
		return slices.ContainsFunc(p.Rates, func(rate abi.OutcomeRate) bool { return hasCell(&rate, e) })
	}) {
		return nil
	}
	now := b.told(results)
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
	var list []coming
	add := func(r abi.ExperimentResult, ways float64) {
		p := coming{make([]float64, len(now)), b.told(append(slices.Clone(results), r))}
		for j := range now {
			p.given[j] = ways * math.Exp(p.told[j]-now[j])
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
