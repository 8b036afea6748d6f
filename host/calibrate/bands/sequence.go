package bands

import (
	"math"

	"github.com/shadowcourt/shadowcourt/host/calibrate/internal/stats"
)

// test is the test of one threshold: that the error is above maxError is refuted where so few wrong answers have at most
// the probability level.
type test struct {
	maxError, level float64
	// least is the least number of cases that can pass, all of them right. powered is the least number that passes with
	// probability 0.8 when the error is half of maxError.
	least, powered int
}

func newTest(o Options) test {
	t := test{maxError: o.MaxError, level: 1 - o.Confidence}
	t.least = int(math.Ceil(math.Log(t.level)/math.Log1p(-t.maxError) - rounding))
	t.powered = t.withPower()
	return t
}

// withPower computes powered, in steps of a hundredth where that is more than one case.
func (t *test) withPower() int {
	const power, most = 0.8, 1_000_000
	allowed := 0.0
	for n := t.least; n < most; n += 1 + n/100 {
		for stats.BinomialTail(allowed+1, float64(n), t.maxError) <= t.level {
			allowed++
		}
		if stats.BinomialTail(allowed, float64(n), t.maxError/2) >= power {
			return n
		}
	}
	return max(most, t.least)
}

// p is the probability of so few wrong answers at an error of maxError, if there were times as many cases.
func (t *test) p(c count, times float64) float64 {
	n := float64(c.accepted) * c.worth * times
	return stats.BinomialTail(float64(c.wrong)*c.worth*times, n, t.maxError)
}

// sequence is the part of the grid that is tested. It begins where enough cases are accepted: stricter thresholds could
// hardly pass, and would end the sequence at once. Only the confidences decide that, never which answers are right, so that
// it costs no correction.
func (t *test) sequence(grid []count, cases int, times float64) []count {
	start := t.startAt(float64(cases)*times) - rounding
	for i, c := range grid {
		if float64(c.accepted)*times >= start {
			return grid[i:]
		}
	}
	return nil
}

// startAt is how many accepted cases the sequence begins with: as many as pass with the power above, or half of the cases
// where that is less, but never less than can pass at all.
func (t *test) startAt(cases float64) float64 {
	return min(float64(t.powered), max(float64(t.least), cases/2))
}

const (
	// rounding of a product that is meant to be a whole number.
	rounding = 1e-6
	// mostTimes is how many times the docket is imagined to be repeated at most.
	mostTimes = 1000
)

// needed is the least number of cases of the same composition that would certify a threshold.
func (t *test) needed(grid []count, cases int) *int {
	if cases == 0 {
		return &t.least
	}
	passes := func(m int) bool {
		times := float64(m) / float64(cases)
		tested := t.sequence(grid, cases, times)
		return len(tested) > 0 && t.p(tested[0], times) <= t.level
	}
	low, high := cases, max(2*cases, t.least)
	for !passes(high) {
		if high > mostTimes*max(cases, t.least) {
			return nil
		}
		low, high = high, 2*high
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; passes(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return &high
}
