package anytrial

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Light makes a request for a node of the Light path, with all that the host
// shows at such a node; one in three comes back from the court.
func (s *Source) Light(family abi.Family) *abi.NodeRequest {
	r := &abi.NodeRequest{
		Node: "node", Family: family,
		Persona: abi.Persona{Name: "self", Element: abi.Air, Alignment: "light"},
		Case:    s.caseView(),
		Profile: s.profile(),
		Params:  s.roles(),
	}
	s.experiment(r)
	r.Case.Light = nil
	for i := range r.Case.Documents {
		r.Case.Documents[i].Text += s.log()
	}
	f := &abi.LightFile{LoopsLeft: s.rnd.IntN(3)}
	r.File = f
	labels := r.Case.Labels
	if s.chance(2) {
		f.Recall = &abi.RecallResult{Match: s.chance(2), PriorCase: "earlier", Classification: s.label(labels), Confidence: s.figure()}
	}
	if s.chance(2) {
		f.Triage = &abi.TriageResult{SymptomCategory: abi.SymptomProduct, Severity: abi.GapLow, ClassificationHypothesis: s.label(labels), Candidates: []string{}}
	}
	if s.chance(3) {
		f.Resolve = &abi.ResolveResult{Selected: []abi.SelectedComponent{{Name: "a/b", FocusPaths: []string{"a/b/c.go:3"}}}}
	}
	if s.chance(2) {
		f.Investigate = &abi.InvestigateArtifact{Summary: s.pick("", "On remand: "), Classification: s.label(labels), ConvergenceScore: s.figure(), Evidence: s.someEvidence(r)}
	}
	if s.chance(3) {
		f.Correlate = &abi.CorrelateResult{IsDuplicate: s.chance(2), LinkedCase: s.pick("", "earlier", "other"), Classification: s.label(labels), Confidence: s.figure()}
	}
	if s.chance(3) {
		s.comeBack(r)
	}
	return r
}

func (s *Source) someEvidence(r *abi.NodeRequest) []abi.Evidence {
	out := []abi.Evidence{}
	for i := range r.Case.Evidence {
		if s.chance(2) {
			out = append(out, r.Case.Evidence[i])
		}
	}
	return out
}

// comeBack gives the request the court's feedback.
func (s *Source) comeBack(r *abi.NodeRequest) {
	r.Case.Light = &abi.LightAnswer{Classification: s.pick(r.Case.Labels...), Confidence: s.figure()}
	feedback := &abi.RemandFeedback{Challenged: []abi.ChallengedItem{}, Questions: []abi.Question{}}
	for range s.rnd.IntN(4) {
		feedback.Challenged = append(feedback.Challenged, abi.ChallengedItem{EvidenceIndex: s.rnd.IntN(10), Why: "is doubtful"})
	}
	for _, id := range []string{"q1", "q2", "q3"}[:s.rnd.IntN(4)] {
		feedback.Questions = append(feedback.Questions, abi.Question{ID: id, Question: "What tells " + s.pick(r.Case.Labels...) + " from " + s.pick("test", "log:1", "größe", s.line()) + "?"})
	}
	r.File.Feedback = feedback
}

func (s *Source) roles() []abi.Param {
	var out []abi.Param
	for _, name := range []string{"product", "automation", "infrastructure", "flake"} {
		if label := s.pick("disk_full", "network_timeout", "test", "x17", "nowhere"); !s.chance(4) {
			out = append(out, abi.Param{Name: name, Text: &label})
		}
	}
	return out
}

// log makes lines such as test runs print, whole and broken.
func (s *Source) log() string {
	var b strings.Builder
	for range s.rnd.IntN(30) {
		b.WriteString(s.pick(
			"--- FAIL: TestTotal (0.00s)", "    cart_test.go:12: got 1, want 2", "        Error: Not equal:", "panic: disk full", "./a/cart.go:3:4: undefined: x",
			"\t/src/a/cart.go:12 +0x1d", "a.Total(...)", "goroutine 7 [running]:", "", "  File \"x.py\", line 3, in y", "\tat a.B(B.java:7)",
			"Traceback (most recent call last):", "x.go:", "x.go:99999999999999", ".go:1", "größe.go:3: ö", strings.Repeat("long ", 300), s.line(),
		))
		b.WriteString(s.pick("\n", "\n", "\n", "\r\n", "\n\n"))
	}
	return b.String()
}

// PriorCases are what a casebook may answer.
func (s *Source) PriorCases(labels []string) []abi.PriorCase {
	var out []abi.PriorCase
	for range s.rnd.IntN(4) {
		out = append(out, abi.PriorCase{
			CaseID: s.pick("earlier", "other"), Classification: s.pick(append([]string{"", "nowhere"}, labels...)...),
			Status: s.pick("affirmed", "amended", "fixed"), Confidence: s.figure(), Similarity: s.figure(), Seen: 1 + s.rnd.IntN(3),
			Confirmed: s.chance(3), Absent: s.rnd.IntN(2),
		})
	}
	return out
}

// SourceAnswer is what a source may answer.
func (s *Source) SourceAnswer() abi.SourceAnswer {
	a := abi.SourceAnswer{
		Known: !s.chance(3), Diff: s.chance(2), Located: s.chance(2), Frames: []abi.SourceFrame{}, Changed: []abi.ChangedFile{},
		Tests: []abi.FailingTest{}, Intent: []abi.SourceIntent{},
	}
	if !a.Known {
		return a
	}
	reaches := []string{
		string(abi.ReachPackage), string(abi.ReachImported), string(abi.ReachDependencies), string(abi.ReachNone), string(abi.ReachUnknown),
	}
	kinds := []string{string(abi.SourceProduct), string(abi.SourceTest), string(abi.SourceFixture), string(abi.SourceOther)}
	for range s.rnd.IntN(4) {
		a.Frames = append(a.Frames, abi.SourceFrame{
			Path: s.pick("a/cart.go", "cart_test.go", "B.java"), Line: s.rnd.IntN(20), Kind: abi.SourceKind(s.pick(kinds...)),
			Function: s.pick("", "Total"), Changed: s.chance(2), ChangedNear: s.chance(2), Excerpt: s.content(),
		})
	}
	for range s.rnd.IntN(3) {
		a.Changed = append(a.Changed, abi.ChangedFile{
			Path: s.pick("a/cart.go", "b.go"), Kind: abi.SourceKind(s.pick(kinds...)), Added: s.rnd.IntN(9), Removed: s.rnd.IntN(9),
			Reach: abi.SourceReach(s.pick(reaches...)), Distance: s.rnd.IntN(3), Named: []string{s.pick("Total", "TestTotal")},
			Code: !s.chance(3), Hunk: s.hunk(),
		})
	}
	for range s.rnd.IntN(3) {
		a.Tests = append(a.Tests, abi.FailingTest{Name: "TestTotal", Path: "cart_test.go", New: s.chance(3), Changed: s.chance(2)})
	}
	intents := []string{string(abi.IntentValue), string(abi.IntentTests), string(abi.IntentExpectation), string(abi.IntentDocuments), string(abi.IntentMessage)}
	for range s.rnd.IntN(3) {
		if h := s.hunk(); h != nil {
			a.Intent = append(a.Intent, abi.SourceIntent{
				Kind: abi.IntentKind(s.pick(intents...)), Path: s.pick("", "a/cart.go"), Hunk: *h, Names: []string{s.pick("Total", "3")},
			})
		}
	}
	return a
}

func (s *Source) hunk() *abi.SourceHunk {
	if s.chance(3) {
		return nil
	}
	return &abi.SourceHunk{Line: s.rnd.IntN(20), Text: s.pick("+\treturn 2", "-\treturn 1\n+\treturn 2"), Commit: s.pick("", "8c1f3a0d2b4e"), Author: s.pick("", "Zoë")}
}
