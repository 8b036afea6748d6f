package prosecution

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

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

// speaksAgainst selects the items that name another label than the charge:
// the prosecution challenges nothing else.
func speaksAgainst(charge string) func(*weigh.Testimony) bool {
	return func(t *weigh.Testimony) bool { return t.Supports != "" && t.Supports != charge }
}
