package defense

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// rebut speaks against the charge from what still stands. It challenges what
// speaks for the charge and brings what discovery found for other labels,
// each once.
func rebut(r *abi.NodeRequest) *abi.HearingTurn {
	charge := r.Indictment.ChargedDefectType
	before := proceeding.Challenges(r)
	items := proceeding.Indicted(r)
	fresh := items.Object(before, defends(charge))
	brought := proceeding.Bring(r, func(f *abi.Finding) bool { return f.Supports != charge })
	scale := weigh.Weigh(items.Matter(append(before, fresh...)))
	return &abi.HearingTurn{
		Argument:      rebuttal(r, scale, fresh, brought),
		NewChallenges: fresh,
		NewItems:      brought,
	}
}

func rebuttal(r *abi.NodeRequest, scale *weigh.Scale, fresh []abi.Challenge, brought []abi.IndictmentItem) string {
	charge := r.Indictment.ChargedDefectType
	against := "No other label than " + charge + " has evidence."
	if rival, p, ok := scale.Rival(charge); ok {
		var cited proceeding.Listing
		for i := range r.Indictment.Evidence {
			if r.Indictment.Evidence[i].Supports == rival && scale.Nats[i] > 0 {
				cited.Cite(r.Indictment.Evidence, i)
			}
		}
		against = "Against " + charge + " stands " + rival + " at " + text.Share(p)
		if cited.Len > 0 {
			against = cited.Sentence(against + ", by ")
		} else {
			against += "."
		}
	}
	added := ""
	if len(brought) > 0 {
		added = "Discovery adds " + text.Count(len(brought), "line") + " for other labels."
	}
	return proceeding.Join(against, added, proceeding.Experimented(r.Case.Experiments, scale), proceeding.Quarrel(r.Indictment.Evidence, fresh),
		"The defense puts the charge at "+text.Share(scale.Of(charge))+".")
}
