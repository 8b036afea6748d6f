package calibrate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// The defaults of Options.
const (
	DefaultMaxError   = 0.05
	DefaultConfidence = 0.95
)

// BandOptions of a certificate. Zero fields mean the defaults.
type BandOptions struct {
	// MaxError is the largest share of wrong answers among the accepted, in (0, 1).
	MaxError float64
	// Confidence that the bound holds, in (0, 1).
	Confidence float64
}

func (o BandOptions) orDefault() BandOptions {
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
	// P is the probability of so few wrong answers if the error were MaxError, Level the most that passes.
	P     float64 `json:"p"`
	Level float64 `json:"level"`
}

// String tells from which confidence on answers may be accepted, or what is lacking.
func (c *Certificate) String() string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	bound := fmt.Sprintf("(error at most %s with confidence %s)", number(c.MaxError), number(c.Confidence))
	switch {
	case c.Threshold != nil:
		return fmt.Sprintf("from %s on %s: %d of %d cases, %d wrong, error at most %.3f", number(*c.Threshold), bound, c.Accepted, c.Cases, c.Wrong, *c.ErrorBound)
	case c.Needed != nil:
		return fmt.Sprintf("at no threshold %s: none can be certified with %d cases, about %d are needed", bound, c.Cases, *c.Needed)
	}
	return fmt.Sprintf("at no threshold %s: none can be certified with %d cases, nor with more like these, the surest are wrong too often", bound, c.Cases)
}

// acceptance is what is known of a threshold. Worth is the share of its cases that count as independent, by which answers are wrong;
// independent is how many do by the groups alone.
type acceptance struct {
	threshold          float64
	accepted, wrong    int
	worth, independent float64
}

// gridSteps: thresholds are the thousandths, fixed before any case is seen.
const gridSteps = 1000

// Certify proposes the loosest threshold that a sequence of tests reaches. It is pure, and the order of points has no
// influence.
func Certify(points []Point, o BandOptions) Certificate {
	o = o.orDefault()
	c := Certificate{MaxError: o.MaxError, Confidence: o.Confidence, Cases: len(points), Tested: []Step{}}
	grid, two := countAll(points), sequences(o)
	var last acceptance
	for _, s := range two {
		for at := range s.tested(grid) {
			p := s.p(float64(at.wrong)*at.worth, float64(at.accepted)*at.worth)
			c.Tested = append(c.Tested, Step{at.threshold, at.accepted, at.wrong, p, s.level})
			if p > s.level {
				break
			}
			if at.accepted > last.accepted {
				last = at
			}
		}
	}
	if last.accepted == 0 {
		c.Needed = casesNeeded(two, grid, len(points))
		return c
	}
	bound := upperBound(float64(last.wrong)*last.worth, float64(last.accepted)*last.worth, o.Confidence)
	c.Threshold, c.ErrorBound, c.Accepted, c.Wrong = &last.threshold, &bound, last.accepted, last.wrong
	return c
}

// countAll counts at each threshold of the grid that accepts more cases than stricter ones, from strict to loose.
func countAll(points []Point) []acceptance {
	sorted := slices.SortedFunc(slices.Values(points), func(a, b Point) int { return cmp.Compare(b.Confidence, a.Confidence) })
	wrong, groups := make([]float64, len(sorted)), make([]string, len(sorted))
	for i, p := range sorted {
		groups[i] = p.Group
		if !p.Right {
			wrong[i] = 1
		}
	}
	grouped := slices.ContainsFunc(groups, func(g string) bool { return g != "" })
	clusters, none := clustersOf(groups), make([]float64, len(sorted))
	var grid []acceptance
	c := acceptance{}
	for i := gridSteps; i >= 0; i-- {
		c.threshold = float64(i) / gridSteps
		before := c.accepted
		for c.accepted < len(sorted) && sorted[c.accepted].Confidence >= c.threshold {
			c.wrong += int(wrong[c.accepted])
			c.accepted++
		}
		if n := c.accepted; n > before {
			c.worth, c.independent = 1, float64(n)
			if grouped {
				c.worth = effectiveCases(wrong[:n], clusters[:n]) / float64(n)
				c.independent = effectiveCases(none[:n], clusters[:n])
			}
			grid = append(grid, c)
		}
	}
	return grid
}
