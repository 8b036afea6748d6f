package measure

import (
	"fmt"
	"math"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// DefaultAlpha is the level of the test.
const DefaultAlpha = 0.05

// Finding says in a word what a comparison shows.
type Finding string

// The findings.
const (
	Better Finding = "better"
	Worse  Finding = "worse"
	// NotWorse: no difference is shown, which is no proof that there is none.
	NotWorse Finding = "not_worse"
)

// Pairs is McNemar's exact test of whether one of two courts is right more often.
type Pairs struct {
	P float64 `json:"p"` // two-sided
	// first and second are the pairs that speak for each: cases that only it has right, a group being one case.
	first, second int
}

// pairsOf tests the gaps of cases: 1 where only the second is right, -1 where only the first is.
func pairsOf(groups []string, gaps []int) Pairs {
	byCluster := map[int]int{}
	for i, cluster := range clustersOf(groups) {
		byCluster[cluster] += gaps[i]
	}
	p := Pairs{}
	for _, gap := range byCluster {
		switch {
		case gap < 0:
			p.first++
		case gap > 0:
			p.second++
		}
	}
	p.P = signTest(p.first, p.second)
	return p
}

// finding of the second against the first.
func (p *Pairs) finding(alpha float64) Finding {
	switch {
	case p.P >= alpha:
		return NotWorse
	case p.first > p.second:
		return Worse
	}
	return Better
}

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
	Pairs
}

// CandidateComparison sets a candidate court beside the court in force, over the cases that both tried: which verdicts flip,
// and, where the truth is known, whether the candidate is worse. It is not safe for concurrent use.
//
// A case is right when it ends with its true label; one that is left open is not. The cases that only one of the two has
// right are discordant, and McNemar's exact test says whether they fall on one side by more than chance. Cases of a group belong together
// and count as one pair, for the court that has more of them right.
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
	r.CourtMistrials += one(t.Result.Final.Status == trial.Mistrial)
	r.CandidateMistrials += one(other.Final.Status == trial.Mistrial)
	mark := Mark("")
	if compared.Known {
		if r.Truth == nil {
			r.Truth = &CandidateTruth{}
		}
		court, candidate := one(compared.CourtRight), one(compared.BesideRight)
		k := r.Truth
		k.Cases, k.CourtRight, k.CandidateRight = k.Cases+1, k.CourtRight+court, k.CandidateRight+candidate
		k.CourtOnly, k.CandidateOnly = k.CourtOnly+max(0, court-candidate), k.CandidateOnly+max(0, candidate-court)
		c.groups, c.gaps = append(c.groups, t.Case.Group), append(c.gaps, candidate-court)
		switch mark = StillWrong; {
		case compared.BesideRight:
			mark = ToRight
		case compared.CourtRight:
			mark = FromRight
		}
	}
	if compared.BesideFlips {
		r.Flips = append(r.Flips, Flip{render.NewBesideJSON(shown), mark})
	}
}

// Report tests what was gathered, and judges it.
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
	t.Pairs = pairsOf(c.groups, c.gaps)
	t.CourtPairs, t.CandidatePairs = t.first, t.second
	what := "pairs"
	if t.CourtPairs+t.CandidatePairs != t.CourtOnly+t.CandidateOnly {
		what = "pairs, each a group of cases,"
	}
	pairs := fmt.Sprintf("of %d discordant %s %d for the court, %d for the candidate: p = %.3g", t.CourtPairs+t.CandidatePairs, what, t.CourtPairs, t.CandidatePairs, t.P)
	switch r.Finding = t.finding(r.Alpha); r.Finding {
	case Worse:
		r.Why = append(r.Why, "right less often: "+pairs)
	case Better:
		r.Why = append(r.Why, "right more often: "+pairs)
	case NotWorse:
		r.Why = append(r.Why, "no difference is shown: "+pairs)
		if least := leastPairs(r.Alpha); t.CourtPairs+t.CandidatePairs < least {
			r.Why = append(r.Why, fmt.Sprintf("fewer than %d pairs show nothing at a level of %g, wherever they fall", least, r.Alpha))
		}
	}
}

// leastPairs is the smallest number of pairs that the exact test finds anything in: 2/2^n < alpha.
func leastPairs(alpha float64) int { return int(math.Floor(1-math.Log2(alpha))) + 1 }
