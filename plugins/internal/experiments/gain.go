package experiments

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Aim is what a persona wants of an experiment.
type Aim struct {
	side   side
	charge string
}

type side uint8

const (
	neutral side = iota
	against
	inFavour
)

// Neutral wants to know the label.
func Neutral() Aim { return Aim{} }

// Against wants the charge to fall, where it is wrong.
func Against(charge string) Aim { return Aim{against, charge} }

// For wants the charge to rise, where it is right.
func For(charge string) Aim { return Aim{inFavour, charge} }

// worth is what the aim gains, in nats, by an outcome that turns the probabilities before into those after, if the label of that
// index is the true one. charge is the index of the charge.
func (a Aim) worth(label, charge int, before, after []float64) float64 {
	switch {
	case a.side == neutral:
		return odds.Entropy(before) - odds.Entropy(after)
	case a.side == against && label != charge:
		return logOdds(before[charge]) - logOdds(after[charge])
	case a.side == inFavour && label == charge:
		return logOdds(after[charge]) - logOdds(before[charge])
	default:
		return 0
	}
}

// reached says whether nothing is left to be gained: a label has the probability bound, or the defense has brought the charge
// down to what is left beside such a label. A side whose charge is no label of the case gains nothing, either.
func (a Aim) reached(scale *weigh.Scale, bound float64) bool {
	if slices.Max(scale.Posterior) >= bound {
		return true
	}
	return a.side != neutral && !slices.Contains(scale.Labels, a.charge) || a.side == against && scale.Of(a.charge) <= 1-bound
}

// gain is what the outcomes of an experiment are expected to be worth, in nats.
func (a Aim) gain(scale *weigh.Scale, table *abi.ExperimentTable) float64 {
	sum := 0.0
	charge := slices.Index(scale.Labels, a.charge)
	likelihoods := scale.Predict(table)
	for o := range table.Outcomes {
		after := scale.After(table.Experiment, table.Outcomes[o].Outcome)
		for j, p := range scale.Posterior {
			sum += p * likelihoods[o][j] * a.worth(j, charge, scale.Posterior, after)
		}
	}
	return sum
}

// logOdds of a probability of the court, which is never certain: they are finite.
func logOdds(p float64) float64 {
	const least = 1e-12
	p = min(max(p, least), 1-least)
	return math.Log(p / (1 - p))
}
