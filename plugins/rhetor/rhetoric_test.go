package main

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

const full = "The prosecution relies on the log, because it says \"the disk is full\". " +
	"The defense answers that the quota was small. However, nothing proves that. We therefore dismiss the charge; it is likely wrong, with a confidence of 0.6."

func scoresOf(t *testing.T, text string) map[string]int {
	t.Helper()
	r := &abi.JudgeRequest{Judge: "j", Opinion: abi.JudicialOpinion{Text: text}}
	for _, id := range []string{"evidence_support", "transparency", "even_handedness", "calibration"} {
		r.Criteria = append(r.Criteria, abi.Criterion{CriterionID: id})
	}
	opinions, failure := score(r)
	if failure != nil {
		t.Fatal(failure)
	}
	by := map[string]int{}
	for _, o := range opinions {
		by[o.CriterionID] = o.NumericScore
	}
	return by
}

func TestAnArgumentScoresMoreThanAnAssertion(t *testing.T) {
	t.Parallel()
	argued, bare := scoresOf(t, full), scoresOf(t, "It was the disk. It always is.")
	for _, id := range []string{"transparency", "even_handedness", "evidence_support", "calibration"} {
		if argued[id] <= bare[id] {
			t.Errorf("%s: %d argued, %d bare", id, argued[id], bare[id])
		}
	}
	if argued["transparency"] != 5 || argued["even_handedness"] != 5 {
		t.Errorf("%v", argued)
	}
}

func TestCertainWordsDontFitALowFigure(t *testing.T) {
	t.Parallel()
	loud := scoresOf(t, "It is certainly so. It is proven. It is clearly so. Our confidence is 0.2.")["calibration"]
	calm := scoresOf(t, "It may be so. It seems so. It is possibly so. Our confidence is 0.2.")["calibration"]
	if loud >= calm {
		t.Errorf("%d loud, %d calm", loud, calm)
	}
}

// A source that is none is worse than none at all.
func TestAMadeUpQuotationIsNoSource(t *testing.T) {
	t.Parallel()
	evidence := []abi.Evidence{{SourceRef: "depot.log:L2", Content: "belt 4 stopped: 1250 parcels waiting"}}
	for text, want := range map[string]int{
		"The log says \"belt 4 stopped\".":                                     5,
		"According to depot.log the belt stopped.":                             5,
		"According to the depot log the belt stopped.":                         5,
		"Line 2 of depot.log says so.":                                         5,
		"The log says \"belt 4 stopped\" and \"the roof fell in\".":            1,
		"The belt stopped. The parcels were late. The shift leader was tired.": 1,
		"The log says \"belt 4 stopped\", and 1250 parcels were waiting.":      5,
	} {
		opinions, failure := score(&abi.JudgeRequest{
			Judge: "j", Opinion: abi.JudicialOpinion{Text: text}, Criteria: []abi.Criterion{{CriterionID: "evidence_support"}}, Evidence: evidence,
		})
		if failure != nil || opinions[0].NumericScore != want {
			t.Errorf("%q: %+v %+v", text, opinions, failure)
		}
	}
}

func TestAnAcquittalForWantOfEvidenceNeedsNoSource(t *testing.T) {
	t.Parallel()
	for decision, want := range map[string]int{"acquit": 3, "affirm": 1} {
		opinions, failure := score(&abi.JudgeRequest{
			Judge: "j", Criteria: []abi.Criterion{{CriterionID: "evidence_support"}},
			Opinion: abi.JudicialOpinion{Text: "The court acquits.", Metadata: map[string]string{"decision": decision}},
		})
		if failure != nil || opinions[0].NumericScore != want {
			t.Errorf("%s: %+v %+v", decision, opinions, failure)
		}
	}
}
