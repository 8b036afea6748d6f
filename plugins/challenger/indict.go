package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// indict charges the case with Light's classification. All evidence goes into
// the indictment, what speaks against the charge too: an item's weight is how
// much it counts for the label that it names. The confidence is the
// prosecution's own estimate; Light's stated one is a witness among others.
func indict(r *abi.NodeRequest) *abi.Indictment {
	charge := r.Case.Light.Classification
	scale := weigh.Weigh(&weigh.Matter{
		Labels: r.Case.Labels, Light: r.Case.Light, Profile: r.Profile,
		Testimony: weigh.FromEvidence(r.Case.Evidence),
	})
	items := make([]abi.IndictmentItem, len(r.Case.Evidence))
	for i := range items {
		e := &r.Case.Evidence[i]
		items[i] = abi.IndictmentItem{SourceRef: e.SourceRef, Content: e.Content, Weight: weigh.Weight(scale.Nats[i]), Supports: e.Supports, Element: e.Element}
	}
	return &abi.Indictment{
		ChargedDefectType:    charge,
		ProsecutionNarrative: narrate(charge, r.Case.Light.Confidence, items, scale.Of(charge)),
		Evidence:             items,
		Confidence:           scale.Of(charge),
	}
}

func narrate(charge string, stated float64, items []abi.IndictmentItem, confidence float64) string {
	var support, against []string
	silent := 0
	for i := range items {
		cited := proceeding.Cite(items, i) + " (weight " + text.Share(items[i].Weight) + ")"
		switch items[i].Supports {
		case charge:
			support = append(support, cited)
		case "":
			silent++
		default:
			against = append(against, cited)
		}
	}
	out := "The charge is " + charge + ", which Light states with " + text.Share(stated) + "."
	if len(support) > 0 {
		out += " " + text.Count(len(support), "item") + " for it: " + proceeding.List(support) + "."
	} else {
		out += " No item names it."
	}
	if len(against) > 0 {
		out += " " + text.Count(len(against), "item") + " against it: " + proceeding.List(against) + "."
	}
	if silent > 0 {
		out += " " + text.Count(silent, "item") + " without a label."
	}
	return out + " The prosecution's own estimate is " + text.Share(confidence) + "."
}
