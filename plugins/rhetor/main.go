// Command rhetor is a judge of an audit: it reads how an opinion argues.
package main

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/judge"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

func init() { judge.Handle(score) }

func main() {}

func score(r *abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure) {
	return reading.Judge("the rhetor", r, func(r *abi.JudgeRequest) func(string) (abi.CriterionOpinion, bool) { return newRhetoric(r).judge })
}

// rhetoric is an opinion in its words.
type rhetoric struct {
	request      *abi.JudgeRequest
	statements   []reading.Statement
	file         *reading.File
	sourced, all int      // statements that say where they come from, and all, each once
	madeUp       []string // quotations that stand nowhere
}

func newRhetoric(r *abi.JudgeRequest) *rhetoric {
	h := &rhetoric{request: r, statements: reading.Statements(r.Opinion.Text), file: reading.Open(r.Evidence)}
	looked := reading.LookedUp(h.statements)
	for i := range h.statements {
		s := &h.statements[i]
		if slices.ContainsFunc(h.statements[:i], func(before reading.Statement) bool { return s.Repeats(&before) }) {
			continue
		}
		h.all++
		if h.source(s, looked) {
			h.sourced++
		}
	}
	return h
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

// source says whether a statement says where it comes from: it quotes what is there and nothing that is not, or names an item, a line or a
// document. A line that is not there is no source, and the document is none beside it. Where there is no evidence nothing shows that a
// quotation is made up.
func (h *rhetoric) source(s *reading.Statement, looked map[string]bool) bool {
	quotes, made := false, false
	for i := range s.Quotations {
		q := &s.Quotations[i]
		switch {
		case len(h.file.Items) == 0 || !looked[q.Key] || len(h.file.Quoted(q)) > 0:
			quotes = true
		case !q.Name:
			made, h.madeUp = true, append(h.madeUp, q.Text)
		}
	}
	if made {
		return false
	}
	lines := s.References(h.file.Documents)
	return quotes || len(h.file.Named(s, lines)) > 0 || len(lines) == 0 && slices.ContainsFunc(h.file.Documents, s.NamesDocument)
}

// sources scores the share of statements that say where they come from. A quotation that stands nowhere bounds the score.
func (h *rhetoric) sources() abi.CriterionOpinion {
	if h.sourced == 0 && h.file.AcquitsForWant(&h.request.Opinion) {
		return opinion(3, 0.3, "There is no evidence, and the opinion acquits and claims nothing that would need a source.")
	}
	score := reading.Grade(float64(h.sourced)/float64(max(1, h.all)), 0.05, 0.2, 0.35, 0.5)
	argument := text.Of(h.sourced, h.all, "statement", "says where it comes from", "say where they come from") + "."
	if made := len(h.madeUp); made > 0 {
		score = 1
		argument += " " + text.Count(made, "quotation") + text.Agree(made, " stands", " stand") + " nowhere in the evidence, the first \"" + reading.Snippet(h.madeUp[0]) + "\"."
	}
	return opinion(score, 0.4, argument)
}

// openness scores which parts of an argument are there.
func (h *rhetoric) openness() abi.CriterionOpinion {
	_, states := reading.Stated(&h.request.Opinion, h.statements)
	score, lacks := 0, ""
	for _, part := range []struct {
		name  string
		there bool
	}{
		{"a conclusion", h.count(concluding) > 0},
		{"reasons", h.count(reasoning) > 0},
		{"sources", h.sourced > 0},
		{"what speaks against it", h.count(opposing) > 0},
		{"how sure it is", states || h.count(hedging) > 0 || h.count(certain) > 0},
	} {
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

// sides scores whether two sides are heard, about as much, and answered.
func (h *rhetoric) sides() abi.CriterionOpinion {
	one, other, answers := h.count(accusing), h.count(defending), h.count(answering)
	switch {
	case one+other+answers == 0:
		return opinion(2, 0.3, "No statement speaks of a side or answers one.")
	case one+other == 0:
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
	return opinion(score, 0.65, text.Count(one, "statement")+text.Agree(one, " speaks", " speak")+" of the one side, "+text.Int(other)+" of the other, "+
		text.Int(answers)+text.Agree(answers, " answers", " answer")+".")
}

// tone scores whether the words are as sure as the figure.
func (h *rhetoric) tone() abi.CriterionOpinion {
	stated, ok := reading.Stated(&h.request.Opinion, h.statements)
	if !ok {
		return opinion(2, 0.4, "It states no confidence to compare its wording with.")
	}
	sure, unsure := h.count(certain), h.count(hedging)
	tone := float64(sure+1) / float64(sure+unsure+2)
	score := reading.Grade(1-math.Abs(tone-stated), 0.2, 0.4, 0.55, 0.7)
	argument := "It states " + text.Share(stated) + "; " + text.Count(sure, "statement") + text.Agree(sure, " sounds", " sound") + " certain, " +
		text.Int(unsure) + " guarded"
	const emphatic, most = 0.9, 2
	if stated >= emphatic && h.sourced == 0 {
		score = min(score, most)
		argument += ", and none says where it comes from"
	}
	return opinion(score, 0.3, argument+".")
}

func opinion(score int, confidence float64, argument string) abi.CriterionOpinion {
	return abi.CriterionOpinion{NumericScore: score, RelevanceConfidence: confidence, Argument: argument, CitedEvidence: []string{}}
}

// Words of an argument, in any domain. A star stands for any ending, a blank for words behind each other.
//
//nolint:gochecknoglobals // constants that Go has no syntax for
var (
	concluding = []string{
		"conclude*", "conclusion", "verdict", "decision", "decid*", "affirm*", "amend*", "acquit*", "dismiss*", "hold*", "held", "rul*", "finds", "find",
		"therefore", "order*",
	}
	reasoning = []string{
		"because", "since", "therefore", "thus", "hence", "given", "follows", "due", "reason*", "consequently", "shows", "indicat*", "explain*", "so that",
	}
	opposing = []string{
		"however", "although", "though", "but", "despite", "against", "challeng*", "object*", "alternative*", "doubt*", "nevertheless", "contrary",
		"unless", "rebut*", "missing", "weak*", "on the other hand", "counter*",
	}
	hedging = []string{
		"likely", "probably", "may", "might", "could", "perhaps", "suggest*", "appear*", "seem*", "possibl*", "uncertain*", "doubt*", "unclear",
		"nobody has shown", "cannot be sure",
	}
	certain = []string{
		"certain", "certainly", "certainty", "undoubtedly", "clearly", "obvious*", "proven", "proves", "definite*", "always", "never", "must",
		"conclusive*", "unquestionabl*", "everyone knows", "everybody knows", "no doubt", "beyond doubt", "without doubt", "no need",
	}
	accusing = []string{
		"prosecut*", "accus*", "charge*", "indict*", "plaintiff*", "claimant*", "applicant*", "petitioner*", "appellant*",
		"for it", "speaks for", "speak for", "in favour", "in favor", "arguments for", "on the one hand",
	}
	defending = []string{
		"defense", "defence", "defend*", "respondent*", "accused", "appellee*", "rebut*", "alternative*", "against it", "against this", "against that",
		"against the charge", "speaks against", "speak against", "arguments against", "on the other hand", "counterargument*",
	}
	answering = []string{
		"however", "although", "but", "nevertheless", "reject*", "rebut*", "answer*", "outweigh*", "concede*", "repl*", "struck", "fatal",
		"weakening", "overcome*", "persuad*", "unpersuasive", "weak point", "unless",
	}
)
