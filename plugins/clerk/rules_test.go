package main

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

func indictment(confidence float64) *abi.Artifact {
	return &abi.Artifact{Indictment: &abi.Indictment{ChargedDefectType: "a", Confidence: confidence}}
}

func hearing(rounds, most int, converged bool) *abi.Artifact {
	return &abi.Artifact{Hearing: &abi.HearingRecord{Rounds: make([]abi.HearingRound, rounds), MaxRounds: most, Converged: converged}}
}

func briefArtifact(b abi.DefenseBrief) *abi.Artifact { return &abi.Artifact{DefenseBrief: &b} }

func verdict(d abi.Decision) *abi.Artifact { return &abi.Artifact{Verdict: &abi.Verdict{Decision: d}} }

func TestRules(t *testing.T) {
	t.Parallel()
	half := 0.5
	for _, tc := range []struct {
		name      string
		evaluator string
		artifact  *abi.Artifact
		params    []abi.Param
		remands   int
		limits    abi.Limits
		fires     bool
		why       string
	}{
		{name: "HD1 at the bound", evaluator: "HD1", artifact: indictment(0.95), fires: true, why: "prosecution confidence 0.95 reaches 0.95"},
		{name: "HD1 just below", evaluator: "HD1", artifact: indictment(0.9499), why: "prosecution confidence 0.9499 is below 0.95"},
		{name: "HD1 with a lower bound", evaluator: "HD1", artifact: indictment(0.5), params: []abi.Param{{Name: "min_confidence", Number: &half}}, fires: true},
		{name: "HD1 without its artifact", evaluator: "HD1", why: "there is no indictment"},
		{name: "HD2 concedes", evaluator: "HD2", artifact: briefArtifact(abi.DefenseBrief{PleaDeal: true}), fires: true},
		{name: "HD2 fights", evaluator: "HD2", artifact: briefArtifact(abi.DefenseBrief{})},
		{name: "HD3 moves", evaluator: "HD3", artifact: briefArtifact(abi.DefenseBrief{MotionToDismiss: true}), fires: true},
		{name: "HD3 does not", evaluator: "HD3", artifact: briefArtifact(abi.DefenseBrief{PleaDeal: true})},
		{name: "HD4 holds", evaluator: "HD4", artifact: briefArtifact(abi.DefenseBrief{AlternativeHypothesis: &abi.AlternativeHypothesis{Label: "b"}}), fires: true, why: "the defense proposes b in place of the charge"},
		{name: "HD4 does not", evaluator: "HD4", artifact: briefArtifact(abi.DefenseBrief{})},
		{name: "HD5 last round", evaluator: "HD5", artifact: hearing(3, 3, false), fires: true, why: "round 3 of 3 was the last"},
		{name: "HD5 converged", evaluator: "HD5", artifact: hearing(2, 3, true), fires: true, why: "round 2 of 3 brought nothing new"},
		{name: "HD5 goes on", evaluator: "HD5", artifact: hearing(2, 3, false)},
		{name: "HD6", evaluator: "HD6", artifact: verdict(abi.Affirm), fires: true, why: "the verdict is affirm"},
		{name: "HD6 amend", evaluator: "HD6", artifact: verdict(abi.Amend), why: "the verdict is amend"},
		{name: "HD7", evaluator: "HD7", artifact: verdict(abi.Amend), fires: true},
		{name: "HD8 with one left", evaluator: "HD8", artifact: verdict(abi.Remand), remands: 1, fires: true, why: "1 of 2 remands used"},
		{name: "HD8 with none left", evaluator: "HD8", artifact: verdict(abi.Remand), remands: 2, why: "all remands are used: 2 of 2 remands"},
		{name: "HD8 affirm", evaluator: "HD8", artifact: verdict(abi.Affirm)},
		{name: "HD9", evaluator: "HD9", artifact: verdict(abi.Acquit), fires: true},
		{name: "HD10", evaluator: "HD10", limits: abi.Limits{TTLExceeded: true}, fires: true},
		{name: "HD10 in time", evaluator: "HD10"},
		{name: "HD11 at the last allowed", evaluator: "HD11", limits: abi.Limits{Handoffs: 24, MaxHandoffs: 24}, why: "handoff 24 is within 24"},
		{name: "HD11 beyond", evaluator: "HD11", limits: abi.Limits{Handoffs: 25, MaxHandoffs: 24}, fires: true},
		{name: "HD12", evaluator: "HD12", artifact: verdict(abi.Mistrial), fires: true},
		{name: "always", evaluator: "always", fires: true},
		{name: "never", evaluator: "never"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			answers, failure := answer(&abi.EdgeRequest{
				Questions: []abi.EdgeQuestion{{ID: "e", Evaluator: tc.evaluator, Params: tc.params}},
				Artifact:  tc.artifact, Remands: tc.remands, MaxRemands: 2, Limits: tc.limits,
			})
			if failure != nil || len(answers) != 1 || answers[0].ID != "e" {
				t.Fatalf("answers %v, failure %v", answers, failure)
			}
			if answers[0].Fires != tc.fires {
				t.Errorf("fires = %v (%s), want %v", answers[0].Fires, answers[0].Why, tc.fires)
			}
			if answers[0].Why == "" || (tc.why != "" && answers[0].Why != tc.why) {
				t.Errorf("why = %q, want %q", answers[0].Why, tc.why)
			}
		})
	}
}

func TestAnyEdgeSeesOnlyLimits(t *testing.T) {
	t.Parallel()
	answers, failure := answer(&abi.EdgeRequest{
		Questions: []abi.EdgeQuestion{{ID: "own", Evaluator: "HD12"}, {ID: "any", Evaluator: "HD12", Any: true}},
		Artifact:  verdict(abi.Mistrial),
	})
	if failure != nil || !answers[0].Fires || answers[1].Fires {
		t.Errorf("answers %v, failure %v: an edge from _any looked at the artifact", answers, failure)
	}
}

func TestUnknownEvaluatorFailsTheCall(t *testing.T) {
	t.Parallel()
	answers, failure := answer(&abi.EdgeRequest{
		Questions: []abi.EdgeQuestion{{ID: "HD1", Evaluator: "HD1"}, {ID: "x", Evaluator: "HD13"}},
	})
	if failure == nil || len(answers) != 0 || !strings.Contains(failure.Message, `"HD13"`) {
		t.Errorf("answers %v, failure %v", answers, failure)
	}
}
