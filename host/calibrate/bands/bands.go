package bands

import (
	"math"

	"github.com/shadowcourt/shadowcourt/host/calibrate/internal/stats"
)

// The defaults of Options.
const (
	DefaultMaxError   = 0.05
	DefaultConfidence = 0.95
)

// Options of a certificate. Zero fields mean the defaults.
type Options struct {
	// MaxError is the largest share of wrong answers among the accepted, in (0, 1).
	MaxError float64
	// Confidence that the bound holds, in (0, 1).
	Confidence float64
}

func (o Options) orDefault() Options {
	if o.MaxError <= 0 {
		o.MaxError = DefaultMaxError
	}
	if o.Confidence <= 0 {
		o.Confidence = DefaultConfidence
	}
	return o
}

// Point is one answer: the confidence that was stated for it, in [0, 1], and whether it was right.
type Point struct {
	Confidence float64
	Right      bool
	// Group of cases that belong together, or empty.
	Group string
}

// Certificate is the answer.
type Certificate struct {
	MaxError   float64 `json:"max_error"`
	Confidence float64 `json:"confidence"`
	Cases      int     `json:"cases"`
	// Threshold from which on answers may be accepted; nil when none can be certified.
	Threshold *float64 `json:"threshold"`
	// Accepted and Wrong count the cases at the threshold or above; 0 without one.
	Accepted int `json:"accepted"`
	Wrong    int `json:"wrong"`
	// ErrorBound is the upper end of the error among the accepted (Clopper and Pearson 1934), nil without a threshold. It
	// is at most MaxError.
	ErrorBound *float64 `json:"error_bound"`
	// Needed is how many cases like these would certify some threshold; nil with a threshold, and nil when no number
	// would: then the surest answers are wrong too often.
	Needed *int `json:"needed"`
	// Tested are the thresholds that were tested, in order.
	Tested []Step `json:"tested"`
}

// Step is the test of one threshold.
type Step struct {
	Threshold float64 `json:"threshold"`
	Accepted  int     `json:"accepted"`
	Wrong     int     `json:"wrong"`
	// P is the probability of so few wrong answers if the error were MaxError.
	P float64 `json:"p"`
}

// count is what is known of a threshold. Worth is the share of its cases that count as independent.
type count struct {
	threshold       float64
	accepted, wrong int
	worth           float64
}

// gridSteps: thresholds are the hundredths, fixed before any case is seen.
const gridSteps = 100

// Certify proposes the loosest threshold that the sequence of tests reaches. It is pure, and the order of points has no
// influence.
func Certify(points []Point, o Options) Certificate {
	o = o.orDefault()
	c := Certificate{MaxError: o.MaxError, Confidence: o.Confidence, Cases: len(points), Tested: []Step{}}
	grid := countAll(points)
	var last count
	for _, at := range sequence(grid, len(points), 1, o) {
		p := at.p(1, o)
		c.Tested = append(c.Tested, Step{at.threshold, at.accepted, at.wrong, p})
		if p > 1-o.Confidence {
			break
		}
		if at.accepted > last.accepted { // of thresholds that accept the same cases the strictest is promised
			last = at
		}
	}
	if last.accepted == 0 {
		c.Needed = needed(grid, len(points), o)
		return c
	}
	n := float64(last.accepted) * last.worth
	bound := stats.UpperBound(float64(last.wrong)*last.worth, n, o.Confidence)
	c.Threshold, c.ErrorBound, c.Accepted, c.Wrong = &last.threshold, &bound, last.accepted, last.wrong
	return c
}

// countAll counts at each threshold of the grid, from strict to loose.
func countAll(points []Point) []count {
	grid := make([]count, 0, gridSteps+1)
	for i := gridSteps; i >= 0; i-- {
		c := count{threshold: float64(i) / gridSteps}
		var wrong []float64
		var groups []string
		for _, p := range points {
			if p.Confidence < c.threshold {
				continue
			}
			c.accepted++
			groups = append(groups, p.Group)
			if p.Right {
				wrong = append(wrong, 0)
			} else {
				wrong = append(wrong, 1)
				c.wrong++
			}
		}
		if c.accepted > 0 {
			c.worth = stats.EffectiveCases(wrong, stats.Clusters(groups)) / float64(c.accepted)
		}
		grid = append(grid, c)
	}
	return grid
}

// p is the probability of so few wrong answers at an error of MaxError, if there were times as many cases.
func (c count) p(times float64, o Options) float64 {
	n := float64(c.accepted) * c.worth * times
	return stats.BinomialTail(float64(c.wrong)*c.worth*times, n, o.MaxError)
}

// sequence is the part of the grid that is tested. It begins where enough cases are accepted: stricter thresholds could
// not pass, and would end the sequence at once. Only the confidences decide that, never which answers are right, so that
// it costs no correction.
func sequence(grid []count, cases int, times float64, o Options) []count {
	start := startAt(float64(cases)*times, o)
	for i, c := range grid {
		if float64(c.accepted)*times >= start {
			return grid[i:]
		}
	}
	return nil
}

// startAt is how many accepted cases the sequence begins with: as many as certify an error of half the bound four times
// in five, or half of the cases where that is less, but never less than can pass at all.
func startAt(cases float64, o Options) float64 {
	return min(float64(withPower(o)), max(float64(withoutError(o)), cases/2))
}

// withoutError is the least number of cases that certifies the bound: all of them right.
func withoutError(o Options) int {
	return int(math.Ceil(math.Log(1-o.Confidence)/math.Log1p(-o.MaxError) - 1e-9))
}

// withPower is the least number of cases at which the test passes with probability 0.8 when the error is half the bound.
func withPower(o Options) int {
	const power, most = 0.8, 1_000_000
	allowed := 0.0
	for n := float64(withoutError(o)); n < most; n++ {
		for stats.BinomialTail(allowed+1, n, o.MaxError) <= 1-o.Confidence {
			allowed++
		}
		if stats.BinomialTail(allowed, n, o.MaxError/2) >= power {
			return int(n)
		}
	}
	return most
}

// mostTimes is how many times the docket is imagined to be repeated at most.
const mostTimes = 1000

// needed is the least number of cases of the same composition that would certify a threshold.
func needed(grid []count, cases int, o Options) *int {
	least := withoutError(o)
	if cases == 0 {
		return &least
	}
	passes := func(m int) bool {
		times := float64(m) / float64(cases)
		tested := sequence(grid, cases, times, o)
		return len(tested) > 0 && tested[0].p(times, o) <= 1-o.Confidence
	}
	low, high := cases, max(2*cases, least)
	for !passes(high) {
		if high > mostTimes*max(cases, least) {
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
