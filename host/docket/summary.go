package docket

import (
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Summary counts what came of a docket. The zero value is ready for Add.
type Summary struct {
	Cases int `json:"cases"`
	// Tried is how many went before the court.
	Tried    int            `json:"tried"`
	ByStatus map[Status]int `json:"by_status"`
	// ByCause counts the mistrials.
	ByCause map[Cause]int `json:"by_cause"`
	// Truth compares with what is known of the right answers; nil when nothing is.
	Truth *TruthSummary `json:"truth"`
	// Audits of the verdicts' opinions; nil where none was asked for.
	Audits *AuditSummary `json:"audits,omitempty"`

	legend legend
}

// AuditSummary counts the audits of a docket.
type AuditSummary struct {
	Count int `json:"count"`
	// MeanScore is the mean of the global scores, in [0, 5].
	MeanScore float64 `json:"mean_score"`
	// SecurityViolations and Degraded are how many have a result of that kind.
	SecurityViolations int `json:"security_violations"`
	Degraded           int `json:"degraded"`
}

func (s *AuditSummary) add(a *Audit) {
	s.MeanScore = (s.MeanScore*float64(s.Count) + a.GlobalScore) / float64(s.Count+1)
	s.Count++
	count(&s.SecurityViolations, a.SecurityViolationFound)
	count(&s.Degraded, slices.ContainsFunc(a.Results, func(r AuditResult) bool { return r.Degraded }))
}

func (s *AuditSummary) line() string {
	text := plural(s.Count, "opinion", "opinions") + ", mean score " + strconv.FormatFloat(s.MeanScore, 'f', 2, 64)
	if s.SecurityViolations > 0 {
		text += ", " + plural(s.SecurityViolations, "security violation", "security violations")
	}
	if s.Degraded > 0 {
		text += ", " + strconv.Itoa(s.Degraded) + " degraded"
	}
	return text
}

// TruthSummary compares Light and the court over the cases that were tried and whose right classification is known. The
// metrics that hold up in an argument, with intervals and baselines, are package calibrate's.
type TruthSummary struct {
	// Known is how many tried cases have a known classification.
	Known int `json:"known"`
	// LightRight and CourtRight are how many of them each had right. A case that the court left open is not right.
	LightRight int `json:"light_right"`
	CourtRight int `json:"court_right"`
	// Flips are the cases in which the court named another label than Light.
	Flips        int `json:"flips"`
	FlipsToRight int `json:"flips_to_right"`
	FlipsToWrong int `json:"flips_to_wrong"`
	// Open are acquittals and mistrials; OpenLightWrong of them saved Light from a wrong answer.
	Open           int `json:"open"`
	OpenLightWrong int `json:"open_light_wrong"`
	// Expected is how many tried cases have an expected verdict, AsExpected how many got it.
	Expected   int `json:"expected"`
	AsExpected int `json:"as_expected"`
}

// NewSummary is empty, with every status at 0.
func NewSummary() *Summary {
	s := &Summary{ByStatus: make(map[Status]int), ByCause: make(map[Cause]int)}
	for _, status := range Statuses() {
		s.ByStatus[status] = 0
	}
	return s
}

// Add counts a trial.
func (s *Summary) Add(t *Trial) {
	r := &t.Result
	s.Cases++
	s.legend.add(t)
	s.ByStatus[r.Final.Status]++
	if r.Final.Cause != "" {
		s.ByCause[r.Final.Cause]++
	}
	if r.Audit != nil {
		if s.Audits == nil {
			s.Audits = &AuditSummary{}
		}
		s.Audits.add(r.Audit)
	}
	if !r.Activated {
		return
	}
	s.Tried++
	if t.Truth == nil {
		return
	}
	if s.Truth == nil {
		s.Truth = &TruthSummary{}
	}
	s.Truth.add(r, t.Truth, t.Compare())
}

func (s *TruthSummary) add(r *Result, truth *Truth, c Comparison) {
	if truth.ExpectedVerdict != "" {
		s.Expected++
		if decisionOf(r) == truth.ExpectedVerdict {
			s.AsExpected++
		}
	}
	if !c.Known {
		return
	}
	s.Known++
	count(&s.LightRight, c.LightRight)
	count(&s.CourtRight, c.CourtRight)
	switch {
	case r.Final.Classification == "":
		s.Open++
		count(&s.OpenLightWrong, !c.LightRight)
	case c.Flipped:
		s.Flips++
		count(&s.FlipsToRight, c.CourtRight)
		count(&s.FlipsToWrong, c.LightRight)
	}
}

// Comparison says how the answers of a trial relate, without naming them: redaction may make different labels equal.
type Comparison struct {
	// Known: the right classification is known.
	Known bool
	// LightRight: Light's first answer is right; CourtRight: the final one is.
	LightRight, CourtRight bool
	// Flipped: the court named another label than Light's first answer.
	Flipped bool
	// BesideFlips: the candidate court, where one took part, ended the case with another status or another label.
	// BesideRight: its label is right.
	BesideFlips, BesideRight bool
}

// Compare relates the answers of a trial.
func (t *Trial) Compare() Comparison {
	if t.Compared != nil {
		return *t.Compared
	}
	r := &t.Result
	var c Comparison
	final := r.Final.Classification
	c.Flipped = r.Activated && r.Light != nil && final != "" && final != r.Light.Classification
	if t.Truth != nil && t.Truth.Classification != "" {
		c.Known = true
		c.LightRight = r.Light != nil && r.Light.Classification == t.Truth.Classification
		c.CourtRight = final == t.Truth.Classification
		c.BesideRight = t.Beside != nil && t.Beside.Result.Final.Classification == t.Truth.Classification
	}
	if t.Beside != nil {
		other := t.Beside.Result.Final
		c.BesideFlips = other.Status != r.Final.Status || other.Classification != final
	}
	return c
}

// decisionOf is the decision that a case ended with. It is a mistrial whatever the last verdict said, when the host
// ended it.
func decisionOf(r *Result) abi.Decision {
	switch {
	case r.Final.Status == Mistrial:
		return abi.Mistrial
	case r.Verdict != nil:
		return r.Verdict.Decision
	}
	return ""
}

func count(into *int, yes bool) {
	if yes {
		*into++
	}
}
