package measure

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"sort"
	"strconv"
)

// The defaults of BandOptions.
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
	// ErrorBound is the upper end of the error among the accepted (Clopper and Pearson 1934), nil without a threshold. It is at most MaxError.
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

// Certify proposes the loosest threshold above which an answer may stand unreviewed, such that the share of wrong answers among the
// accepted is bounded with a stated confidence. It is pure, and the order of points has no influence.
//
// It tests thresholds one after the other, from strict to loose, each by the exact binomial tail, and stops at the first that fails: fixed-sequence
// testing, as in Learn then Test (Angelopoulos, Bates, Candès, Jordan and Lei 2021). No correction for the number of thresholds is needed, since
// their order is fixed before the answers are looked at. There are two sequences, which share the level: one begins with the fewest cases that can
// pass, one with so many that some may be wrong. The cases must not be those that anything was fitted on, or the answers must be cross-fitted.
func Certify(points []Point, o BandOptions) Certificate {
	if o.MaxError <= 0 {
		o.MaxError = DefaultMaxError
	}
	if o.Confidence <= 0 {
		o.Confidence = DefaultConfidence
	}
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

// sequence tests thresholds from strict to loose, each at the full level, until one fails. A threshold passes where so few
// wrong answers have at most the probability level if the error is maxError.
type sequence struct {
	maxError, level float64
	// least is how many cases the first threshold must accept; all the cases where there are fewer, if whole. It is at least a share of all cases.
	least int
	share float64
	whole bool
}

// sequences are two, whose levels add up to that of the certificate. The first begins at the least count that can pass: all of
// them must be right, which takes a ranking that is nearly perfect at its top, and more cases don't help. What it leaves of the
// level goes to the second, which begins with so many that some may be wrong.
func sequences(o BandOptions) [2]sequence {
	level := 1 - o.Confidence
	least := int(math.Ceil(math.Log(level)/math.Log1p(-o.MaxError) - rounding))
	strict := sequence{maxError: o.MaxError, level: min(math.Pow(1-o.MaxError, float64(least))*(1+rounding), level), least: least}
	broad := sequence{maxError: o.MaxError, level: level - strict.level, share: broadShare, whole: true}
	broad.least = broad.powered()
	return [2]sequence{strict, broad}
}

const (
	// broadShare is the share of the cases with which the second sequence begins at least, so that with many cases an error
	// below the bound passes there.
	broadShare = 0.1
	// rounding of a product that is meant to be a whole number.
	rounding = 1e-6
	// mostTimes is how many times the docket is imagined to be repeated at most.
	mostTimes = 1000
)

// powered is about the least number of cases that pass with probability 0.8 when the error is half of maxError.
func (s *sequence) powered() int {
	const power, most = 0.8, 1_000_000
	return sort.Search(most, func(n int) bool {
		allowed := sort.Search(n, func(wrong int) bool { return s.p(float64(wrong), float64(n)) > s.level }) - 1
		return allowed >= 0 && binomialTail(float64(allowed), float64(n), s.maxError/2) >= power
	})
}

// allowed is how many of n answers may be wrong, given how many of fewer may be; -1 where none can pass.
func (s *sequence) allowed(known int, n float64) int {
	for float64(known+1) < n && s.p(float64(known+1), n) <= s.level {
		known++
	}
	return known
}

// p is the probability of so many wrong answers or fewer among n at an error of maxError.
func (s *sequence) p(wrong, n float64) float64 { return binomialTail(wrong, n, s.maxError) }

// begins gives the index in the grid of the first threshold that is tested if there were times as many cases; its length for none.
func (s *sequence) begins(grid []acceptance, times float64) int {
	all := 0.0
	if len(grid) > 0 {
		all = grid[len(grid)-1].independent * times
	}
	start := max(float64(s.least), s.share*all)
	if s.whole {
		start = min(start, all)
	}
	for i := range grid {
		if grid[i].independent*times >= start-rounding {
			return i
		}
	}
	return len(grid)
}

// tested are the thresholds of the sequence: the first, then each at which one more answer may be wrong, and the last. Only confidences and
// groups decide that, never which answers are right, so that it costs no correction.
func (s *sequence) tested(grid []acceptance) iter.Seq[acceptance] {
	return func(yield func(acceptance) bool) {
		last := -1
		for i := s.begins(grid, 1); i < len(grid); i++ {
			allowed := s.allowed(last, grid[i].independent)
			if (allowed > last || i == len(grid)-1 && allowed >= 0) && !yield(grid[i]) {
				return
			}
			last = allowed
		}
	}
}

// casesNeeded is the least number of cases that would certify a threshold, with confidences and shares of wrong answers like these;
// nil where a thousand times as many would not.
func casesNeeded(two [2]sequence, grid []acceptance, cases int) *int {
	if cases == 0 {
		return &two[0].least
	}
	// Of fewer cases than that the share of wrong ones tells little; then it is that of as many.
	enough := min(two[0].least, (cases+1)/2)
	share := 0.0
	for i := len(grid) - 1; i >= 0 && grid[i].accepted >= enough; i-- {
		share = float64(grid[i].wrong) / float64(grid[i].accepted)
	}
	passes := func(m int) bool {
		times := float64(m) / float64(cases)
		for _, s := range two {
			if i := s.begins(grid, times); i < len(grid) {
				wrong := share
				if c := &grid[i]; c.accepted >= enough {
					wrong = float64(c.wrong) / float64(c.accepted)
				}
				n := float64(grid[i].accepted) * grid[i].worth * times
				if s.p(wrong*n, n) <= s.level {
					return true
				}
			}
		}
		return false
	}
	low, high := cases, max(2*cases, two[0].least)
	for !passes(high) {
		if high > mostTimes*max(cases, two[0].least) {
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

// maxReport is the most bytes of a report that is read.
const maxReport = 64 << 20

// ReadBands reads the certified thresholds of a report, as `calibrate --bands --format json` writes it.
func ReadBands(in io.Reader) (*Bands, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxReport+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxReport {
		return nil, fmt.Errorf("the report has more than %d MiB", maxReport>>20)
	}
	var r struct {
		Format int    `json:"format"`
		Bands  *Bands `json:"bands"`
	}
	switch err := json.Unmarshal(data, &r); {
	case err != nil:
		return nil, fmt.Errorf("not a report of calibrate --format json: %w", err)
	case r.Format != ReportFormat:
		return nil, fmt.Errorf("format: %d is not %d, that of a report of calibrate --format json", r.Format, ReportFormat)
	case r.Bands == nil:
		return nil, errors.New("bands: missing: ask for them with calibrate --bands --format json")
	}
	return r.Bands, errors.Join(named("bands.light", r.Bands.Light.check()), named("bands.court", r.Bands.Court.check()))
}

func named(where string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", where, err)
	}
	return err
}

// check says what of a certificate [Certify] does not write.
func (c *Certificate) check() error {
	inside := func(v float64) bool { return v > 0 && v < 1 }
	switch {
	case !inside(c.MaxError) || !inside(c.Confidence):
		return errors.New("max_error and confidence must be between 0 and 1")
	case c.Threshold == nil:
		return nil
	case !(*c.Threshold >= 0 && *c.Threshold <= 1):
		return errors.New("threshold: outside of [0, 1]")
	case c.ErrorBound == nil || !(*c.ErrorBound >= 0 && *c.ErrorBound <= c.MaxError):
		return errors.New("error_bound: not within [0, max_error]: the threshold is not certified")
	case c.Accepted <= 0 || c.Accepted > c.Cases || c.Wrong < 0 || c.Wrong > c.Accepted:
		return errors.New("cases, accepted and wrong don't fit together")
	}
	return nil
}
