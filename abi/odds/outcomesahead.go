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

// mostAhead is up to how many further runs all their outcomes are looked at. Of more runs only how many fail is, not how.
const mostAhead = 6

// ahead lists what may come of an experiment after results.
func (b *belief) ahead(results []abi.ExperimentResult, e *abi.Experiment) []coming {
	if !slices.ContainsFunc(b.model.Patterns, func(p abi.OutcomePattern) bool { return HasCell(&p, e) }) || slices.ContainsFunc(results, func(r abi.ExperimentResult) bool { return r.Experiment == *e && r.Outcome != abi.OutcomeNotRun }) {
		return nil
	}
	if slices.ContainsFunc(results, func(r abi.ExperimentResult) bool {
		return r.Outcome == abi.OutcomeNoTest && r.Experiment.Tests == e.Tests
	}) {
		return nil // nor has it the test in other runs
	}
	now := b.told(results)
	var list []coming
	measures := e.Environment == abi.CoverageEnvironment && FactsOf(results).Test == abi.TestUnchanged
	one := func(r abi.ExperimentResult, ways float64) {
		p := coming{make([]float64, len(now)), b.told(append(slices.Clone(results), r))}
		for j := range now {
			p.given[j] = ways * math.Exp(p.told[j]-now[j])
		}
		list = append(list, p)
	}
	add := func(r abi.ExperimentResult, ways float64) {
		if !measures {
			one(r, ways)
			return
		}
		for _, r.Changed = range []abi.ChangedCode{abi.CodeExecuted, abi.CodeNotExecuted} {
			one(r, ways)
		}
	}
	n := e.Runs
	if n <= mostAhead {
		for passed := range n + 1 {
			for same := range n + 1 - passed {
				other := n - passed - same
				add(abi.ExperimentResult{Experiment: *e, Outcome: abi.OutcomeMixed, Passed: passed, Same: same, Other: other}, math.Exp(logFactorial(n)-logFactorial(passed)-logFactorial(same)-logFactorial(other)))
			}
		}
	} else {
		for _, c := range coarse(n) {
			add(abi.ExperimentResult{Experiment: *e, Outcome: abi.OutcomeMixed, Passed: n - c.failed, Same: c.failed}, c.width*math.Exp(logFactorial(n)-logFactorial(n-c.failed)-logFactorial(c.failed)))
		}
	}
	if isBase(e) && !slices.ContainsFunc(results, func(r abi.ExperimentResult) bool { return isBase(&r.Experiment) && r.Outcome != abi.OutcomeNotRun }) {
		add(abi.ExperimentResult{Experiment: *e, Outcome: abi.OutcomeNoTest}, 1)
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

func logFactorial(n int) float64 { return logGamma(float64(n + 1)) }
