package odds

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Information is how much an experiment is expected to tell of the label: by how many nats the entropy of the labels falls, beside
// the results that there are. now are the probabilities of the labels with these results; 0 where the profile has no table.
func Information(labels []string, now []float64, p *abi.Profile, results []abi.ExperimentResult, e *abi.Experiment) float64 {
	table := ExperimentTable(p, e)
	if table == nil || len(labels) == 0 {
		return 0
	}
	before := make([]float64, len(labels))
	AddExperiments(before, labels, p, results)
	likelihoods := Predict(labels, p, table, results)
	gain := 0.0
	for o := range table.Outcomes {
		nats := make([]float64, len(labels))
		AddExperiments(nats, labels, p, append(slices.Clone(results), abi.ExperimentResult{Experiment: *e, Outcome: table.Outcomes[o].Outcome}))
		probability := 0.0
		for j, x := range now {
			nats[j] += math.Log(max(x, leastProbability)) - before[j]
			probability += x * likelihoods[o][j]
		}
		gain += probability * (Entropy(now) - Entropy(Probabilities(nats, 0)))
	}
	return gain
}

// leastProbability keeps logarithms finite.
const leastProbability = 1e-12

// Entropy of probabilities, in nats.
func Entropy(p []float64) float64 {
	h := 0.0
	for _, x := range p {
		if x > 0 {
			h -= x * math.Log(x)
		}
	}
	return h
}
