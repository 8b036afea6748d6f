package proceeding

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// The parameters of a node by which its personas ask for experiments.
const (
	settled        = "settled"         // probability of a label from which nothing more is asked
	minGain        = "min_gain"        // least gain in nats that is worth an experiment, however cheap
	minRate        = "min_rate"        // least gain in nats per expected second
	maxExperiments = "max_experiments" // results of the trial that are enough
)

// ExperimentParams are the names of the parameters.
func ExperimentParams() []string {
	return []string{GuardedLabels, maxFalse, minBlame, settled, minGain, minRate, maxExperiments}
}

// The defaults of the parameters.
const (
	defaultSettled = 0.97
	// An even guess between two labels has 0.69 nats; 0.02 are what remains to learn of a label at 0.997.
	defaultMinGain = 0.02
	// Unlimited: the host's budget ends it.
	unlimited = 1 << 20
)

// Next is the offer of a request that is expected to tell most of the label per second, of equal ones the first; nil where none is worth it: the
// request's parameters say when. The scale is what is known so far.
func Next(r *abi.NodeRequest, scale *weigh.Scale) *abi.Experiment { return next(r, scale, unlimited) }

// First is Next for who asks only while the trial has no result yet, unless the request's parameters say otherwise.
func First(r *abi.NodeRequest, scale *weigh.Scale) *abi.Experiment { return next(r, scale, 1) }

// OnRemand is Next for who investigates a case that came back from the court. What is known so far is what lay before the court:
// the evidence and Light's answer.
func OnRemand(r *abi.NodeRequest) *abi.Experiment {
	if r.Family != abi.FamilyInvestigate || r.File == nil || r.File.Feedback == nil || len(r.Case.Labels) == 0 {
		return nil
	}
	scale := weigh.Weigh(&weigh.Matter{
		Labels: r.Case.Labels, Subject: r.Case.Subject, Light: r.Case.Light, Profile: r.Profile,
		Testimony: weigh.FromEvidence(r.Case.Evidence), Experiments: r.Case.Experiments,
	})
	return Next(r, scale)
}

func next(r *abi.NodeRequest, scale *weigh.Scale, enough float64) *abi.Experiment {
	if len(r.Offers) == 0 || float64(len(r.Case.Experiments)) >= NumberParam(r.Params, maxExperiments, enough) ||
		reached(r, scale, NumberParam(r.Params, settled, defaultSettled)) {
		return nil
	}
	if enough == unlimited || GuardOf(r.Params) != nil {
		for _, tree := range []abi.TreeRevision{abi.Head, abi.Base} {
			if first := firstRuns(r, tree); first != nil {
				return first
			}
		}
	}
	offers := slices.DeleteFunc(slices.Clone(r.Offers), func(o abi.ExperimentOffer) bool {
		return slices.ContainsFunc(r.Case.Experiments, func(run abi.ExperimentResult) bool { return run.Experiment == o.Experiment })
	})
	best, rate := odds.Choose(r.Profile, r.Case.Experiments, offers, NumberParam(r.Params, minGain, defaultMinGain), scale.Forecast().Information)
	if best == nil || rate < NumberParam(r.Params, minRate, 0) {
		return nil
	}
	return &best.Experiment
}

// reached says whether nothing is left to be gained: a label has the probability bound and, where labels are guarded, it is settled whether one of
// them is right, too.
func reached(r *abi.NodeRequest, scale *weigh.Scale, bound float64) bool {
	if g := GuardOf(r.Params); g != nil && !g.Denies(scale, r.Case.Experiments) && !g.Blames(scale, r.Case.Experiments) {
		return false
	}
	return slices.Max(scale.Posterior) >= bound
}

// firstRuns are the first runs of a tree that a guarded label is judged by before all else, and that a judge wants before anything that is not
// settled yet; nil where they were made or are not on offer.
func firstRuns(r *abi.NodeRequest, tree abi.TreeRevision) *abi.Experiment {
	is := func(e *abi.Experiment) bool {
		return e.Product == tree && e.Tests == tree && e.Environment == abi.OriginalEnvironment && e.Order == abi.Alone
	}
	for i := range r.Case.Experiments {
		if is(&r.Case.Experiments[i].Experiment) {
			return nil
		}
	}
	var first *abi.Experiment
	for i := range r.Offers {
		if e := &r.Offers[i].Experiment; is(e) && (first == nil || e.Runs < first.Runs) {
			first = e
		}
	}
	return first
}

// maxResults bounds how many results one sentence lists: more than any host offers.
const maxResults = 16

// Experimented says what experiments have shown and what each tells by itself, in a sentence; nothing where none was run.
func Experimented(results []abi.ExperimentResult, scale *weigh.Scale) string {
	out := ""
	for i := range results {
		if i == maxResults {
			out += "; and " + text.Int(len(results)-i) + " more"
			break
		}
		if out != "" {
			out += "; "
		}
		out += results[i].Experiment.Words() + ": " + results[i].Words() + " (" + told(scale, i) + ")"
	}
	if out == "" {
		return ""
	}
	return "Experiments: " + out + "."
}

func told(scale *weigh.Scale, i int) string {
	speaksFor, against, nats := scale.Shown(i)
	switch {
	case nats == 0:
		return "tells nothing"
	case speaksFor == "":
		return text.Share(nats) + " nats against " + against
	}
	return text.Share(nats) + " nats for " + speaksFor + " against " + against
}

// BaseFails says that the base fails, too, and what that means; nothing where it does not.
func BaseFails(results []abi.ExperimentResult) string {
	switch base := odds.BaseFails(results); {
	case base == nil:
		return ""
	case base.Outcome == abi.OutcomeSame:
		return "The base fails too, in the same way, so this change did not cause it: the fault is older, or the environment is broken."
	default:
		return "The base fails too, but in another way, so comparing with it does not show what this change did."
	}
}
