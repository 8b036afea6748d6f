package main

import (
	"context"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// court is an arm that holds trials with experiments.
type court struct {
	arm   arm
	table arm // decides over the same outcomes; empty: none
	mode  experiment.Mode
	// change is what the shipped pipeline has otherwise. Optional.
	change func(*pipeline.Definition)
	// fixed: experiments are asked for in a fixed order.
	fixed bool
}

// The arms of the two comparisons: that of orders, and that of courts without one of their mechanisms.
const (
	fixedOrder  arm = "court, experiments in a fixed order"
	allOfThem   arm = "court, every experiment that can tell anything"
	noContest   arm = "no contest"
	oneRound    arm = "hearing of one round"
	noRemand    arm = "no remands"
	sidesAsk    arm = "the sides ask for experiments, too"
	onlyJudge   arm = "only the judge asks for experiments"
	noneOfThese arm = "none of these: one round, no contest, no remands, and only the judge asks"
)

// courts are the arms that hold trials with experiments.
func courts() []court {
	const all = experiment.All
	return []court{
		{arm: reruns, table: rerunsTable, mode: experiment.Reruns},
		{arm: everyExperiment, table: allTable, mode: all},
		{arm: fixedOrder, mode: all, fixed: true},
		{arm: allOfThem, mode: all, change: insatiable},
		{arm: noContest, mode: all, change: withoutContest},
		{arm: oneRound, mode: all, change: withOneRound},
		{arm: noRemand, mode: all, change: withoutRemands},
		{arm: sidesAsk, mode: all, change: func(d *pipeline.Definition) {
			set(d, mostExperiments, manyExperiments, pipeline.FamilyDefend, pipeline.FamilyHearing)
		}},
		{arm: onlyJudge, mode: all, change: withoutDiscovery},
		{arm: noneOfThese, mode: all, change: func(d *pipeline.Definition) {
			withoutContest(d)
			withOneRound(d)
			withoutRemands(d)
			withoutDiscovery(d)
		}},
	}
}

// orders and ablations are the arms that are set beside the court with all experiments.
func orders() []arm { return []arm{everyExperiment, fixedOrder, allOfThem, everything} }

func ablations() []arm {
	return []arm{everyExperiment, noContest, oneRound, noRemand, sidesAsk, onlyJudge, noneOfThese}
}

func withoutContest(d *pipeline.Definition) {
	for i := range d.Personas {
		d.Personas[i].Contests = ""
	}
}

func withOneRound(d *pipeline.Definition) {
	for i := range d.Nodes {
		if d.Nodes[i].Family == pipeline.FamilyHearing {
			d.Nodes[i].Rounds = 1
		}
	}
}

func withoutRemands(d *pipeline.Definition) { d.Court.MaxRemands = 0 }

// set sets a parameter at the nodes of some families.
func set(d *pipeline.Definition, name string, value float64, families ...pipeline.Family) {
	for i := range d.Nodes {
		if n := &d.Nodes[i]; slices.Contains(families, n.Family) {
			n.With = append(slices.DeleteFunc(slices.Clone(n.With), func(p pipeline.Param) bool { return p.Name == name }), pipeline.Number(name, value))
		}
	}
}

// The parameter that says how many experiments of a trial are enough for a node, and a value that never is.
const (
	mostExperiments = "max_experiments"
	manyExperiments = 100
)

func withoutDiscovery(d *pipeline.Definition) { set(d, mostExperiments, 0, pipeline.FamilyDiscover) }

func askers() []pipeline.Family {
	return []pipeline.Family{pipeline.FamilyDiscover, pipeline.FamilyDefend, pipeline.FamilyHearing, pipeline.FamilyVerdict}
}

// insatiable makes personas ask on where a label is settled, whatever little the next experiment would tell.
func insatiable(d *pipeline.Definition) {
	set(d, "settled", 1, askers()...)
	set(d, "min_gain", 0, askers()...)
	set(d, mostExperiments, manyExperiments, askers()...)
}

// fixedPlace is the place of an experiment in the fixed order: reruns, then what other trees show, then what other surroundings show.
func fixedPlace(e abi.Experiment) int {
	switch {
	case onHead(e) && e.Environment == abi.OriginalEnvironment && e.Order == abi.Alone:
		return 0
	case e.Product == abi.Base && e.Tests == abi.Base:
		return 1
	case e.Product == abi.Head && e.Tests == abi.Base:
		return 2
	case e.Product == abi.Base:
		return 3
	case e.Environment == abi.StarvedEnvironment:
		return 4
	case e.Order == abi.OriginalOrder:
		return 5
	default:
		return 6
	}
}

// inOrder is a client whose offers seem to take so much longer from one to the next that personas ask for them in the fixed order, but
// for what tells next to nothing. Offers are the same throughout a trial, so that it can't offer one after the other.
type inOrder struct{ *client }

// Offers are those of the client.
func (c inOrder) Offers(ctx context.Context, subject *abi.Case) ([]abi.ExperimentOffer, error) {
	const first, factor = 0.1, 9.5 // the last one takes less than a day, the most that an offer may take
	offers, err := c.client.Offers(ctx, subject)
	slices.SortFunc(offers, func(a, b abi.ExperimentOffer) int { return fixedPlace(a.Experiment) - fixedPlace(b.Experiment) })
	for i := range offers {
		offers[i].Seconds = first * math.Pow(factor, float64(i))
	}
	return offers, err
}
