package chat

import (
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// Player is a persona that does what it does without a model, and adds what a model says.
type Player struct {
	// Base gives the artifact without a model.
	Base func(*abi.NodeRequest) (*abi.Artifact, *abi.Failure)
	// Question is what the model is asked; nil where nothing is. base is the artifact without it.
	Question func(r *abi.NodeRequest, base *abi.Artifact) *Question
	// Apply adds the answers, one at least, to the artifact. sheet is what the model was shown of documents; nil where nothing was.
	Apply func(r *abi.NodeRequest, base *abi.Artifact, answers []Value, sheet *Sheet)
}

// Ask is what the model is asked first. What is wrong with the prompt the answer to the call says.
func (p *Player) Ask(r *abi.NodeRequest) *abi.Completion {
	if len(r.Completions) > 0 {
		return nil
	}
	_, _, asked, failure := p.asked(r)
	if failure != nil {
		return nil
	}
	return asked.Completion
}

// Play gives the artifact, or says why the model's part of it is missing.
func (p *Player) Play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	base, q, asked, failure := p.asked(r)
	if failure != nil {
		return nil, failure
	}
	if q == nil {
		return base, nil
	}
	answers, ok, failure := Answers(r, q.Schema)
	if failure != nil {
		return nil, failure
	}
	if ok && asked.Completion != nil {
		p.Apply(r, base, answers, asked.Sheet)
	}
	return base, nil
}

func (p *Player) asked(r *abi.NodeRequest) (*abi.Artifact, *Question, Asked, *abi.Failure) {
	base, failure := p.Base(r)
	if failure != nil || len(r.Models) == 0 && len(r.Completions) == 0 {
		return base, nil, Asked{}, failure
	}
	q := p.Question(r, base)
	if q == nil {
		return base, nil, Asked{}, nil
	}
	asked, failure := Ask(r, q)
	return base, q, asked, failure
}

// CountLines is how many lines documents have.
func CountLines(documents []abi.Document) int {
	n := 0
	for i := range documents {
		text := documents[i].Text
		if n += strings.Count(text, "\n"); text != "" && !strings.HasSuffix(text, "\n") {
			n++
		}
	}
	return n
}

// Said is a text of a model as artifacts repeat it.
func Said(r *abi.NodeRequest, what string) string {
	if what = strings.TrimSpace(what); what == "" {
		return ""
	}
	return modelSays + Model(r) + ": " + Clip(what, 1500)
}

// modelSays begins what artifacts repeat of a model.
const modelSays = "The model "

// list writes rows within most bytes, and says how many were left out.
func list(rows []string, most int) string {
	var out strings.Builder
	for i, row := range rows {
		if out.Len()+len(row) > most {
			out.WriteString("[" + text.Int(len(rows)-i) + " more left out]\n")
			break
		}
		out.WriteString(row + "\n")
	}
	if out.Len() == 0 {
		return "none"
	}
	return out.String()
}

// oneLine gives a text without breaks, clipped.
func oneLine(s string) string {
	return text.InLine(Clip(strings.Join(strings.Fields(s), " "), lineBytes))
}

func light(r *abi.NodeRequest) string {
	if r.Case.Light == nil {
		return "none"
	}
	l := r.Case.Light
	return label(l.Classification) + ", stated with " + text.Share(l.Confidence) + ": " + guarded(oneLine(l.Reasoning))
}

// items are those of the indictment, or of the case before there is one, by their numbers.
func items(r *abi.NodeRequest, most int) string {
	var rows []string
	if r.Indictment == nil {
		for i := range r.Case.Evidence {
			e := &r.Case.Evidence[i]
			rows = append(rows, strconv.Itoa(i)+"| "+item(e.SourceRef, e.Supports, e.RelevanceConfidence, "", e.Content))
		}
		return list(rows, most)
	}
	for i := range r.Indictment.Evidence {
		e := &r.Indictment.Evidence[i]
		stated, quote := e.Weight, ""
		for j := range r.Exhibits {
			if r.Exhibits[j].EvidenceIndex == i {
				stated, quote = r.Exhibits[j].RelevanceConfidence, string(r.Exhibits[j].Quote)
			}
		}
		rows = append(rows, strconv.Itoa(i)+"| "+item(e.SourceRef, e.Supports, stated, quote, e.Content))
	}
	return list(rows, most)
}

func item(source, supports string, stated float64, quote, content string) string {
	row := quoted(source) + " for " + label(supports) + ", stated with " + text.Share(stated)
	if quote != "" {
		row += ", quote: " + quote
	}
	return row + ": " + guarded(oneLine(content))
}

// findings are the lines that discovery quoted, by their numbers. They stand in documents: the host has checked that.
func findings(r *abi.NodeRequest, most int) string {
	var rows []string
	for i, f := range proceeding.Findings(r) {
		who := ""
		if f.Source != "" {
			who = " by " + f.Source
		}
		rows = append(rows, strconv.Itoa(i)+"| "+quoted(f.Document)+" for "+label(f.Supports)+who+": "+guarded(oneLine(f.Quote)))
	}
	return list(rows, most)
}

func challenges(r *abi.NodeRequest, most int) string {
	all := append(append([]abi.Challenge{}, r.Contested...), proceeding.Challenges(r)...)
	var rows []string
	for i := range all {
		c := &all[i]
		rows = append(rows, "item "+strconv.Itoa(c.EvidenceIndex)+", "+string(c.Severity)+", by "+c.By+": "+sentences(oneLine(c.Challenge)))
	}
	return list(rows, most)
}

// hearing is what was said so far, this round included.
func hearing(r *abi.NodeRequest, most int) string {
	var rows []string
	said := func(round int, who, what string) {
		if what != "" {
			rows = append(rows, "round "+strconv.Itoa(round)+", "+who+": "+sentences(text.InLine(Clip(strings.Join(strings.Fields(what), " "), 4*lineBytes))))
		}
	}
	if r.Hearing != nil {
		for i := range r.Hearing.Rounds {
			h := &r.Hearing.Rounds[i]
			said(h.Round, "prosecution", h.ProsecutionArgument)
			said(h.Round, "defense", h.DefenseRebuttal)
			said(h.Round, "bench", h.JudgeNotes)
		}
	}
	if r.Turn != nil {
		said(r.Turn.Round, "prosecution", r.Turn.ProsecutionArgument)
		said(r.Turn.Round, "defense", r.Turn.DefenseRebuttal)
	}
	return list(rows, most)
}

// shown is what experiments have shown.
func shown(r *abi.NodeRequest) string {
	var rows []string
	for i := range r.Case.Experiments {
		e := &r.Case.Experiments[i]
		rows = append(rows, e.Experiment.Words()+": "+e.Words())
	}
	return list(rows, 4*lineBytes)
}
