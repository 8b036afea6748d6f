package calibrate

import (
	"fmt"
	"math"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// DefaultAlpha is the level of the test.
const DefaultAlpha = 0.05

// Tests by which P came about.
const (
	ExactTest     = "exact"
	ChiSquareTest = "chi_square"
)

// CandidateReport is what came of a comparison.
type CandidateReport struct {
	// Cases of the docket, and how many of them both courts tried: of the others the end is the same.
	Cases int `json:"cases"`
	Tried int `json:"tried"`
	// Flips end with another status or another label, and are listed in docket order.
	Flips []Flip `json:"flips"`
	// Mistrials of each court.
	CourtMistrials     int `json:"court_mistrials"`
	CandidateMistrials int `json:"candidate_mistrials"`
	// Truth is nil when no case states it.
	Truth   *CandidateTruth `json:"truth"`
	Alpha   float64         `json:"alpha"`
	Finding Finding         `json:"finding"`
	// Why are the reasons, in sentences.
	Why []string `json:"why"`
}

// Flip is a case that the candidate ends otherwise, with both results.
type Flip struct {
	*render.BesideJSON
	// Mark says what became of the answer; empty without truth.
	Mark Mark `json:"mark,omitempty"`
}

// Mark says what a flip did to a known answer.
type Mark string

// The marks.
const (
	ToRight    Mark = "to_right"
	FromRight  Mark = "from_right"
	StillWrong Mark = "still_wrong"
)

// CandidateTruth is the comparison over the cases whose right label is known.
type CandidateTruth struct {
	Cases          int `json:"cases"`
	CourtRight     int `json:"court_right"`
	CandidateRight int `json:"candidate_right"`
	// CourtOnly and CandidateOnly are the cases that only one of the two has right.
	CourtOnly     int `json:"court_only"`
	CandidateOnly int `json:"candidate_only"`
	// CourtPairs and CandidatePairs are what the test counts: as the two before, but a group is one pair.
	CourtPairs     int `json:"court_pairs"`
	CandidatePairs int `json:"candidate_pairs"`
	// Test is exact or chi_square, with the statistic of the latter (0 for the former); P is two-sided.
	Test      string  `json:"test"`
	Statistic float64 `json:"statistic"`
	P         float64 `json:"p"`
}

// CandidateComparison gathers trials. It is not safe for concurrent use.
type CandidateComparison struct {
	report CandidateReport
	groups []string
	gaps   []int // the candidate's right answers less the court's
}

// NewCandidateComparison makes an empty comparison with a test at the level alpha, in (0, 1).
func NewCandidateComparison(alpha float64) *CandidateComparison {
	return &CandidateComparison{report: CandidateReport{Alpha: alpha, Flips: []Flip{}, Why: []string{}}}
}

// Add takes a trial. shown is what of it may be shown: the trial itself, or a redacted copy. A trial that no candidate
// took part in ended the same for both.
func (c *CandidateComparison) Add(t, shown *trial.Trial) {
	r := &c.report
	r.Cases++
	compared, other := t.Compare(), &t.Result
	if t.Beside == nil {
		compared.BesideRight = compared.CourtRight
	} else {
		r.Tried++
		other = &t.Beside.Result
	}
	countMistrial(&r.CourtMistrials, &t.Result)
	countMistrial(&r.CandidateMistrials, other)
	if compared.Known {
		c.know(t.Case.Group, compared.CourtRight, compared.BesideRight)
	}
	if compared.BesideFlips {
		r.Flips = append(r.Flips, Flip{render.NewBesideJSON(shown), markOf(&compared)})
	}
}

func countMistrial(into *int, r *trial.Result) {
	if r.Final.Status == trial.Mistrial {
		*into++
	}
}

// know takes a case whose right label is known.
func (c *CandidateComparison) know(group string, court, candidate bool) {
	if c.report.Truth == nil {
		c.report.Truth = &CandidateTruth{}
	}
	t := c.report.Truth
	t.Cases++
	gap := 0
	if court {
		t.CourtRight++
		gap--
	}
	if candidate {
		t.CandidateRight++
		gap++
	}
	switch gap {
	case -1:
		t.CourtOnly++
	case 1:
		t.CandidateOnly++
	}
	c.groups, c.gaps = append(c.groups, group), append(c.gaps, gap)
}

func markOf(c *trial.Comparison) Mark {
	switch {
	case !c.Known:
		return ""
	case c.BesideRight:
		return ToRight
	case c.CourtRight:
		return FromRight
	}
	return StillWrong
}

// CandidateReport tests what was gathered, and judges it.
func (c *CandidateComparison) Report() *CandidateReport {
	r := c.report
	r.Finding, r.Why = NotWorse, []string{}
	if r.Truth == nil {
		r.Why = append(r.Why, "no case states its truth, so that only mistrials count")
	} else {
		truth := *r.Truth
		r.Truth = &truth
		c.test(&r)
	}
	if r.CandidateMistrials > r.CourtMistrials {
		r.Finding = Worse
		r.Why = append([]string{fmt.Sprintf("%d mistrials, the court in force has %d", r.CandidateMistrials, r.CourtMistrials)}, r.Why...)
	}
	return &r
}

// test counts the pairs, and finds what they show.
func (c *CandidateComparison) test(r *CandidateReport) {
	t := r.Truth
	byCluster := map[int]int{}
	for i, cluster := range clustersOf(c.groups) {
		byCluster[cluster] += c.gaps[i]
	}
	for _, gap := range byCluster {
		switch {
		case gap < 0:
			t.CourtPairs++
		case gap > 0:
			t.CandidatePairs++
		}
	}
	result := mcNemar(t.CourtPairs, t.CandidatePairs)
	t.Test, t.Statistic, t.P = ChiSquareTest, result.Statistic, result.P
	if result.Exact {
		t.Test = ExactTest
	}
	what := "pairs"
	if t.CourtPairs+t.CandidatePairs != t.CourtOnly+t.CandidateOnly {
		what = "pairs, each a group of cases,"
	}
	pairs := fmt.Sprintf("of %d discordant %s %d for the court, %d for the candidate: p = %.3g", t.CourtPairs+t.CandidatePairs, what, t.CourtPairs, t.CandidatePairs, t.P)
	switch {
	case t.P < r.Alpha && t.CourtPairs > t.CandidatePairs:
		r.Finding = Worse
		r.Why = append(r.Why, "right less often: "+pairs)
	case t.P < r.Alpha:
		r.Finding = Better
		r.Why = append(r.Why, "right more often: "+pairs)
	default:
		r.Why = append(r.Why, "no difference is shown: "+pairs)
		if least := leastPairs(r.Alpha); t.CourtPairs+t.CandidatePairs < least {
			r.Why = append(r.Why, fmt.Sprintf("fewer than %d pairs show nothing at a level of %g, wherever they fall", least, r.Alpha))
		}
	}
}

// leastPairs is the smallest number of pairs that the exact test finds anything in: 2/2^n < alpha.
func leastPairs(alpha float64) int { return int(math.Floor(1-math.Log2(alpha))) + 1 }
