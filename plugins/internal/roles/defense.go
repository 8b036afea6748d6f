package roles

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Defend gives the artifact of a node of the defense.
func Defend(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if failure := checkDefense(r); failure != nil {
		return nil, failure
	}
	if r.Family == abi.FamilyDefend {
		return &abi.Artifact{DefenseBrief: brief(r)}, nil
	}
	return &abi.Artifact{HearingTurn: rebut(r)}, nil
}

// checkDefense says why a request cannot be answered, or nothing.
func checkDefense(r *abi.NodeRequest) *abi.Failure {
	if r.Indictment == nil || len(r.Case.Labels) == 0 {
		return guest.Fail(incompleteRequest, "the defense needs the indictment and the labels of the case")
	}
	switch r.Family {
	case abi.FamilyDefend:
		return proceeding.CheckParams("the defense", r.Params, "rival_ratio")
	case abi.FamilyHearing:
		if r.Turn == nil {
			return guest.Fail(incompleteRequest, "a turn of the hearing needs whose turn it is")
		}
		return nil // the parameters of a hearing are for three personas
	default:
		return guest.Fail(guest.WrongFamily, "the abyss doesn't play "+string(r.Family))
	}
}

// ContestDefense contests the items that fall to the defense's element, whatever label they speak for: an item that is flawed serves neither
// side.
func ContestDefense(r *abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
	return proceeding.Contest(r, proceeding.Everything), nil
}

const (
	// rivalRatio: a rival label counts from half the charge's probability.
	rivalRatio = 0.5
	// concession is the probability of the charge from which conceding is thinkable.
	concession = 0.5
)

// brief answers the indictment: it challenges, proposes a rival label against the charge, moves to dismiss where nothing is left of it and
// no rival is there, or concedes.
func brief(r *abi.NodeRequest) *abi.DefenseBrief {
	charge := r.Indictment.ChargedDefectType
	items := proceeding.Indicted(r)
	challenges := slices.Concat(r.Contested, items.Object(r.Contested, defends(charge)))
	scale := weigh.Weigh(items.Matter(challenges))

	b := &abi.DefenseBrief{Challenges: challenges, Confidence: 1 - scale.Of(charge)}
	rival, p, ok := scale.Rival(charge)
	switch {
	case ok && p >= proceeding.NumberParam(r.Params, "rival_ratio", rivalRatio)*scale.Of(charge):
		b.AlternativeHypothesis = alternative(r, scale, challenges, rival)
	case scale.Speaks(charge) < weigh.Nothing:
		b.MotionToDismiss = true
	default:
		b.PleaDeal = scale.Of(charge) >= concession && !damaged(items.Shown(challenges), r.Indictment)
	}
	return b
}

func alternative(r *abi.NodeRequest, scale *weigh.Scale, challenges []abi.Challenge, rival string) *abi.AlternativeHypothesis {
	charge := r.Indictment.ChargedDefectType
	support := []int{}
	var cited proceeding.Listing
	for i := range r.Indictment.Evidence {
		if r.Indictment.Evidence[i].Supports == rival && scale.Nats[i] > 0 {
			support = append(support, i)
			cited.Cite(r.Indictment.Evidence, i)
		}
	}
	found := 0
	for _, f := range proceeding.Findings(r) {
		if f.Supports == rival {
			found++
		}
	}
	findings := ""
	if found > 0 {
		findings = text.Count(found, "finding") + " of discovery for it."
	}
	return &abi.AlternativeHypothesis{
		Label: rival,
		Reasoning: proceeding.Join(rival+" at "+text.Share(scale.Of(rival))+" against "+charge+" at "+text.Share(scale.Of(charge))+".",
			cited.Sentence("For it: "), findings, proceeding.Experimented(r.Case.Experiments, scale), proceeding.Quarrel(r.Indictment.Evidence, challenges)),
		Support: support,
	}
}

// damaged says whether a fatal or weakening challenge stands against an item that doesn't speak for another label than the charge.
func damaged(challenges []abi.Challenge, v *abi.Indictment) bool {
	for i := range challenges {
		ch := &challenges[i]
		if ch.Severity == abi.Minor || ch.EvidenceIndex >= len(v.Evidence) {
			continue
		}
		if s := v.Evidence[ch.EvidenceIndex].Supports; s == "" || s == v.ChargedDefectType {
			return true
		}
	}
	return false
}

// defends selects the items that the defense challenges: those for the charge, and those that name no label.
func defends(charge string) func(*weigh.Testimony) bool {
	return func(t *weigh.Testimony) bool { return t.Supports == "" || t.Supports == charge }
}

// rebut speaks against the charge from what still stands. It challenges what speaks for the charge and brings what discovery found for
// other labels, each once.
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
