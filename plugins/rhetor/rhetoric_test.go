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
		"The log says \"belt 4 stopped\", and 900 parcels were waiting.":       2,
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

func TestMetadataThatContradictTheTextBoundTheTone(t *testing.T) {
	t.Parallel()
	for stated, want := range map[string]int{"0.9": 2, "0.5": 5} {
		opinions, failure := score(&abi.JudgeRequest{
			Judge: "j", Criteria: []abi.Criterion{{CriterionID: "calibration"}},
			Opinion: abi.JudicialOpinion{Text: "We conclude that, with a confidence of 0.5.", Metadata: map[string]string{"confidence": stated}},
		})
		if failure != nil || opinions[0].NumericScore != want {
			t.Errorf("%s: %+v %+v", stated, opinions, failure)
		}
	}
}

func TestAssertionsAreNoReasonToBeSure(t *testing.T) {
	t.Parallel()
	loud := scoresOf(t, "Obviously the belt was rotten. Everybody knows that. It was definitely the foreman. Our confidence is 0.98.")["calibration"]
	if loud > 2 {
		t.Errorf("%d", loud)
	}
}

func TestSidesInPlainWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"For the charge: the belt was old. Against it: the parcels were heavy. The defense's weak point is the clock.",
		"Dafür spricht, dass das Band alt war. Dagegen spricht jedoch, dass die Pakete schwer waren und die Waage nicht ging.",
		"L'accusation dit que la bande est vieille. La défense répond que les colis sont lourds, mais la balance ne marche pas.",
		"La acusación dice que la cinta es vieja. La defensa responde que los paquetes son pesados, pero la balanza no funciona.",
	} {
		if got := scoresOf(t, text)["even_handedness"]; got < 4 {
			t.Errorf("%q: %d", text, got)
		}
	}
	unread := scoresOf(t, "ベルトが止まったので、荷物が待っていた。しかし、秤は壊れていた。")
	if unread["transparency"] != 3 || unread["even_handedness"] != 3 {
		t.Errorf("%v", unread)
	}
}
