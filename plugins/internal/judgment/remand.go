package judgment

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// closeLead is the lead of one label over the next below which the two are
// close enough to ask what tells them apart.
const closeLead = 0.2

// maxQuestions bounds what one remand asks.
const maxQuestions = 5

// reinvestigate gives the feedback of a remand, or nil where there is no
// remand left or nothing that Light could answer: it asks what tells two close
// labels apart, and about the items whose challenge cost a label the decision.
func reinvestigate(r *abi.NodeRequest, items *proceeding.Items, scale *weigh.Scale, challenges []abi.Challenge, least float64) *abi.RemandFeedback {
	if r.RemandsLeft == 0 {
		return nil
	}
	questions := append(undermined(r, items, scale, challenges, least), closeLabels(r, scale)...)
	if len(questions) == 0 {
		return nil
	}
	questions = questions[:min(len(questions), maxQuestions)]
	for i := range questions {
		questions[i].ID = "q" + text.Int(i+1)
	}
	return &abi.RemandFeedback{
		Challenged:            hurt(challenges),
		AlternativeHypothesis: r.DefenseBrief.AlternativeHypothesis,
		Questions:             questions,
	}
}

func closeLabels(r *abi.NodeRequest, scale *weigh.Scale) []abi.Question {
	order := byProbability(scale)
	if len(order) < 2 || lead(scale) >= params.Number(r.Params, "close_lead", closeLead) {
		return nil
	}
	first, second := order[0], order[1]
	return []abi.Question{{Question: "What tells " + scale.Labels[first] + " (" + text.Share(scale.Posterior[first]) + ") from " +
		scale.Labels[second] + " (" + text.Share(scale.Posterior[second]) + ")?"}}
}

// undermined asks about the fatally challenged items where the unchallenged
// ones would have decided the case, and what is left does not.
func undermined(r *abi.NodeRequest, items *proceeding.Items, scale *weigh.Scale, challenges []abi.Challenge, least float64) []abi.Question {
	charge := r.Indictment.ChargedDefectType
	before := weigh.Weigh(items.Matter(nil))
	label, p := before.Top(charge)
	now, q := scale.Top(charge)
	if p < least || before.Speaks(label) < weigh.Nothing || (now == label && q >= least && scale.Speaks(now) >= weigh.Nothing) {
		return nil
	}
	var questions []abi.Question
	asked := make(map[int]bool)
	for i := range challenges {
		ch := &challenges[i]
		if ch.Severity != abi.Minor && !asked[ch.EvidenceIndex] && ch.EvidenceIndex < len(before.Nats) && before.Nats[ch.EvidenceIndex] > 0 {
			asked[ch.EvidenceIndex] = true
			questions = append(questions, abi.Question{Question: "Item " + proceeding.Cite(r.Indictment.Evidence, ch.EvidenceIndex) +
				" " + ch.Challenge + ": what else shows what it says?"})
		}
	}
	return questions
}

// hurt lists each item that a fatal or weakening challenge hit, once.
func hurt(challenges []abi.Challenge) []abi.ChallengedItem {
	out := []abi.ChallengedItem{}
	listed := make(map[int]bool)
	for i := range challenges {
		ch := &challenges[i]
		if ch.Severity != abi.Minor && !listed[ch.EvidenceIndex] {
			listed[ch.EvidenceIndex] = true
			out = append(out, abi.ChallengedItem{EvidenceIndex: ch.EvidenceIndex, Why: ch.Challenge})
		}
	}
	return out
}
