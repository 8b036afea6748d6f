package calibrate

import (
	"iter"
	"math"
	"sort"
)

// sequence tests thresholds from strict to loose, each at the full level, until one fails. A threshold passes where so few
// wrong answers have at most the probability level if the error is maxError.
type sequence struct {
	maxError, level float64
	// least is how many cases the first threshold must accept; all the cases where there are fewer, if whole. It is at least
	// a share of all cases.
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

// begins gives the index in the grid of the first threshold that is tested if there were times as many cases; its length for
// none.
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
