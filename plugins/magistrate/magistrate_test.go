package main

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// disputed is a proceeding about the charge a, with a quoted item for a and one for b.
func disputed(forA, forB float64) *abi.NodeRequest {
	return &abi.NodeRequest{
		Family: abi.FamilyVerdict, Prompt: "Judge.",
		Case: abi.CaseView{Labels: []string{"a", "b", "c"}, Light: &abi.LightAnswer{Classification: "a", Confidence: 0.6}},
		Indictment: &abi.Indictment{ChargedDefectType: "a", Evidence: []abi.IndictmentItem{
			{SourceRef: "p", Content: "the words of p", Supports: "a"}, {SourceRef: "q", Content: "the words of q", Supports: "b"},
		}},
		Exhibits: []abi.Exhibit{
			{EvidenceIndex: 0, Quote: abi.QuoteStands, RelevanceConfidence: forA}, {EvidenceIndex: 1, Quote: abi.QuoteStands, RelevanceConfidence: forB},
		},
		Discovery:    &abi.Discovery{Findings: []abi.Finding{{Document: "log", Quote: "it is b", Supports: "b", Strength: 1, Source: "model:reader"}}},
		DefenseBrief: &abi.DefenseBrief{},
		Hearing:      &abi.HearingRecord{MaxRounds: 3, Converged: true, Rounds: []abi.HearingRound{{Round: 1}}},
		Models:       []abi.ModelOffer{{Model: "judge", ContextTokens: 8000, AnswerTokens: 500}},
	}
}

// The model decides between open labels, by quoted evidence that no model chose.
func TestWhatTheModelDecides(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		forA, forB float64
		answer     string
		decision   abi.Decision
		final      string
		says       string
	}{
		{"another open label", 0.7, 0.83, `{"label":"b","acquit":false,"items":[1],"findings":[],"reasoning":"q is plain"}`, abi.Amend, "b", "the model decides for b"},
		{"the evidence's own label", 0.7, 0.83, `{"label":"a","acquit":false,"items":[0],"findings":[],"reasoning":"p is plain"}`, abi.Affirm, "a", "p is plain"},
		{"an acquittal", 0.7, 0.83, `{"label":"a","acquit":true,"items":[],"findings":[],"reasoning":"who knows"}`, abi.Acquit, "", "who knows"},
		{"without evidence", 0.7, 0.83, `{"label":"b","acquit":false,"items":[],"findings":[],"reasoning":"I am sure"}`, abi.Acquit, "", "cites no quoted evidence"},
		{"by an item for another label", 0.7, 0.83, `{"label":"b","acquit":false,"items":[0,7],"findings":[],"reasoning":"I am sure"}`, abi.Acquit, "", "cites no quoted evidence"},
		{"by a line that a model chose", 0.7, 0.83, `{"label":"b","acquit":false,"items":[],"findings":[0,9],"reasoning":"I am sure"}`, abi.Acquit, "", "cites no quoted evidence"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := disputed(tc.forA, tc.forB)
			c := magistrate.Ask(r)
			if c == nil {
				labels, scale := open(r)
				t.Fatalf("nothing is asked: open are %v of %v", labels, scale.Posterior)
			}
			r.Completions = []abi.CompletionResult{{Model: c.Model, Outcome: abi.CompletionAnswered, Answers: []string{tc.answer}}}
			a, failure := magistrate.Play(r)
			if failure != nil {
				t.Fatal(failure)
			}
			if v := a.Verdict; v.Decision != tc.decision || v.FinalClassification != tc.final || !strings.Contains(v.Reasoning, tc.says) || v.Confidence > 0.95 {
				t.Errorf("%+v", v)
			}
		})
	}
}

// No model is asked to choose a label of the environment, or one that is less likely than it, where the failure did not come back.
func TestAccept_FZ3_NoModelDecidesForTheEnvironment(t *testing.T) {
	t.Parallel()
	for label, asked := range map[string]bool{"a": false, "b": false, "c": true} {
		r := disputed(0.7, 0.83)
		r.Params = []abi.Param{{Name: "environment_labels", Text: &label}}
		r.Case.Experiments = []abi.ExperimentResult{{
			Experiment: abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}, Outcome: abi.OutcomePassed, Passed: 5,
		}}
		if got := magistrate.Ask(r) != nil; got != asked {
			t.Errorf("where %s is the environment's: asked is %v", label, got)
		}
	}
}

// Where the evidence decides, no model is asked.
func TestAClearCaseIsNotAsked(t *testing.T) {
	t.Parallel()
	r := disputed(0.95, 0.1)
	r.Discovery = nil
	if c := magistrate.Ask(r); c != nil {
		t.Errorf("asked %+v", c)
	}
	r = disputed(0.75, 0.6) // b is open, and a is decided
	if c := magistrate.Ask(r); c != nil {
		t.Errorf("asked %+v", c)
	}
	r = disputed(0.7, 0.83)
	r.Hearing = nil // no verdict is possible
	if c := magistrate.Ask(r); c != nil {
		t.Errorf("asked %+v", c)
	}
}

// The majority of the samples decides.
func TestSamplesVote(t *testing.T) {
	t.Parallel()
	r := disputed(0.7, 0.83)
	answer := func(label string) string {
		return `{"label":"` + label + `","acquit":false,"items":[0,1],"findings":[],"reasoning":"it is ` + label + `"}`
	}
	r.Completions = []abi.CompletionResult{{Model: "judge", Outcome: abi.CompletionAnswered, Answers: []string{answer("a"), answer("b"), answer("b")}}}
	a, failure := magistrate.Play(r)
	if failure != nil || a.Verdict.FinalClassification != "b" || !strings.Contains(a.Verdict.Reasoning, "it is b") {
		t.Errorf("%+v %+v", a, failure)
	}
}
