// Command advocate is the defense with a language model: it does what abyss does, and the model argues, challenges and proposes another
// label. Where no model is offered it does what abyss does.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/chat"
	"github.com/shadowcourt/shadowcourt/plugins/internal/roles"
)

func init() {
	node.Handle(advocate.Play)
	node.HandleModels(advocate.Ask)
	contest.Handle(roles.ContestDefense)
}

func main() {}

// advocate is the defense with a model.
var advocate = chat.Player{Base: roles.Defend, Question: question, Apply: apply} //nolint:gochecknoglobals // a constant

func question(r *abi.NodeRequest, base *abi.Artifact) *chat.Question {
	if base.HearingTurn != nil {
		return &chat.Question{Usual: chat.Usual, Schema: chat.Turn(r.Case.Labels)}
	}
	return &chat.Question{
		Usual: "Labels: {labels}. The charge is {charge}.\n{subject}\nItems:\n{items}\nLines that discovery quoted:\n{findings}\nChallenges:\n{challenges}\n{experiments}",
		Schema: &chat.Schema{Kind: chat.Object, Fields: []chat.Field{
			{Name: "argument", Schema: &chat.Schema{Kind: chat.String}, Meaning: "why the charge is wrong, citing items and findings by number"},
			chat.Challenges(),
			{Name: "fight", Schema: &chat.Schema{Kind: chat.Boolean}, Meaning: "false if you would concede the charge"},
			{Name: "label", Schema: &chat.Schema{Kind: chat.String, Enum: r.Case.Labels}, Meaning: "the most probable label"},
			chat.Numbers("items", "items that speak for it"), chat.Numbers("findings", "quoted lines that speak for it"),
		}},
	}
}

// apply adds what the model argues. It can have a charge heard that the defense would concede, and propose a label that quoted evidence
// speaks for; it can't concede.
func apply(r *abi.NodeRequest, base *abi.Artifact, answers []chat.Value, _ *chat.Sheet) {
	answer, charge := answers[0], r.Indictment.ChargedDefectType
	defended := func(item *abi.IndictmentItem) bool { return item.Supports == "" || item.Supports == charge }
	if base.HearingTurn != nil {
		chat.Speak(r, base.HearingTurn, answer, defended, func(label string) bool { return label != charge })
		return
	}
	b := base.DefenseBrief
	b.Challenges = append(b.Challenges, chat.Challenged(r, answer, defended, b.Challenges)...)
	label := answer.Of("label").Text()
	said := chat.Said(r, answer.Of("argument").Text())
	switch {
	case b.AlternativeHypothesis != nil:
		b.AlternativeHypothesis.Reasoning += "\n" + said
	case label != charge && chat.Stands(r, label, answer.Of("items").List(), answer.Of("findings").List()):
		b.PleaDeal, b.MotionToDismiss = false, false
		b.AlternativeHypothesis = &abi.AlternativeHypothesis{Label: label, Reasoning: said, Support: support(r, label, answer.Of("items").List())}
	case answer.Of("fight").True():
		b.PleaDeal = false
	}
}

// support are the items of the indictment for a label among those that the model names.
func support(r *abi.NodeRequest, label string, items []chat.Value) []int {
	list := []int{}
	for _, v := range items {
		if i := v.Int(); i < len(r.Indictment.Evidence) && r.Indictment.Evidence[i].Supports == label {
			list = append(list, i)
		}
	}
	return list
}
