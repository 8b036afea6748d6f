// Command reader is the bench with a language model: it reads the documents as bulwark does, and adds what the model finds in them. Where
// no model is offered it does what bulwark does.
package main

import (
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/chat"
	"github.com/shadowcourt/shadowcourt/plugins/internal/roles"
)

func init() {
	node.Handle(reader.Play)
	node.HandleOffers(roles.ChooseAtDiscovery)
	node.HandleModels(reader.Ask)
	contest.Handle(roles.ContestBench)
}

func main() {}

// reader is the bench with a model.
var reader = chat.Player{Base: roles.Preside, Question: question, Apply: apply} //nolint:gochecknoglobals // a constant

func question(r *abi.NodeRequest, base *abi.Artifact) *chat.Question {
	if base.HearingTurn != nil {
		return &chat.Question{Usual: chat.Usual, Schema: chat.Turn(nil)}
	}
	if base.Discovery == nil || chat.CountLines(r.Case.Documents) == 0 {
		return nil
	}
	return &chat.Question{
		Usual: "Labels: {labels}\n{documents}", Schema: readingSchema(r),
		Sheet: func(budget int) *chat.Sheet { return chat.NewSheet(r.Case.Documents, base.Discovery.Findings, budget) },
	}
}

func apply(r *abi.NodeRequest, base *abi.Artifact, answers []chat.Value, sheet *chat.Sheet) {
	if base.Discovery != nil {
		read(r, base.Discovery, answers, sheet)
		return
	}
	// The bench challenges whatever a line speaks against, and brings nothing for a side.
	chat.Speak(r, base.HearingTurn, answers[0], func(*abi.IndictmentItem) bool { return true }, func(string) bool { return false })
}

const (
	// maxFindings is how many lines the model may name.
	maxFindings = 16
	// observationBytes bounds what it says of one.
	observationBytes = 300
)

// readingSchema is what the model answers at discovery: lines by their numbers, and a probability for each label.
func readingSchema(r *abi.NodeRequest) *chat.Schema {
	probabilities := &chat.Schema{Kind: chat.Object}
	for _, label := range r.Case.Labels {
		probabilities.Fields = append(probabilities.Fields, chat.Field{Name: label, Schema: &chat.Schema{Kind: chat.Number, Least: 0, Greatest: 1}})
	}
	finding := &chat.Schema{Kind: chat.Object, Fields: []chat.Field{
		{Name: "line", Meaning: "number of a line", Schema: &chat.Schema{Kind: chat.Integer, Least: 1, Greatest: float64(chat.CountLines(r.Case.Documents))}},
		{Name: "label", Meaning: "the label that it speaks for", Schema: &chat.Schema{Kind: chat.String, Enum: r.Case.Labels}},
		{Name: "observation", Meaning: "what it shows, in one sentence", Schema: &chat.Schema{Kind: chat.String}},
	}}
	return &chat.Schema{Kind: chat.Object, Fields: []chat.Field{
		{Name: "findings", Meaning: "lines that speak for a label", Schema: &chat.Schema{Kind: chat.Array, Most: maxFindings, Item: finding}},
		{Name: "probabilities", Meaning: "of each label, summing to 1", Schema: probabilities},
	}}
}

// named is a line that samples name for a label.
type named struct {
	line        int
	label       string
	observation string
	votes       int
}

// read adds the lines that at least half of the samples name. The strength of each is the mean probability of its label: what the
// model states, which says little until it was measured.
func read(r *abi.NodeRequest, to *abi.Discovery, answers []chat.Value, sheet *chat.Sheet) {
	p := mean(answers, r.Case.Labels)
	var lines []named
	for _, a := range answers {
		said := map[int]bool{}
		for _, f := range a.Of("findings").List() {
			line, label := f.Of("line").Int(), f.Of("label").Text()
			if said[line] {
				continue // a line speaks for one label
			}
			said[line] = true
			i := slices.IndexFunc(lines, func(n named) bool { return n.line == line && n.label == label })
			if i < 0 {
				i = len(lines)
				lines = append(lines, named{line: line, label: label, observation: f.Of("observation").Text()})
			}
			lines[i].votes++
		}
	}
	slices.SortStableFunc(lines, func(a, b named) int {
		return cmp.Or(cmp.Compare(b.votes, a.votes), cmp.Compare(p[b.label], p[a.label]))
	})
	brought := map[int]bool{}
	for i := range lines {
		l := &lines[i]
		document, quote, ok := sheet.Quote(l.line)
		if !ok || brought[l.line] || 2*l.votes < len(answers) || len(brought) == maxFindings {
			continue
		}
		brought[l.line] = true
		to.Findings = append(to.Findings, abi.Finding{
			Document: document, Quote: quote, Supports: l.label, Strength: p[l.label], Source: chat.Source(r), Observation: chat.Clip(l.observation, observationBytes),
		})
	}
	if cut := sheet.Cut(); cut != "" {
		to.Missing = append(to.Missing, "the model "+chat.Model(r)+" did not see everything: "+cut)
	}
}

// mean is the mean of what the samples state, each scaled to a sum of 1. A sample that gives no label any probability is silent.
func mean(answers []chat.Value, labels []string) map[string]float64 {
	p := make(map[string]float64, len(labels))
	n := 0.0
	for _, a := range answers {
		sum := 0.0
		for _, label := range labels {
			sum += a.Of("probabilities").Of(label).Number()
		}
		if sum <= 0 {
			continue
		}
		n++
		for _, label := range labels {
			p[label] += a.Of("probabilities").Of(label).Number() / sum
		}
	}
	for label := range p {
		p[label] = min(p[label]/n, 1)
	}
	return p
}
