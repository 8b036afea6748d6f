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

func TestOneSideAloneIsUneven(t *testing.T) {
	t.Parallel()
	one := scoresOf(t, "The prosecution is right. The charge stands. The prosecutor proved it.")["even_handedness"]
	if both := scoresOf(t, full)["even_handedness"]; one >= both {
		t.Errorf("%d for one side, %d for both", one, both)
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
