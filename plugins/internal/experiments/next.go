package experiments

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// The parameters of a node by which its personas ask for experiments.
const (
	// ParamSettled is the probability of a label from which nothing more is asked.
	ParamSettled = "settled"
	// ParamMinGain is the least gain in nats that is worth an experiment, however cheap.
	ParamMinGain = "min_gain"
	// ParamMaxExperiments is how many experiments of the trial are enough: with so many results the persona asks for no more.
	ParamMaxExperiments = "max_experiments"
)

// Params returns the names of the parameters.
func Params() []string { return []string{ParamSettled, ParamMinGain, ParamMaxExperiments} }

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

// Next is the offer of a request that serves the aim best per second, or nil where none is worth it: the request's
// parameters say when. The scale is what is known so far. A side asks only where the parameters let it: what it asks for changes
// next to no answer of lab/experiments-study.md and takes seconds.
func Next(r *abi.NodeRequest, scale *weigh.Scale, aim Aim) *abi.Experiment {
	if aim.side != neutral {
		return nextOf(r, scale, aim, 0)
	}
	return nextOf(r, scale, aim, unlimited)
}

// First is Next for who asks only while the trial has no result yet, unless the request's parameters say otherwise.
func First(r *abi.NodeRequest, scale *weigh.Scale, aim Aim) *abi.Experiment {
	return nextOf(r, scale, aim, 1)
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

func nextOf(r *abi.NodeRequest, scale *weigh.Scale, aim Aim, enough float64) *abi.Experiment {
	settled := defaultSettled
	if aim.side != neutral {
		settled = defaultSettledSide
	}
	bound := params.Number(r.Params, ParamSettled, settled)
	if float64(len(r.Case.Experiments)) >= params.Number(r.Params, ParamMaxExperiments, enough) ||
		aim.reached(scale, bound) {
		return nil
	}
	least := defaultMinGain
	if aim.side != neutral {
		least = defaultMinGainSide
	}
	if best := Best(r, scale, aim, params.Number(r.Params, ParamMinGain, least)); best != nil {
		return &best.Experiment
	}
	return nil
}

// Best is the offer that serves the aim best per second among those whose gain is above least, or nil.
func Best(r *abi.NodeRequest, scale *weigh.Scale, aim Aim, least float64) *abi.ExperimentOffer {
	if len(r.Offers) == 0 {
		return nil
	}
	forecast := scale.Forecast()
	offers := slices.DeleteFunc(slices.Clone(r.Offers), func(o abi.ExperimentOffer) bool { return wasRun(r.Case.Experiments, &o.Experiment) })
	best, _ := odds.Choose(r.Profile, offers, least, func(table *abi.ExperimentTable) float64 { return aim.gain(scale.Labels, forecast, table) })
	return best
}

func wasRun(results []abi.ExperimentResult, e *abi.Experiment) bool {
	return slices.ContainsFunc(results, func(r abi.ExperimentResult) bool { return r.Experiment == *e })
}
