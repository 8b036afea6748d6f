package main

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// rhetoric is an opinion in its words.
type rhetoric struct {
	request    *abi.JudgeRequest
	statements []reading.Statement
	file       *reading.File
	language   string
	claims     []reading.Support
	madeUp     []string // quotations that stand nowhere
	sourced    []bool   // by statement: it says where it comes from, and there is such a place
}

func newReading(r *abi.JudgeRequest) *rhetoric {
	h := &rhetoric{request: r, statements: reading.Statements(r.Opinion.Text), file: reading.Open(r.Evidence)}
	h.claims = h.file.Supports(h.statements, h.file.Labels(&r.Opinion))
	h.language = reading.Language(h.statements)
	looked := reading.LookedUp(h.statements)
	h.sourced = make([]bool, len(h.statements))
	for i := range h.statements {
		h.sourced[i] = h.source(&h.statements[i], looked)
	}
	return h
}

// unread says whether the language of the opinion is none of which the words are known.
func (h *rhetoric) unread() bool { return h.language == reading.Unread }

// words of the language; of a text that is too short to tell its language those of English.
func (h *rhetoric) words(by byLanguage) []string {
	if list, ok := by[h.language]; ok {
		return list
	}
	return by[reading.English]
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
func (h *rhetoric) count(by byLanguage) int {
	n, words := 0, h.words(by)
	for i := range h.statements {
		if reading.Says(&h.statements[i], words...) {
			n++
		}
	}
	return n
}

// source says whether a statement says where it comes from: it quotes what is
// there, or names an item, a line or a document.
func (h *rhetoric) source(s *reading.Statement, looked map[string]bool) bool {
	made := false
	quotes := false
	for i := range s.Quotations {
		q := &s.Quotations[i]
		switch {
		case len(h.file.Items) == 0 || !looked[q.Key()] || len(h.file.Quoted(q)) > 0:
			quotes = true
		case !q.Name:
			made = true
			h.madeUp = append(h.madeUp, q.Text)
		}
	}
	if made || quotes {
		return !made
	}
	lines := s.References(h.file.Documents)
	for i := range h.file.Items {
		if h.file.Items[i].Named(s, lines) {
			return true
		}
	}
	// A line that is not there is no source, and the document is none beside it.
	return len(lines) == 0 && slices.ContainsFunc(h.file.Documents, s.NamesDocument)
}

// countSourced is how many statements say where they come from, each once.
func (h *rhetoric) countSourced() (sourced, all int) {
	for i := range h.statements {
		if h.repeated(i) {
			continue
		}
		all++
		if h.sourced[i] {
			sourced++
		}
	}
	return sourced, all
}

// repeated says whether a statement before says the same.
func (h *rhetoric) repeated(i int) bool {
	for k := range i {
		if h.statements[i].Repeats(&h.statements[k]) {
			return true
		}
	}
	return false
}

// sources scores the share of statements that say where they come from. One whose
// quotation stands nowhere doesn't, and bounds the score, as does a figure that its
// source has otherwise; where there is no evidence nothing shows that a source is one.
func (h *rhetoric) sources() abi.CriterionOpinion {
	if len(h.claims) == 0 && h.file.AcquitsForWant(&h.request.Opinion) {
		return opinion(3, 0.3, "There is no evidence, and the opinion acquits and claims nothing that would need a source.")
	}
	n, all := h.countSourced()
	score := grade(float64(n)/float64(max(1, all)), 0.05, 0.2, 0.35, 0.5)
	argument := text.Of(n, all, "statement", "says where it comes from", "say where they come from") + "."
	const madeUp, unseen, contradicted = 1, 2, 2
	if differs := h.differs(); len(differs) > 0 {
		score = min(score, contradicted)
		argument += " " + text.Count(len(differs), "claim") + text.Agree(len(differs), " has a figure", " have figures") + " that the evidence has otherwise: " + differs[0] +
			text.Agree(len(differs), ".", " and others.")
	}
	switch made := len(h.madeUp); {
	case made > 0:
		score = min(score, madeUp)
		argument += " " + text.Count(made, "quotation") + text.Agree(made, " stands", " stand") + " nowhere in the evidence: \"" + reading.Snippet(h.madeUp[0]) + "\"" +
			text.Agree(made, ".", " and others.")
	case n > 0 && len(h.file.Items) == 0:
		score = min(score, unseen)
		argument += " There is no evidence that shows it."
	}
	return opinion(score, 0.4, argument)
}

// differs are figures that the evidence has otherwise, one of each such claim.
func (h *rhetoric) differs() []string {
	var list []string
	for i := range h.claims {
		if figure := h.claims[i].Differs; figure != "" {
			list = append(list, figure)
		}
	}
	return list
}

// openness scores which parts of an argument are there.
func (h *rhetoric) openness() abi.CriterionOpinion {
	if h.unread() {
		return unread()
	}
	sourced, _ := h.countSourced()
	parts := []struct {
		name  string
		there bool
	}{
		{"a conclusion", h.count(concluding) > 0},
		{"reasons", h.count(reasoning) > 0},
		{"sources", sourced > 0},
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

func (h *rhetoric) states() bool { return reading.Stated(&h.request.Opinion, h.statements).Stated }

// sides scores whether two sides are heard, about as much, and answered.
func (h *rhetoric) sides() abi.CriterionOpinion {
	if h.unread() {
		return unread()
	}
	one, other, answers := h.count(accusing), h.count(defending), h.count(answering)
	heard := text.Count(one, "statement") + text.Agree(one, " speaks", " speak") + " of the one side, " + text.Int(other) + " of the other, " +
		text.Int(answers) + text.Agree(answers, " answers", " answer")
	switch {
	case one == 0 && other == 0 && answers == 0:
		return opinion(2, 0.3, "No statement speaks of a side or answers one.")
	case one == 0 && other == 0:
		return opinion(3, 0.3, "It weighs for and against, and does not name whose arguments they are.")
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

// tone scores whether the words are as sure as the figure, and whether they
// assert where they should show: each statement that sounds certain and says not where
// it comes from is a point less, up to two.
func (h *rhetoric) tone() abi.CriterionOpinion {
	stated := reading.Stated(&h.request.Opinion, h.statements)
	switch {
	case !stated.Stated:
		return opinion(2, 0.4, "It states no confidence to compare its wording with.")
	case h.unread():
		return unread()
	}
	sure, unsure, asserts := h.count(certain), h.count(hedging), 0
	words := h.words(certain)
	for i := range h.statements {
		if !h.sourced[i] && reading.Says(&h.statements[i], words...) {
			asserts++
		}
	}
	tone := float64(sure+1) / float64(sure+unsure+2)
	score := grade(1-math.Abs(tone-stated.Value), 0.2, 0.4, 0.55, 0.7)
	argument := "It states " + text.Share(stated.Value) + "; " + text.Count(sure, "statement") + text.Agree(sure, " sounds", " sound") + " certain, " +
		text.Int(unsure) + " guarded"
	const emphatic, most, contradicted = 0.9, 2, 2
	if stated.Otherwise != nil {
		score = min(score, contradicted)
		argument += "; its text states " + text.Share(*stated.Otherwise)
	}
	if sourced, _ := h.countSourced(); stated.Value >= emphatic && sourced == 0 {
		score = min(score, most)
		argument += ", and none says where it comes from"
	}
	if asserts > 0 {
		score = max(1, score-min(asserts, 2))
		argument += "; " + text.Int(asserts) + text.Agree(asserts, " asserts", " assert") + " without a source"
	}
	return opinion(score, 0.3, argument+".")
}

// unread is what is said of an opinion in a language whose words are not known.
func unread() abi.CriterionOpinion {
	return opinion(3, 0.1, "The language of the opinion isn't read: nothing can be said of its words.")
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
