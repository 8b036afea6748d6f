package odds

import (
	"math"

	"github.com/shadowcourt/shadowcourt/abi"
)

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
