package main

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
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

func recalledArtifact(match bool, confidence float64) *abi.Artifact {
	return &abi.Artifact{Recall: &abi.RecallResult{Match: match, Confidence: confidence}}
}

func triagedArtifact(v abi.TriageResult) *abi.Artifact { return &abi.Artifact{Triage: &v} }

func investigatedArtifact(convergence float64, items int) *abi.Artifact {
	return &abi.Artifact{Investigate: &abi.InvestigateArtifact{ConvergenceScore: convergence, Evidence: make([]abi.Evidence, items)}}
}

func correlatedArtifact(duplicate bool, confidence float64) *abi.Artifact {
	return &abi.Artifact{Correlate: &abi.CorrelateResult{IsDuplicate: duplicate, Confidence: confidence}}
}

func review(d abi.ReviewOutcome) *abi.Artifact {
	return &abi.Artifact{Review: &abi.ReviewDecision{Decision: d}}
}

// Of the edges of a node the first that fires, in the order of the graph, is the one that the table names.
func TestLightEdges(t *testing.T) {
	t.Parallel()
	recall := []string{"H1", "H3", "H2"}
	triage := []string{"H4", "H5", "H18", "H7", "H6"}
	investigate := []string{"H9", "H10a", "H10", "H11"}
	correlate := []string{"H15", "H15b"}
	reviewing := []string{"H12", "H13", "H14"}
	product := abi.SymptomProduct
	for _, tc := range []struct {
		name     string
		edges    []string
		artifact *abi.Artifact
		loops    int
		fires    string
	}{
		{"a hit at the bound", recall, recalledArtifact(true, 0.80), 2, "H1"},
		{"just below the hit", recall, recalledArtifact(true, 0.7999), 2, "H3"},
		{"uncertain at the bound", recall, recalledArtifact(true, 0.40), 2, "H3"},
		{"just below the uncertain", recall, recalledArtifact(true, 0.3999), 2, "H2"},
		{"no match, whatever its confidence", recall, recalledArtifact(false, 0.95), 2, "H2"},
		{"infrastructure", triage, triagedArtifact(abi.TriageResult{SymptomCategory: abi.SymptomInfrastructure, SkipInvestigation: true}), 2, "H4"},
		{"flake", triage, triagedArtifact(abi.TriageResult{SymptomCategory: abi.SymptomFlake, Candidates: []string{"a"}}), 2, "H5"},
		{"asked for", triage, triagedArtifact(abi.TriageResult{SymptomCategory: product, SkipInvestigation: true, Candidates: []string{"a"}}), 2, "H18"},
		{"one candidate", triage, triagedArtifact(abi.TriageResult{SymptomCategory: product, Candidates: []string{"a"}}), 2, "H7"},
		{"two candidates", triage, triagedArtifact(abi.TriageResult{SymptomCategory: product, Candidates: []string{"a", "b"}}), 2, "H6"},
		{"no candidate", triage, triagedArtifact(abi.TriageResult{SymptomCategory: abi.SymptomUnknown}), 2, "H6"},
		{"resolved", []string{"H8"}, &abi.Artifact{Resolve: &abi.ResolveResult{}}, 2, "H8"},
		{"converged at the bound", investigate, investigatedArtifact(0.70, 3), 0, "H9"},
		{"converged without evidence", investigate, investigatedArtifact(0.9, 0), 2, "H9"},
		{"no evidence", investigate, investigatedArtifact(0.6999, 0), 2, "H10a"},
		{"no evidence and no loops", investigate, investigatedArtifact(0.2, 0), 0, "H10a"},
		{"loops left", investigate, investigatedArtifact(0.6999, 1), 1, "H10"},
		{"no loops left", investigate, investigatedArtifact(0.6999, 1), 0, "H11"},
		{"a duplicate at the bound", correlate, correlatedArtifact(true, 0.80), 0, "H15"},
		{"a doubtful duplicate", correlate, correlatedArtifact(true, 0.7999), 0, "H15b"},
		{"no duplicate", correlate, correlatedArtifact(false, 0.9), 0, "H15b"},
		{"approve", reviewing, review(abi.Approve), 2, "H12"},
		{"reassess", reviewing, review(abi.Reassess), 1, "H13"},
		{"reassess without loops", reviewing, review(abi.Reassess), 0, ""},
		{"overturn", reviewing, review(abi.Overturn), 0, "H14"},
		{"reported", []string{"H16"}, &abi.Artifact{Report: &abi.LightReport{Classification: "a"}}, 0, "H16"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			check.Equal(t, first(t, tc.edges, tc.artifact, tc.loops), tc.fires, "fires")
			check.Equal(t, first(t, tc.edges, nil, tc.loops), "", "fires without its artifact")
		})
	}
}

// first gives the first edge that fires.
func first(t *testing.T, edges []string, a *abi.Artifact, loops int) string {
	t.Helper()
	r := &abi.EdgeRequest{Artifact: a, LoopsLeft: loops}
	for _, id := range edges {
		r.Questions = append(r.Questions, abi.EdgeQuestion{ID: id, Evaluator: id})
	}
	answers, failure := answer(r)
	if failure != nil || len(answers) != len(edges) {
		t.Fatalf("answers %v, failure %v", answers, failure)
	}
	fires := ""
	for i := range answers {
		if answers[i].Why == "" {
			t.Errorf("%s gives no reason", answers[i].ID)
		}
		if answers[i].Fires && fires == "" {
			fires = answers[i].ID
		}
	}
	return fires
}

// The edges that stand for "otherwise" exclude the others by themselves, so that the order of a file decides nothing.
func TestOtherwiseIsTheRest(t *testing.T) {
	t.Parallel()
	for _, a := range []*abi.Artifact{
		triagedArtifact(abi.TriageResult{SymptomCategory: abi.SymptomInfrastructure}), triagedArtifact(abi.TriageResult{SymptomCategory: abi.SymptomFlake}),
		triagedArtifact(abi.TriageResult{SkipInvestigation: true}), triagedArtifact(abi.TriageResult{Candidates: []string{"a"}}),
	} {
		check.Equal(t, first(t, []string{"H6"}, a, 0), "", "H6 fires beside another edge of", a.Triage)
	}
	check.Equal(t, first(t, []string{"H15b"}, correlatedArtifact(true, 0.9), 0), "", "H15b fires beside H15")
}

func TestThresholdsComeFromTheGraph(t *testing.T) {
	t.Parallel()
	half := 0.5
	for _, tc := range []struct {
		edge, param string
		artifact    *abi.Artifact
	}{
		{"H1", "min_confidence", recalledArtifact(true, 0.6)},
		{"H2", "min_confidence", recalledArtifact(true, 0.45)},
		{"H3", "min_confidence", recalledArtifact(true, 0.6)},
		{"H9", "min_convergence", investigatedArtifact(0.6, 1)},
		{"H15", "min_confidence", correlatedArtifact(true, 0.6)},
	} {
		answers, failure := answer(&abi.EdgeRequest{Artifact: tc.artifact, Questions: []abi.EdgeQuestion{
			{ID: "e", Evaluator: tc.edge, Params: []abi.Param{{Name: tc.param, Number: &half}}},
		}})
		if failure != nil || !answers[0].Fires {
			t.Errorf("%s: %v, failure %+v", tc.edge, answers, failure)
		}
		if _, failure := answer(&abi.EdgeRequest{Artifact: tc.artifact, Questions: []abi.EdgeQuestion{
			{ID: "e", Evaluator: tc.edge, Params: []abi.Param{{Name: "min_nonsense", Number: &half}}},
		}}); failure == nil {
			t.Errorf("%s takes a parameter that it doesn't know", tc.edge)
		}
	}
}
