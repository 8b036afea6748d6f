package render

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Summary counts what came of a docket.
type Summary struct {
	Cases int `json:"cases"`
	// Tried is how many went before the court.
	Tried    int                  `json:"tried"`
	ByStatus map[trial.Status]int `json:"by_status"`
	// ByCause counts the mistrials.
	ByCause map[trial.Cause]int `json:"by_cause"`
	// Truth compares with what is known of the right answers; nil when nothing is.
	Truth *TruthSummary `json:"truth"`
	// Audits of the verdicts' opinions; nil where none was asked for.
	Audits *AuditSummary `json:"audits,omitempty"`
	// Rules are those of the user; nil where there are none.
	Rules *RulesSummary `json:"rules,omitempty"`
	// Models is what language models were asked and took; nil where none was.
	Models *ModelSummary `json:"models,omitempty"`

	// NoExperiments says why no experiment could be run where some were wanted, OtherSource that the failures are hardly those of the
	// source; see [Summary.Unable].
	NoExperiments string `json:"no_experiments,omitempty"`
	OtherSource   string `json:"other_source,omitempty"`

	noExperiments, otherSource func() string
	legend                     legend
	// found counts what experiments found.
	found map[trial.Finding]int
	// failures are where mistrials came from, with the message of the first of each.
	failures map[failedAt]string
}

// failedAt is where and why trials failed.
type failedAt struct {
	cause         trial.Cause
	node, persona string
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

func (s *AuditSummary) add(a *trial.Audit) {
	s.MeanScore = (s.MeanScore*float64(s.Count) + a.GlobalScore) / float64(s.Count+1)
	s.Count++
	count(&s.SecurityViolations, a.SecurityViolationFound)
	count(&s.Degraded, slices.ContainsFunc(a.Results, func(r trial.AuditResult) bool { return r.Degraded }))
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
// metrics that hold up in an argument, with intervals and baselines, are package measure's.
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

// Unable takes what says, when all cases are tried, why experiments that were wanted could not be run, and that no failure belongs to
// the source; each empty where that is not so.
func (s *Summary) Unable(noExperiments, otherSource func() string) {
	s.noExperiments, s.otherSource = noExperiments, otherSource
}

func (s *Summary) finish() {
	if s.noExperiments != nil {
		s.NoExperiments, s.OtherSource = s.noExperiments(), s.otherSource()
	}
}

// NewSummary is empty, with every status at 0.
func NewSummary() *Summary {
	s := &Summary{
		ByStatus: make(map[trial.Status]int), ByCause: make(map[trial.Cause]int), found: make(map[trial.Finding]int),
		failures: make(map[failedAt]string), legend: legend{names: make(map[string]string), answers: make(map[string]int)},
	}
	for _, status := range trial.Statuses() {
		s.ByStatus[status] = 0
	}
	return s
}

// Add counts a trial.
func (s *Summary) Add(t *trial.Trial) {
	r := &t.Result
	s.Cases++
	s.legend.add(t)
	s.ByStatus[r.Final.Status]++
	if r.Final.Cause != "" {
		s.ByCause[r.Final.Cause]++
		s.failed(r)
	}
	if len(r.Experiments) > 0 {
		s.found[t.Conclusion().Finding]++
	}
	if r.Audit != nil {
		s.Audits = cmp.Or(s.Audits, &AuditSummary{})
		s.Audits.add(r.Audit)
	}
	if r.Rules != nil {
		s.Rules = cmp.Or(s.Rules, &RulesSummary{})
		s.Rules.add(r.Rules)
	}
	if len(r.Completions)+len(r.Fallbacks) > 0 {
		s.Models = cmp.Or(s.Models, &ModelSummary{})
		s.Models.add(r)
	}
	if !r.Activated {
		return
	}
	s.Tried++
	if t.Truth == nil {
		return
	}
	s.Truth = cmp.Or(s.Truth, &TruthSummary{})
	s.Truth.add(r, t.Truth, t.Compare())
}

func (s *Summary) failed(r *trial.Result) {
	at, message := failedAt{cause: r.Final.Cause}, ""
	if f := r.Error; f != nil {
		at.node, at.persona, message = f.Node, f.Persona, f.Message
	}
	if _, known := s.failures[at]; !known {
		s.failures[at] = message
	}
}

func (s *TruthSummary) add(r *trial.Result, truth *trial.Truth, c trial.Comparison) {
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

// decisionOf is the decision that a case ended with. It is a mistrial whatever the last verdict said, when the host ended it.
func decisionOf(r *trial.Result) abi.Decision {
	switch {
	case r.Final.Status == trial.Mistrial:
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
