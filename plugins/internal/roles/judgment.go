package roles

import (
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Judge gives the verdict.
func Judge(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if failure := checkJudgment(r); failure != nil {
		return nil, failure
	}
	verdict := judge(r)
	verdict.Reasoning = proceeding.Join(proceeding.BaseFails(r.Case.Experiments), verdict.Reasoning)
	return &abi.Artifact{Verdict: verdict}, nil
}

// ChooseVerdict asks for the experiment that tells most about the label, while none is settled.
func ChooseVerdict(r *abi.NodeRequest) *abi.Experiment {
	if checkJudgment(r) != nil || broken(r) != "" {
		return nil
	}
	return proceeding.Next(r, weigh.Weigh(proceeding.Indicted(r).Matter(proceeding.Challenges(r))))
}

// checkJudgment says why a request cannot be answered, or nothing.
func checkJudgment(r *abi.NodeRequest) *abi.Failure {
	if r.Family != abi.FamilyVerdict {
		return guest.Fail(guest.WrongFamily, "the specter doesn't play "+string(r.Family))
	}
	if r.Indictment == nil || len(r.Case.Labels) == 0 {
		return guest.Fail(incompleteRequest, "a verdict needs the indictment and the labels of the case")
	}
	return proceeding.CheckParams("the verdict", r.Params, append(proceeding.ExperimentParams(), "min_confidence", "min_lead", "close_lead", proceeding.EnvironmentLabels)...)
}

// A label is decided with this lead over the next: of two labels one always has a half, and 0.51 to 0.49 decides nothing. Its probability
// has to be half way from an even guess among all labels to a half: a half for two of them, 0.375 for four.
const (
	minConfidence = 0.5
	minLead       = 0.1
)

// By a profile that knows Light, or how sure the court may be, the probabilities are measured, and the most probable label is the best
// answer whatever its probability, which the verdict states. Only what is hardly more than an even guess decides nothing.
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
	return proceeding.NumberParam(r.Params, "min_confidence", probability), proceeding.NumberParam(r.Params, "min_lead", lead)
}

// judge decides for the most probable label, given everything that was brought and what the challenges left of it. The confidence of affirm
// and amend is that label's probability; that of an acquittal or a remand is the probability of the label that came nearest.
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
	return slices.Contains(proceeding.ListParam(r.Params, proceeding.EnvironmentLabels), label) && odds.NotReproduced(r.Case.Experiments)
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

// closeLead is the lead of one label over the next below which the two are close enough to ask what tells them apart.
const closeLead = 0.2

// maxQuestions bounds what one remand asks.
const maxQuestions = 5

// reinvestigate gives the feedback of a remand, or nil where there is no remand left or nothing that Light could answer: it asks what tells
// two close labels apart, and about the items whose challenge cost a label the decision.
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
	if len(order) < 2 || lead(scale) >= proceeding.NumberParam(r.Params, "close_lead", closeLead) {
		return nil
	}
	first, second := order[0], order[1]
	return []abi.Question{{Question: "What tells " + scale.Labels[first] + " (" + text.Share(scale.Posterior[first]) + ") from " +
		scale.Labels[second] + " (" + text.Share(scale.Posterior[second]) + ")?"}}
}

// undermined asks about the fatally challenged items where the unchallenged ones would have decided the case, and what is left does not.
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

// guarded judges where labels must not be denied by mistake. It denies them where they are improbable enough, gives the most probable of
// them where they are more probable than not and all that was asked for was run, and else asks Light again or leaves the case open.
func guarded(r *abi.NodeRequest, items *proceeding.Items, guard *proceeding.Guard, scale *weigh.Scale, challenges []abi.Challenge, least float64) *abi.Verdict {
	yours := guard.Of(scale)
	whole := !slices.ContainsFunc(r.Case.Experiments, func(e abi.ExperimentResult) bool { return e.Outcome == abi.OutcomeNotRun && e.Made() == 0 })
	label, p := guard.Top(scale, true)
	switch {
	case guard.Denies(scale, r.Case.Experiments):
		label, p = guard.Top(scale, false)
		return decide(r, scale, challenges, label, p)
	case guard.Blames(scale, r.Case.Experiments), whole && proceeding.Tried(r.Case.Experiments) && yours >= max(least, minConfidence):
		return decide(r, scale, challenges, label, p)
	}
	if feedback := reinvestigate(r, items, scale, challenges, least); feedback != nil {
		return remand(r, scale, challenges, feedback, p)
	}
	top, nearest := scale.Top(r.Indictment.ChargedDefectType)
	return &abi.Verdict{
		Decision: abi.Acquit, Confidence: nearest,
		Reasoning: explain("What must not be denied by mistake has "+text.Share(yours)+", neither little nor much enough; "+top+" comes nearest with "+
			text.Share(nearest)+".", r, scale, challenges),
	}
}

// explain tells, behind an opening, what was weighed: the probabilities, the items behind each
// label with what they count in nats, the findings and the challenges.
func explain(opening string, r *abi.NodeRequest, scale *weigh.Scale, challenges []abi.Challenge) string {
	order := byProbability(scale)
	said := append(make([]string, 0, len(order)+8), opening, probabilities(scale, order))
	if p := r.Profile; p != nil && p.Temperature != nil {
		said = append(said, "All that was read is divided by the temperature "+text.Number(*p.Temperature)+".")
	}
	for _, i := range order {
		said = append(said, itemsFor(r, scale, scale.Labels[i]))
	}
	said = append(said, proceeding.Experimented(r.Case.Experiments, scale), findings(r), proceeding.Quarrel(r.Indictment.Evidence, challenges),
		unshown(len(proceeding.Challenges(r))-len(challenges)))
	return proceeding.Join(said...)
}

// unshown tells of challenges that don't count.
func unshown(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 challenge shows nothing that can be checked, and doesn't count."
	default:
		return text.Int(n) + " challenges show nothing that can be checked, and don't count."
	}
}

func probabilities(scale *weigh.Scale, order []int) string {
	var list proceeding.Listing
	for _, i := range order {
		list.Add(scale.Labels[i], " ", text.Share(scale.Posterior[i]))
	}
	return list.Sentence("Probabilities: ")
}

func byProbability(scale *weigh.Scale) []int {
	order := make([]int, len(scale.Labels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scale.Posterior[b], scale.Posterior[a]) })
	return order
}

func itemsFor(r *abi.NodeRequest, scale *weigh.Scale, label string) string {
	var list proceeding.Listing
	for i := range r.Indictment.Evidence {
		if r.Indictment.Evidence[i].Supports == label {
			list.Cite(r.Indictment.Evidence, i, " (", text.Share(scale.Nats[i]), " nats)")
		}
	}
	return list.Sentence("For " + label + ": ")
}

func findings(r *abi.NodeRequest) string {
	var list proceeding.Listing
	for _, f := range proceeding.Findings(r) {
		if f.Supports != "" {
			list.Add(f.Supports, " in ", f.Document, " (", f.Observation, ")")
		}
	}
	return list.Sentence("Discovery: ")
}
