package proceeding

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// The parameters of a node that protect labels.
const (
	maxFalse = "max_false" // the most that the guarded labels may have together where they are denied
	minBlame = "min_blame" // the least that they have where one of them is given, while experiments were asked for in vain
)

// The defaults of the parameters.
const (
	defaultMaxFalse = 0.01
	defaultMinBlame = 0.97
)

// Guard protects labels that must not be denied by mistake, such as that a change caused a failure: all others are given only where the
// guarded ones are improbable enough, and the base was run.
type Guard struct {
	labels          []string
	maxFalse, blame float64
}

// GuardOf is what the parameters of a node protect; nil where that is nothing.
func GuardOf(list []abi.Param) *Guard {
	labels := params.List(list, params.GuardedLabels)
	if len(labels) == 0 {
		return nil
	}
	return &Guard{labels, params.Number(list, maxFalse, defaultMaxFalse), params.Number(list, minBlame, defaultMinBlame)}
}

// Has says whether a label is guarded.
func (g *Guard) Has(label string) bool { return slices.Contains(g.labels, label) }

// Of is what the guarded labels have together.
func (g *Guard) Of(scale *weigh.Scale) float64 {
	sum := 0.0
	for _, label := range g.labels {
		sum += scale.Of(label)
	}
	return min(sum, 1)
}

// Denies says whether the guarded labels may be denied.
func (g *Guard) Denies(scale *weigh.Scale, results []abi.ExperimentResult) bool {
	return g.Of(scale) <= g.maxFalse && odds.Based(results)
}

// Blames says whether one of the guarded labels is as good as certain, and the base was tried.
func (g *Guard) Blames(scale *weigh.Scale, results []abi.ExperimentResult) bool {
	return g.Of(scale) >= g.blame && Tried(results)
}

// Tried says whether the base was run, or found to have nothing to run.
func Tried(results []abi.ExperimentResult) bool { return odds.FactsOf(results).Based }

// Top is the most probable of the labels that are guarded, or of those that are not.
func (g *Guard) Top(scale *weigh.Scale, guarded bool) (label string, p float64) {
	for j, l := range scale.Labels {
		if g.Has(l) == guarded && (label == "" || scale.Posterior[j] > p) {
			label, p = l, scale.Posterior[j]
		}
	}
	return label, p
}
