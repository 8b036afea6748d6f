package proceeding

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Aim is what a persona wants of an experiment. Its gain, in nats, is what the outcomes are expected to do, each as probable as the
// profile's outcome model and the probabilities of the labels make it.
type Aim struct {
	side    side
	charges []string
	guard   *Guard
}

type side uint8

const (
	neutral side = iota
	against
	inFavour
)

// Neutral wants the entropy of the labels to fall.
func Neutral() Aim { return Aim{} }

// Against wants the log-odds of the charge, or of the labels that the node guards, to fall in the cases in which it is wrong. An expected fall of its probability would not tell
// the sides apart: it is matched by a rise that is as large, for every experiment.
func Against(charge string) Aim { return Aim{side: against, charges: []string{charge}} }

// For wants the log-odds of the charge, or of the labels that the node guards, to rise in the cases in which it is right.
func For(charge string) Aim { return Aim{side: inFavour, charges: []string{charge}} }

// guarded is the aim at a node with such parameters: its sides fight for the labels that it guards.
func (a Aim) guarded(list []abi.Param) Aim {
	if a.guard = GuardOf(list); a.guard != nil {
		a.charges = a.guard.labels
	}
	return a
}

// share is what the charges have together.
func (a Aim) share(labels []string, p []float64) float64 {
	sum := 0.0
	for j, label := range labels {
		if slices.Contains(a.charges, label) {
			sum += p[j]
		}
	}
	return sum
}

// reached says whether nothing is left to be gained: a label has the probability bound, or the defense has brought the charge
// down to what is left beside such a label. A side whose charge is no label of the case gains nothing, either. Where labels are guarded, it
// has to be settled whether one of them is right, too.
func (a Aim) reached(scale *weigh.Scale, results []abi.ExperimentResult, bound float64) bool {
	if g := a.guard; g != nil && !g.Denies(scale, results) && !g.Blames(scale, results) {
		return false
	}
	if slices.Max(scale.Posterior) >= bound {
		return true
	}
	share := a.share(scale.Labels, scale.Posterior)
	return a.side != neutral && share == 0 || a.side == against && share <= 1-bound
}

// gain is what the outcomes of an experiment are expected to be worth, in nats.
func (a Aim) gain(labels []string, forecast *odds.Forecast, e *abi.Experiment) float64 {
	if a.side == neutral {
		return forecast.Information(e)
	}
	before := logOdds(a.share(labels, forecast.Now))
	return forecast.Gain(e, func(label int, after []float64) float64 {
		switch {
		case a.side == against && !slices.Contains(a.charges, labels[label]):
			return before - logOdds(a.share(labels, after))
		case a.side == inFavour && slices.Contains(a.charges, labels[label]):
			return logOdds(a.share(labels, after)) - before
		default:
			return 0
		}
	})
}

// logOdds of a probability of the court, which is never certain: they are finite.
func logOdds(p float64) float64 {
	const least = 1e-12
	p = min(max(p, least), 1-least)
	return math.Log(p / (1 - p))
}

// The parameters of a node by which its personas ask for experiments.
const (
	settled        = "settled"         // probability of a label from which nothing more is asked
	minGain        = "min_gain"        // least gain in nats that is worth an experiment, however cheap
	maxExperiments = "max_experiments" // results of the trial that are enough
)

// ExperimentParams are the names of the parameters.
func ExperimentParams() []string { return append(GuardParams(), settled, minGain, maxExperiments) }

// The defaults of the parameters.
const (
	// The judge and the investigation ask on where the sides have enough.
	defaultSettled     = 0.97
	defaultSettledSide = 0.9
	// An even guess between two labels has 0.69 nats; 0.02 are what remains to learn of a label at 0.997. Sides count log-odds, which
	// an outcome moves further than it moves the entropy, however unlikely it is.
	defaultMinGain     = 0.02
	defaultMinGainSide = 0.08
	// Unlimited: the host's budget ends it.
	unlimited = 1 << 20
)

// Next is the offer of a request that serves the aim best per expected second, of equal ones the first; nil where none is worth it: the
// request's parameters say when. The scale is what is known so far. A side asks only where the parameters let it.
func Next(r *abi.NodeRequest, scale *weigh.Scale, aim Aim) *abi.Experiment {
	if aim.side != neutral {
		return next(r, scale, aim, 0, defaultSettledSide, defaultMinGainSide)
	}
	return next(r, scale, aim, unlimited, defaultSettled, defaultMinGain)
}

// First is Next for who asks only while the trial has no result yet, unless the request's parameters say otherwise.
func First(r *abi.NodeRequest, scale *weigh.Scale) *abi.Experiment {
	return next(r, scale, Neutral(), 1, defaultSettled, defaultMinGain)
}

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
	return Next(r, scale, Neutral())
}

func next(r *abi.NodeRequest, scale *weigh.Scale, aim Aim, enough, bound, least float64) *abi.Experiment {
	aim = aim.guarded(r.Params)
	if len(r.Offers) == 0 || float64(len(r.Case.Experiments)) >= params.Number(r.Params, maxExperiments, enough) ||
		aim.reached(scale, r.Case.Experiments, params.Number(r.Params, settled, bound)) {
		return nil
	}
	if aim.guard != nil || enough == unlimited {
		for _, tree := range []abi.TreeRevision{abi.Head, abi.Base} {
			if first := firstRuns(r, tree); first != nil {
				return first
			}
		}
	}
	forecast := scale.Forecast()
	offers := slices.DeleteFunc(slices.Clone(r.Offers), func(o abi.ExperimentOffer) bool {
		return slices.ContainsFunc(r.Case.Experiments, func(run abi.ExperimentResult) bool { return run.Experiment == o.Experiment })
	})
	best, _ := odds.Choose(r.Profile, r.Case.Experiments, offers, params.Number(r.Params, minGain, least), func(e *abi.Experiment) float64 {
		return aim.gain(scale.Labels, forecast, e)
	})
	if best == nil {
		return nil
	}
	return &best.Experiment
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
