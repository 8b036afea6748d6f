// Package roles is what the prosecution, the defense, the bench and the judge do without a language model.
package roles

import (
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Prosecute gives the artifact of a node of the prosecution.
func Prosecute(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if len(r.Case.Labels) == 0 {
		return nil, guest.Fail(incompleteRequest, "the case has no labels")
	}
	switch r.Family {
	case abi.FamilyIndict:
		if r.Case.Light == nil {
			return nil, guest.Fail(incompleteRequest, "an indictment needs Light's classification")
		}
		if failure := proceeding.CheckParams("the prosecution", r.Params, proceeding.ExperimentParams()...); failure != nil {
			return nil, failure
		}
		return &abi.Artifact{Indictment: indict(r)}, nil
	case abi.FamilyHearing:
		if r.Indictment == nil || r.Turn == nil {
			return nil, guest.Fail(incompleteRequest, "a turn of the hearing needs the indictment and whose turn it is")
		}
		return &abi.Artifact{HearingTurn: argue(r)}, nil
	default:
		return nil, guest.Fail(guest.WrongFamily, "the challenger doesn't play "+string(r.Family))
	}
}

// ChooseCharge asks at the indictment where labels are guarded: only runs can carry a charge then. In the hearing the prosecution asks for none.
func ChooseCharge(r *abi.NodeRequest) *abi.Experiment {
	if r.Family != abi.FamilyIndict || r.Case.Light == nil || len(r.Case.Labels) == 0 || proceeding.GuardOf(r.Params) == nil {
		return nil
	}
	return proceeding.Next(r, weighIndictment(r))
}

const incompleteRequest = "incomplete_request"

// ContestCharge contests the items that fall to the prosecution's element, as far as they speak against its charge.
func ContestCharge(r *abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
	return proceeding.Contest(r, speaksAgainst(r.ChargedDefectType)), nil
}

// indict charges the case with Light's classification. All evidence that fits goes into the indictment, what speaks against the charge too:
// an item's weight is how much it counts for the label that it names. The confidence is the prosecution's own estimate; Light's stated one
// is a witness among others.
func indict(r *abi.NodeRequest) *abi.Indictment {
	charge := r.Case.Light.Classification
	scale := weighIndictment(r)
	kept := heaviest(r.Case.Evidence, scale.Nats)
	items := make([]abi.IndictmentItem, 0, len(kept))
	for _, i := range kept {
		e := &r.Case.Evidence[i]
		items = append(items, abi.IndictmentItem{SourceRef: e.SourceRef, Content: e.Content, Weight: weigh.Weight(scale.Nats[i]), Supports: e.Supports, Element: e.Element})
	}
	return &abi.Indictment{
		ChargedDefectType:    charge,
		ProsecutionNarrative: proceeding.Join(narrate(charge, r.Case.Light.Confidence, items, scale.Of(charge)), proceeding.Experimented(r.Case.Experiments, scale), leftOut(len(r.Case.Evidence)-len(items))),
		Evidence:             items,
		Confidence:           scale.Of(charge),
	}
}

// The bounds of an indictment: its items must fit an artifact with room to spare.
const (
	maxItems      = abi.MaxEvidence
	maxItemsBytes = abi.DefaultOutputBytes * 3 / 4
	itemOverhead  = 80 // keys, weight, element and headers of one item
)

// heaviest gives the indexes of the items that fit the indictment, in their own order: all of them, or those that count most.
func heaviest(evidence []abi.Evidence, nats []float64) []int {
	order := make([]int, len(evidence))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(nats[b], nats[a]) })
	size := 0
	kept := order[:0]
	for _, i := range order {
		bytes := itemOverhead + len(evidence[i].SourceRef) + len(evidence[i].Content) + len(evidence[i].Supports)
		if len(kept) < maxItems && size+bytes <= maxItemsBytes {
			size += bytes
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)
	return kept
}

func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return text.Count(n, "item") + " left out: the indictment holds no more."
}

func narrate(charge string, stated float64, items []abi.IndictmentItem, confidence float64) string {
	var support, against proceeding.Listing
	silent := 0
	for i := range items {
		list := &against
		switch items[i].Supports {
		case charge:
			list = &support
		case "":
			silent++
			continue
		}
		list.Cite(items, i, " (weight ", text.Share(items[i].Weight), ")")
	}
	out := "The charge is " + charge + ", which Light states with " + text.Share(stated) + "."
	if support.Len > 0 {
		out += " " + text.Count(support.Len, "item") + " for it: " + support.String() + "."
	} else {
		out += " No item names it."
	}
	if against.Len > 0 {
		out += " " + text.Count(against.Len, "item") + " against it: " + against.String() + "."
	}
	if silent > 0 {
		out += " " + text.Count(silent, "item") + " without a label."
	}
	return out + " The prosecution's own estimate is " + text.Share(confidence) + "."
}

// weighIndictment weighs what lies before the prosecution.
func weighIndictment(r *abi.NodeRequest) *weigh.Scale {
	return weigh.Weigh(&weigh.Matter{
		Labels: r.Case.Labels, Subject: r.Case.Subject, Light: r.Case.Light, Profile: r.Profile,
		Testimony: weigh.FromEvidence(r.Case.Evidence), Signals: r.Case.Signals, Experiments: r.Case.Experiments,
	})
}

// argue speaks for the charge from what still stands. It challenges what
// speaks against the charge and brings what discovery found for it, each once.
func argue(r *abi.NodeRequest) *abi.HearingTurn {
	charge := r.Indictment.ChargedDefectType
	before := proceeding.Challenges(r)
	items := proceeding.Indicted(r)
	fresh := items.Object(before, speaksAgainst(charge))
	brought := proceeding.Bring(r, func(f *abi.Finding) bool { return f.Supports == charge })
	scale := weigh.Weigh(items.Matter(append(before, fresh...)))
	return &abi.HearingTurn{
		Argument:      argument(r, scale, fresh, brought),
		NewChallenges: fresh,
		NewItems:      brought,
	}
}

func argument(r *abi.NodeRequest, scale *weigh.Scale, fresh []abi.Challenge, brought []abi.IndictmentItem) string {
	charge := r.Indictment.ChargedDefectType
	var standing, lost proceeding.Listing
	for i := range r.Indictment.Evidence {
		if r.Indictment.Evidence[i].Supports != charge {
			continue
		}
		list := &lost
		if scale.Nats[i] > 0 {
			list = &standing
		}
		list.Cite(r.Indictment.Evidence, i)
	}
	forCharge := "No item for " + charge + " stands."
	if standing.Len > 0 {
		forCharge = standing.Sentence("For " + charge + " there stands ")
	}
	gone, added := lost.Sentence("Without weight: "), ""
	if len(brought) > 0 {
		added = "Discovery adds " + text.Count(len(brought), "line") + " for it."
	}
	return proceeding.Join(forCharge, gone, added, proceeding.Experimented(r.Case.Experiments, scale), proceeding.Quarrel(r.Indictment.Evidence, fresh),
		"The prosecution puts the charge at "+text.Share(scale.Of(charge))+".")
}

// speaksAgainst selects the items that name another label than the charge: the prosecution challenges nothing else.
func speaksAgainst(charge string) func(*weigh.Testimony) bool {
	return func(t *weigh.Testimony) bool { return t.Supports != "" && t.Supports != charge }
}
