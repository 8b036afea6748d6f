// Command magistrate is the judge with a language model: it decides as specter does, and asks the model where the evidence decides nothing
// and leaves labels open. Where no model is offered it does what specter does.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/chat"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/roles"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

func init() {
	node.Handle(magistrate.Play)
	node.HandleOffers(roles.ChooseVerdict)
	node.HandleModels(magistrate.Ask)
}

func main() {}

// magistrate is the judge with a model.
var magistrate = chat.Player{Base: roles.Judge, Question: question, Apply: apply} //nolint:gochecknoglobals // a constant

// openShare: a label is open that is at least half as probable as the first.
const openShare = 0.5

// open are the labels between which the evidence leaves the decision open, with their probabilities: none where the first of them is no
// answer, since the others are less likely than that.
func open(r *abi.NodeRequest) (labels []string, scale *weigh.Scale) {
	scale = weigh.Weigh(proceeding.Indicted(r).Matter(proceeding.Challenges(r)))
	first, top := scale.Top(r.Indictment.ChargedDefectType)
	if roles.Unshown(r, first) {
		return nil, scale
	}
	for i, label := range scale.Labels {
		if scale.Posterior[i] >= openShare*top && scale.Speaks(label) >= weigh.Nothing && !roles.Unshown(r, label) {
			labels = append(labels, label)
		}
	}
	return labels, scale
}

func question(r *abi.NodeRequest, base *abi.Artifact) *chat.Question {
	// A model that could overturn what the evidence decides would be the way to overturn it, for whoever writes a log.
	if base.Verdict.Decision != abi.Acquit {
		return nil
	}
	labels, _ := open(r)
	if len(labels) < 2 {
		return nil
	}
	return &chat.Question{
		Usual: chat.Usual,
		Schema: &chat.Schema{Kind: chat.Object, Fields: []chat.Field{
			{Name: "label", Schema: &chat.Schema{Kind: chat.String, Enum: labels}, Meaning: "the label that the evidence supports most"},
			{Name: "acquit", Schema: &chat.Schema{Kind: chat.Boolean}, Meaning: "true if the evidence supports no label enough"},
			chat.Numbers("items", "items that the decision rests on"), chat.Numbers("findings", "quoted lines that the decision rests on"),
			{Name: "reasoning", Schema: &chat.Schema{Kind: chat.String}, Meaning: "why, citing items and findings by number"},
		}},
	}
}

// choice is what a sample decides.
type choice struct {
	label  string
	acquit bool
}

// apply decides as most of the samples do, where quoted evidence that they cite supports it; otherwise the evidence's acquittal stands.
// The confidence is the evidence's, never the model's.
func apply(r *abi.NodeRequest, base *abi.Artifact, answers []chat.Value, _ *chat.Sheet) {
	v, votes := base.Verdict, map[choice]int{}
	best := answers[0]
	for _, a := range answers {
		c := choiceOf(a)
		if votes[c]++; votes[c] > votes[choiceOf(best)] {
			best = a
		}
	}
	chosen := choiceOf(best)
	said := chat.Said(r, best.Of("reasoning").Text())
	switch {
	case chosen.acquit:
		v.Reasoning = proceeding.Join("The evidence leaves the decision open, and the model finds no label supported enough.", said, "By the evidence alone: "+v.Reasoning)
		return
	case !chat.Stands(r, chosen.label, best.Of("items").List(), best.Of("findings").List()):
		v.Reasoning = proceeding.Join(v.Reasoning, "The model's decision for "+chosen.label+" cites no quoted evidence for it, and does not count.")
		return
	}
	_, scale := open(r)
	v.Decision = abi.Amend
	if chosen.label == r.Indictment.ChargedDefectType {
		v.Decision = abi.Affirm
	}
	v.FinalClassification, v.Confidence = chosen.label, scale.Of(chosen.label)
	v.Reasoning = proceeding.Join("The evidence leaves the decision open, and the model decides for "+chosen.label+" at "+text.Share(v.Confidence)+".", said, "By the evidence alone: "+v.Reasoning)
}

func choiceOf(a chat.Value) choice {
	if a.Of("acquit").True() {
		return choice{acquit: true}
	}
	return choice{label: a.Of("label").Text()}
}
