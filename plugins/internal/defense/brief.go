package defense

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

const (
	// rivalRatio: a rival label counts from half the charge's probability.
	rivalRatio = 0.5
	// concession is the probability of the charge from which conceding is thinkable.
	concession = 0.5
)

// brief answers the indictment: it challenges, proposes a rival label against
// the charge, moves to dismiss where nothing is left of it and no rival is
// there, or concedes.
func brief(r *abi.NodeRequest) *abi.DefenseBrief {
	charge := r.Indictment.ChargedDefectType
	items := proceeding.Indicted(r)
	challenges := slices.Concat(r.Contested, items.Object(r.Contested, defends(charge)))
	scale := weigh.Weigh(items.Matter(challenges))

	b := &abi.DefenseBrief{Challenges: challenges, Confidence: 1 - scale.Of(charge)}
	rival, p, ok := scale.Rival(charge)
	switch {
	case ok && p >= params.Number(r.Params, "rival_ratio", rivalRatio)*scale.Of(charge):
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

// damaged says whether a fatal or weakening challenge stands against an item
// that doesn't speak for another label than the charge.
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

// defends selects the items that the defense challenges: those for the charge,
// and those that name no label.
func defends(charge string) func(*weigh.Testimony) bool {
	return func(t *weigh.Testimony) bool { return t.Supports == "" || t.Supports == charge }
}
