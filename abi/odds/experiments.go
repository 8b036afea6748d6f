package odds

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// ExperimentTable finds what a profile knows of an experiment; nil where it knows nothing.
func ExperimentTable(p *abi.Profile, e *abi.Experiment) *abi.ExperimentTable {
	if p == nil {
		return nil
	}
	for i := range p.Experiments {
		if p.Experiments[i].Experiment == *e {
			return &p.Experiments[i]
		}
	}
	return nil
}

// AddExperiments adds what the results of experiments tell of the labels.
//
// A result speaks against each label by how much less likely its outcome is under that label than under the one that it fits
// best; a label that the table does not list gets the mean of those that it lists. An experiment without a table and an outcome
// that the table does not list tell nothing.
//
// Results on the same trees depend on each other: against each label the strongest of them counts, not the sum, so that a
// rerun that shows the same again tells nothing new. Where some of the runs in the host's own environment passed and some
// failed as the case did, each of these results counts as mixed. Results on other trees add up.
//
// What other trees show tells why the case fails on head, if it still does: where head no longer fails, it tells nothing.
func AddExperiments(to []float64, labels []string, p *abi.Profile, results []abi.ExperimentResult) {
	var trees []*treeObjections
	gone := noLongerFails(results)
	for i := range results {
		if gone && !onHead(&results[i]) {
			continue
		}
		v := Objections(labels, p, results, i)
		if v == nil {
			continue
		}
		e := &results[i].Experiment
		at := slices.IndexFunc(trees, func(t *treeObjections) bool { return t.product == e.Product && t.tests == e.Tests })
		if at < 0 {
			trees = append(trees, &treeObjections{e.Product, e.Tests, v})
			continue
		}
		for j, x := range v {
			trees[at].nats[j] = min(trees[at].nats[j], x)
		}
	}
	for _, t := range trees {
		for j, x := range t.nats {
			to[j] += x
		}
	}
}

// treeObjections are the nats, none above 0, by which the results on one combination of trees speak against each label.
type treeObjections struct {
	product, tests abi.TreeRevision
	nats           []float64
}

// Objections are the nats by which the i-th result speaks against each label by itself, 0 for the label that it fits best; nil
// where it tells nothing.
func Objections(labels []string, p *abi.Profile, results []abi.ExperimentResult, i int) []float64 {
	table := ExperimentTable(p, &results[i].Experiment)
	if table == nil || len(labels) == 0 {
		return nil
	}
	outcome := pooled(results, i)
	at := slices.IndexFunc(table.Outcomes, func(o abi.OutcomeLikelihood) bool { return o.Outcome == outcome })
	if at < 0 || len(table.Outcomes[at].Given) == 0 {
		return nil
	}
	v := make([]float64, len(labels))
	addGiven(v, labels, table.Outcomes[at].Given, 1)
	most := slices.Max(v)
	for j := range v {
		v[j] -= most
	}
	return v
}

// pooled is the outcome by which the i-th result counts: mixed where it and others on the same trees passed and failed in the
// host's own environment. In a clean environment a test that needs a variable or a file fails or passes for that reason.
func pooled(results []abi.ExperimentResult, i int) abi.ExperimentOutcome {
	own := &results[i]
	passes, fails := passesAndFails(own)
	if own.Experiment.Environment == abi.CleanEnvironment || !passes && !fails {
		return own.Outcome
	}
	for j := range results {
		e := &results[j].Experiment
		if e.Environment != abi.CleanEnvironment && e.Product == own.Experiment.Product && e.Tests == own.Experiment.Tests {
			p, f := passesAndFails(&results[j])
			passes, fails = passes || p, fails || f
		}
	}
	if passes && fails {
		return abi.OutcomeMixed
	}
	return own.Outcome
}

// noLongerFails says whether head was run again in the host's own environment, and every run passed.
func noLongerFails(results []abi.ExperimentResult) bool {
	passed := false
	for i := range results {
		r := &results[i]
		if !onHead(r) || r.Experiment.Environment == abi.CleanEnvironment {
			continue
		}
		if passes, fails := passesAndFails(r); fails {
			return false
		} else if passes {
			passed = true
		}
	}
	return passed
}

func onHead(r *abi.ExperimentResult) bool {
	return r.Experiment.Product == abi.Head && r.Experiment.Tests == abi.Head
}

func passesAndFails(r *abi.ExperimentResult) (passes, fails bool) {
	mixed := r.Outcome == abi.OutcomeMixed
	return mixed || r.Outcome == abi.OutcomePassed, mixed || r.Outcome == abi.OutcomeSame
}

// OutcomeLikelihoods are, by outcome of a table and by label, P(outcome | label) as AddExperiments reads them. Where those of a label
// sum to more than 1, all are divided by that sum. What is missing to 1 stands for outcomes that tell nothing.
func OutcomeLikelihoods(labels []string, table *abi.ExperimentTable) [][]float64 {
	out := make([][]float64, len(table.Outcomes))
	sums := make([]float64, len(labels))
	for o := range table.Outcomes {
		out[o] = likelihoods(labels, table.Outcomes[o].Given)
		for j, x := range out[o] {
			sums[j] += x
		}
	}
	if len(labels) == 0 {
		return out
	}
	if most := slices.Max(sums); most > 1 {
		for o := range out {
			for j := range out[o] {
				out[o][j] /= most
			}
		}
	}
	return out
}

func likelihoods(labels []string, given []abi.LabelWeight) []float64 {
	out := make([]float64, len(labels))
	if len(given) == 0 {
		return out
	}
	mean := meanLog(given)
	for j, label := range labels {
		out[j] = math.Exp(logWeight(given, label, mean))
	}
	return out
}
