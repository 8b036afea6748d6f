package judgment

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// A label is decided with this lead over the next: of two labels one always has
// a half, and 0.51 to 0.49 decides nothing. Its probability has to be half way from
// an even guess among all labels to a half: a half for two of them, 0.375 for four.
const (
	minConfidence = 0.5
	minLead       = 0.1
)

// By a profile that knows Light, or how sure the court may be, the probabilities are measured, and the most
// probable label is the best answer whatever its probability, which the verdict
// states. Only what is hardly more than an even guess decides nothing.
const (
	measuredAboveEven = 0.02
	measuredLead      = 0.005
)

// bounds are the least probability and the least lead that decide.
func bounds(r *abi.NodeRequest) (probability, lead float64) {
	probability, lead = (minConfidence+1/float64(len(r.Case.Labels)))/2, minLead
	if measured(r.Profile) {
		probability, lead = 1/float64(len(r.Case.Labels))+measuredAboveEven, measuredLead
	}
	return params.Number(r.Params, "min_confidence", probability), params.Number(r.Params, "min_lead", lead)
}

// judge decides for the most probable label, given everything that was
// brought and what the challenges left of it. The confidence of affirm and
// amend is that label's probability; that of an acquittal or a remand is the
// probability of the label that came nearest.
func judge(r *abi.NodeRequest) *abi.Verdict {
	if why := broken(r); why != "" {
		return &abi.Verdict{Decision: abi.Mistrial, Reasoning: why}
	}
	items := proceeding.Indicted(r)
	challenges := items.Shown(proceeding.Challenges(r))
	scale := weigh.Weigh(items.Matter(challenges))
	charge := r.Indictment.ChargedDefectType
	label, p := scale.Top(charge)
	least, ahead := bounds(r)
	settled := scale.Settled()
	if guard := proceeding.GuardOf(r.Params); guard != nil {
		return guarded(r, items, guard, scale, challenges, least)
	}
	if feedback := reinvestigate(r, items, settled, challenges, least); feedback != nil {
		return remand(r, scale, challenges, feedback, p)
	}
	// A model that nobody measured changes no decision: whoever writes a log could have it do so. It may only tip what is open.
	if undecided(r, settled, least, ahead) == "" {
		label, _ = settled.Top(charge)
		return decide(r, scale, challenges, label, scale.Of(label))
	}
	if why := undecided(r, scale, least, ahead); why != "" {
		return &abi.Verdict{
			Decision: abi.Acquit, Confidence: p, Reasoning: explain(why, r, scale, challenges),
		}
	}
	return decide(r, scale, challenges, label, p)
}

func remand(r *abi.NodeRequest, scale *weigh.Scale, challenges []abi.Challenge, feedback *abi.RemandFeedback, p float64) *abi.Verdict {
	return &abi.Verdict{
		Decision: abi.Remand, Confidence: p, RemandFeedback: feedback,
		Reasoning: explain("Remanded with "+text.Count(len(feedback.Questions), "question")+".", r, scale, challenges),
	}
}

// undecided says why a scale decides for no label; empty where it does.
func undecided(r *abi.NodeRequest, scale *weigh.Scale, least, ahead float64) string {
	label, p := scale.Top(r.Indictment.ChargedDefectType)
	switch {
	case scale.Speaks(label) < weigh.Nothing && !measured(r.Profile):
		return "Next to nothing but Light's own word speaks for " + label + "."
	case p < least:
		return "No label reaches " + text.Share(least) + "; " + label + " comes nearest with " + text.Share(p) + "."
	case lead(scale) < ahead:
		return "Nothing tells the nearest labels apart."
	default:
		return ""
	}
}

// measured says whether it is known how often Light is right, or the court: then Light's word
// is evidence, otherwise it is what is on trial.
func measured(p *abi.Profile) bool { return p != nil && (p.Light != nil || p.Temperature != nil) }

// lead is how much more probable the first label is than the second.
func lead(scale *weigh.Scale) float64 {
	order := byProbability(scale)
	if len(order) < 2 {
		return 1
	}
	return scale.Posterior[order[0]] - scale.Posterior[order[1]]
}

func decide(r *abi.NodeRequest, scale *weigh.Scale, challenges []abi.Challenge, label string, p float64) *abi.Verdict {
	if Unshown(r, label) {
		return &abi.Verdict{
			Decision: abi.Acquit, Confidence: p,
			Reasoning: explain("The failure did not come back when its test was run again, and no experiment shows that the environment caused it: "+
				label+" comes nearest with "+text.Share(p)+", and is no answer.", r, scale, challenges),
		}
	}
	decision, opening := abi.Affirm, "The charge "+label+" stands at "+text.Share(p)+"."
	if charge := r.Indictment.ChargedDefectType; label != charge {
		decision = abi.Amend
		opening = "The charge " + charge + " falls to " + text.Share(scale.Of(charge)) + ", " + label + " stands at " + text.Share(p) + "."
		if r.DefenseBrief.PleaDeal {
			opening += " The defense's plea is rejected."
		}
	}
	return &abi.Verdict{
		Decision: decision, FinalClassification: label, Confidence: p,
		Reasoning: explain(opening, r, scale, challenges),
	}
}

// Unshown says whether a label is one of the environment's that nothing but reading can support: the failure did not come back where its
// test was run again. That may be chance, or the test may need what experiments hide, such as a file of the user's home.
func Unshown(r *abi.NodeRequest, label string) bool {
	return slices.Contains(params.List(r.Params, params.EnvironmentLabels), label) && odds.NotReproduced(r.Case.Experiments)
}

// broken says what is wrong with a proceeding that allows no verdict.
func broken(r *abi.NodeRequest) string {
	switch {
	case r.DefenseBrief == nil:
		return "The defense was not heard: there is no brief."
	case !r.DefenseBrief.PleaDeal && (r.Hearing == nil || len(r.Hearing.Rounds) == 0):
		return "The defense does not concede, and there was no hearing."
	default:
		return ""
	}
}
