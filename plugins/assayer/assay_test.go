package main

import (
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

func ask(t *testing.T, r *abi.JudgeRequest) map[string]abi.CriterionOpinion {
	t.Helper()
	opinions, failure := score(r)
	if failure != nil {
		t.Fatal(failure)
	}
	by := map[string]abi.CriterionOpinion{}
	for _, o := range opinions {
		by[o.CriterionID] = o
	}
	return by
}

func TestClaimsThatRestOnWhatStandsScoreMost(t *testing.T) {
	t.Parallel()
	r := request()
	r.Opinion.Text = "The log says \"quota exceeded for volume data-7\", before anything else."
	best := ask(t, r)["evidence_support"]
	r.Opinion.Text = "The operator reports that nothing was deployed this week."
	witness := ask(t, r)["evidence_support"]
	r.Opinion.Text = "The item log:L9 was made up, somebody says."
	absent := ask(t, r)["evidence_support"]
	r.Opinion.Text = "Martians tampered with every single disk yesterday."
	loose := ask(t, r)["evidence_support"]
	if best.NumericScore != 5 || witness.NumericScore != 3 || absent.NumericScore != 1 || loose.NumericScore != 1 {
		t.Errorf("%d, %d, %d, %d", best.NumericScore, witness.NumericScore, absent.NumericScore, loose.NumericScore)
	}
	if !slices.Equal(best.CitedEvidence, []string{"log:L2"}) || len(absent.CitedEvidence) > 0 {
		t.Errorf("cites %v and %v", best.CitedEvidence, absent.CitedEvidence)
	}
}

func TestSilenceAboutASideIsUneven(t *testing.T) {
	t.Parallel()
	r := request()
	r.Opinion.Text = "The log says \"quota exceeded for volume data-7\"."
	one := ask(t, r)["even_handedness"].NumericScore
	r.Opinion.Text += " The graph, by which \"usage rises by 2 GB an hour\", speaks for a leak, the operator for the load."
	if all := ask(t, r)["even_handedness"].NumericScore; one >= all || all != 5 {
		t.Errorf("%d with one of three sides, %d with all", one, all)
	}
}

func TestAConfidenceIsHeldAgainstTheEvidence(t *testing.T) {
	t.Parallel()
	r := request()
	scoreOf := func(confidence string) int {
		r.Opinion.Metadata = map[string]string{"confidence": confidence, "final_classification": "quota"}
		return ask(t, r)["calibration"].NumericScore
	}
	if near, far := scoreOf("0.4"), scoreOf("0.99"); near != 5 || far >= 3 {
		t.Errorf("%d near what is borne out, %d far from it", near, far)
	}
	r.Opinion.Metadata, r.Opinion.Text = nil, "The log says \"quota exceeded for volume data-7\"."
	if none := ask(t, r)["calibration"].NumericScore; none != 2 {
		t.Errorf("%d without any", none)
	}
}

func TestWhatTheAssayerCantJudge(t *testing.T) {
	t.Parallel()
	r := request()
	r.Criteria = []abi.Criterion{{CriterionID: "beauty"}}
	if _, failure := score(r); failure == nil || failure.Code != unknownCriterion {
		t.Errorf("%+v", failure)
	}
	r = request()
	r.Params = []abi.Param{{Name: "strictness", Number: new(1.0)}}
	if _, failure := score(r); failure == nil {
		t.Error("an unknown parameter went unnoticed")
	}
	empty := ask(t, &abi.JudgeRequest{Judge: "j", Opinion: abi.JudicialOpinion{Text: "."}, Criteria: request().Criteria})
	if len(empty) != 3 {
		t.Errorf("%+v", empty)
	}
}
