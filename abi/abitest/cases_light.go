package abitest

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// light makes a request of the Light path; one in three comes back from the
// court, and then its first items are those of the indictment.
func (s *source) light(r *abi.NodeRequest, view *abi.CaseView) {
	r.Persona = s.persona("weaver", abi.Air, "light", "light")
	r.Case = abi.CaseView{Subject: view.Subject, Labels: view.Labels, Evidence: view.Evidence, Documents: view.Documents}
	r.File = s.file(view)
	if s.kind == plain || !s.chance(3) {
		return
	}
	r.Case.Light = view.Light
	items := len(view.Evidence)
	f := &abi.RemandFeedback{Challenged: []abi.ChallengedItem{}, Questions: []abi.Question{}}
	for range min(items, s.rnd.IntN(4)) {
		f.Challenged = append(f.Challenged, abi.ChallengedItem{EvidenceIndex: s.rnd.IntN(items), Why: "doubtful: " + s.line()})
	}
	for _, id := range []string{"q1", "q2", "größe"}[:s.rnd.IntN(4)] {
		f.Questions = append(f.Questions, abi.Question{ID: id, Question: "what else is known? " + s.line()})
	}
	if s.chance(2) {
		f.AlternativeHypothesis = &abi.AlternativeHypothesis{Label: pick(s, view.Labels...), Reasoning: s.line(), Support: []int{}}
	}
	r.File.Feedback = f
}

// file is what the Light path gathered; any of it may be absent.
func (s *source) file(view *abi.CaseView) *abi.LightFile {
	there := func() bool { return s.kind == plain || s.chance(2) }
	f := &abi.LightFile{LoopsLeft: s.rnd.IntN(3)}
	if there() {
		f.Recall = &abi.RecallResult{Match: s.chance(2), PriorCase: "earlier", Classification: s.label(view.Labels), Confidence: s.figure(), Reasoning: s.line()}
	}
	if there() {
		f.Triage = s.triage(view)
	}
	if there() {
		f.Resolve = &abi.ResolveResult{Selected: []abi.SelectedComponent{{Name: "a/b", FocusPaths: []string{"a/b/c.go:3"}, Reason: s.line()}}}
	}
	if there() {
		f.Investigate = s.investigation(view)
	}
	if there() {
		f.Correlate = &abi.CorrelateResult{IsDuplicate: s.chance(2), LinkedCase: "earlier", Classification: s.label(view.Labels), Confidence: s.figure()}
	}
	if there() {
		f.Review = &abi.ReviewDecision{Decision: pick(s, abi.Approve, abi.Reassess, abi.Overturn), Confidence: s.figure()}
	}
	return f
}

func (s *source) triage(view *abi.CaseView) *abi.TriageResult {
	return &abi.TriageResult{
		SymptomCategory: pick(s, abi.SymptomProduct, abi.SymptomAutomation, abi.SymptomInfrastructure, abi.SymptomFlake, abi.SymptomUnknown),
		Severity:        pick(s, abi.GapHigh, abi.GapMedium, abi.GapLow), ClassificationHypothesis: s.label(view.Labels), Candidates: []string{"a/b"},
	}
}

func (s *source) investigation(view *abi.CaseView) *abi.InvestigateArtifact {
	a := &abi.InvestigateArtifact{Summary: s.line(), Classification: s.label(view.Labels), ConvergenceScore: s.figure(), Evidence: []abi.Evidence{}}
	for range s.rnd.IntN(4) {
		a.Evidence = append(a.Evidence, s.evidence(view.Labels))
	}
	return a
}

// experimentsOf are those that the cases have.
var experimentsOf = []abi.Experiment{ //nolint:gochecknoglobals // a constant
	{Product: abi.Head, Tests: abi.Head, Environment: abi.CleanEnvironment, Order: abi.Alone, Runs: 1},
	{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5},
	{Product: abi.Base, Tests: abi.Base, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 2},
	{Product: abi.Base, Tests: abi.Head, Environment: abi.StarvedEnvironment, Order: abi.OriginalOrder, Runs: 3},
}

// offer puts experiments into a request: some that were run, others on offer, and a model of what they tell. Half of the requests have
// none, as where nothing is granted.
func (s *source) offer(r *abi.NodeRequest) {
	if s.chance(2) {
		return
	}
	var known []Passing
	for _, e := range experimentsOf {
		switch {
		case s.kind != plain && s.chance(4):
			r.Case.Experiments = append(r.Case.Experiments, s.result(e))
		case s.kind == plain || s.chance(2):
			r.Offers = append(r.Offers, abi.ExperimentOffer{Experiment: e, Seconds: 100 * s.figure()})
		}
		if r.Profile != nil && s.chance(2) {
			rates := Passing{Of: e}
			for range r.Case.Labels {
				rates.Given = append(rates.Given, s.figure())
			}
			known = append(known, rates)
		}
	}
	if known != nil {
		r.Profile.Outcomes = Outcomes(r.Case.Labels, known...)
	}
}

func outcomes() []abi.ExperimentOutcome {
	return []abi.ExperimentOutcome{abi.OutcomePassed, abi.OutcomeSame, abi.OutcomeMixed, abi.OutcomeOther, abi.OutcomeNotBuilt, abi.OutcomeNoTest}
}

func (s *source) result(e abi.Experiment) abi.ExperimentResult {
	return resultOf(e, pick(s, append(outcomes(), abi.OutcomeNotRun)...))
}

// resultOf is a result with counts that fit the outcome.
func resultOf(e abi.Experiment, o abi.ExperimentOutcome) abi.ExperimentResult {
	r := abi.ExperimentResult{Experiment: e, Outcome: o}
	switch o {
	case abi.OutcomePassed:
		r.Passed = e.Runs
	case abi.OutcomeSame:
		r.Same = e.Runs
	case abi.OutcomeOther:
		r.Other, r.Detail = e.Runs, "another failure"
	case abi.OutcomeMixed:
		r.Passed, r.Same = 1, 1
	case abi.OutcomeNotBuilt, abi.OutcomeNotRun:
		r.Detail = "it could not be"
	case abi.OutcomeNoTest:
	}
	return r
}

// ran is the request that a host makes after an experiment: with its result, and without its offer.
func (r *Request) ran(e *abi.Experiment) *Request {
	n, c := *r.Node, *r
	list := outcomes()
	o := list[len(n.Offers)%len(list)]
	if e.Runs == 1 && o == abi.OutcomeMixed {
		o = abi.OutcomePassed
	}
	n.Case.Experiments = append(slices.Clone(n.Case.Experiments), resultOf(*e, o))
	n.Offers = slices.DeleteFunc(slices.Clone(n.Offers), func(o abi.ExperimentOffer) bool { return o.Experiment == *e })
	c.Node, c.Name = &n, r.Name+", after "+e.String()
	return &c
}
