package abitest

import "github.com/shadowcourt/shadowcourt/abi"

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
