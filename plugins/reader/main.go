// Command reader is the bench with a language model: it reads the documents as bulwark does, and adds what the model finds in them. Where
// no model is offered it does what bulwark does.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/bench"
	"github.com/shadowcourt/shadowcourt/plugins/internal/chat"
)

func init() {
	node.Handle(reader.Play)
	node.HandleOffers(bench.Choose)
	node.HandleModels(reader.Ask)
	contest.Handle(bench.Contest)
}

func main() {}

// reader is the bench with a model.
var reader = chat.Player{Base: bench.Play, Question: question, Apply: apply} //nolint:gochecknoglobals // a constant

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
