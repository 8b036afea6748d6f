// Command prosecutor is the prosecution with a language model: it does what challenger does, and the model argues. Where no model is offered
// it does what challenger does.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/chat"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/roles"
)

func init() {
	node.Handle(prosecutor.Play)
	node.HandleOffers(roles.ChooseCharge)
	node.HandleModels(prosecutor.Ask)
	contest.Handle(roles.ContestCharge)
}

func main() {}

// prosecutor is the prosecution with a model.
var prosecutor = chat.Player{Base: roles.Prosecute, Question: question, Apply: apply} //nolint:gochecknoglobals // a constant

func question(r *abi.NodeRequest, base *abi.Artifact) *chat.Question {
	if base.HearingTurn != nil {
		return &chat.Question{Usual: chat.Usual, Schema: chat.Turn(r.Case.Labels)}
	}
	return &chat.Question{
		Usual: "Labels: {labels}. The charge is {charge}.\n{subject}\n{light}\nItems:\n{items}\n{experiments}",
		Schema: &chat.Schema{Kind: chat.Object, Fields: []chat.Field{
			{Name: "narrative", Schema: &chat.Schema{Kind: chat.String}, Meaning: "the case for the charge, citing items by number"},
			{Name: "confidence", Schema: &chat.Schema{Kind: chat.Number, Least: 0, Greatest: 1}, Meaning: "the probability that the charge is right"},
		}},
	}
}

// apply adds what the model argues. An indictment is at most as sure as the evidence makes it: a model can send a case to a full trial,
// and spare it none.
func apply(r *abi.NodeRequest, base *abi.Artifact, answers []chat.Value, _ *chat.Sheet) {
	if v := base.Indictment; v != nil {
		v.ProsecutionNarrative = proceeding.Join(v.ProsecutionNarrative, chat.Said(r, answers[0].Of("narrative").Text()))
		v.Confidence = min(v.Confidence, answers[0].Of("confidence").Number())
		return
	}
	charge := r.Indictment.ChargedDefectType
	chat.Speak(r, base.HearingTurn, answers[0], func(item *abi.IndictmentItem) bool { return item.Supports != "" && item.Supports != charge },
		func(label string) bool { return label == charge })
}
