package main

import (
	"math"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// rhetoric is an opinion in its words.
type rhetoric struct {
	request    *abi.JudgeRequest
	statements []reading.Statement
	file       *reading.File
}

func newReading(r *abi.JudgeRequest) *rhetoric {
	return &rhetoric{request: r, statements: reading.Statements(r.Opinion.Text), file: reading.Open(r.Evidence)}
}

func (h *rhetoric) judge(criterion string) (abi.CriterionOpinion, bool) {
	switch criterion {
	case "evidence_support":
		return h.sources(), true
	case "transparency":
		return h.openness(), true
	case "even_handedness":
		return h.sides(), true
	case "calibration":
		return h.tone(), true
	default:
		return abi.CriterionOpinion{}, false
	}
}

// count is how many statements have one of the words.
func (h *rhetoric) count(words []string) int {
	n := 0
	for i := range h.statements {
		if reading.Says(&h.statements[i], words...) {
			n++
		}
	}
	return n
}

// sourced says whether a statement says where it comes from: it quotes, or
// names an item.
func (h *rhetoric) sourced(s *reading.Statement) bool {
	if len(s.Quotes) > 0 {
		return true
	}
	for i := range h.file.Items {
		if reading.Names(s.Text, h.file.Items[i].SourceRef) {
			return true
		}
	}
	return false
}

func (h *rhetoric) countSourced() int {
	n := 0
	for i := range h.statements {
		if h.sourced(&h.statements[i]) {
			n++
		}
	}
	return n
}

// sources scores the share of statements that say where they come from.
func (h *rhetoric) sources() abi.CriterionOpinion {
	n := h.countSourced()
	share := float64(n) / float64(max(1, len(h.statements)))
	return opinion(grade(share, 0.05, 0.2, 0.35, 0.5), 0.4,
		text.Int(n)+" of "+text.Count(len(h.statements), "statement")+" say where they come from.")
}

// openness scores which parts of an argument are there.
func (h *rhetoric) openness() abi.CriterionOpinion {
	parts := []struct {
		name  string
		there bool
	}{
		{"a conclusion", h.count(concluding) > 0},
		{"reasons", h.count(reasoning) > 0},
		{"sources", h.countSourced() > 0},
		{"what speaks against it", h.count(opposing) > 0},
		{"how sure it is", h.count(hedging) > 0 || h.count(certain) > 0 || h.states()},
	}
	score, lacks := 0, ""
	for _, part := range parts {
		switch {
		case part.there:
			score++
		case lacks == "":
			lacks = part.name
		default:
			lacks += ", " + part.name
		}
	}
	if lacks == "" {
		return opinion(score, 0.6, "It has a conclusion, reasons, sources, what speaks against it, and how sure it is.")
	}
	return opinion(max(1, score), 0.6, "It lacks "+lacks+".")
}

func (h *rhetoric) states() bool {
	_, ok := reading.Stated(&h.request.Opinion, h.statements)
	return ok
}

// sides scores whether two sides are heard, about as much, and answered.
func (h *rhetoric) sides() abi.CriterionOpinion {
	one, other, answers := h.count(accusing), h.count(defending), h.count(answering)
	heard := text.Int(one) + " statements speak of the one side, " + text.Int(other) + " of the other, " + text.Int(answers) + " answer"
	switch {
	case one == 0 && other == 0 && answers == 0:
		return opinion(2, 0.3, "No statement speaks of a side or answers one.")
	case one == 0 && other == 0:
		return opinion(3, 0.3, "It weighs for and against, without saying whose arguments they are.")
	}
	score := 1
	if one > 0 && other > 0 {
		score += 2
		if 3*min(one, other) >= max(one, other) {
			score++
		}
	}
	if answers > 0 {
		score++
	}
	return opinion(score, 0.65, heard+".")
}

// tone scores whether the words are as sure as the figure.
func (h *rhetoric) tone() abi.CriterionOpinion {
	stated, ok := reading.Stated(&h.request.Opinion, h.statements)
	if !ok {
		return opinion(2, 0.4, "It states no confidence that its words could be held against.")
	}
	sure, unsure := h.count(certain), h.count(hedging)
	tone := float64(sure+1) / float64(sure+unsure+2)
	return opinion(grade(1-math.Abs(tone-stated), 0.2, 0.4, 0.55, 0.7), 0.3,
		"It states "+text.Share(stated)+"; "+text.Int(sure)+" statements sound certain, "+text.Int(unsure)+" guarded.")
}

func opinion(score int, confidence float64, argument string) abi.CriterionOpinion {
	return abi.CriterionOpinion{NumericScore: score, RelevanceConfidence: confidence, Argument: argument, CitedEvidence: []string{}}
}

// grade gives 1 to 5: one more for each bound that x reaches.
func grade(x float64, bounds ...float64) int {
	score := 1
	for _, b := range bounds {
		if x >= b {
			score++
		}
	}
	return score
}
