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

// reached says whether nothing is left to be gained: a label has the probability bound, or the defense has brought the charge
// down to what is left beside such a label. A side whose charge is no label of the case gains nothing, either.
func (a Aim) reached(scale *weigh.Scale, bound float64) bool {
	if slices.Max(scale.Posterior) >= bound {
		return true
	}
	return a.side != neutral && !slices.Contains(scale.Labels, a.charge) || a.side == against && scale.Of(a.charge) <= 1-bound
}

// gain is what the outcomes of an experiment are expected to be worth, in nats.
func (a Aim) gain(labels []string, forecast *odds.Forecast, table *abi.ExperimentTable) float64 {
	if a.side == neutral {
		return forecast.Information(table)
	}
	charge := slices.Index(labels, a.charge)
	before := logOdds(forecast.Now[charge])
	return forecast.Gain(table, func(label int, after []float64) float64 {
		switch {
		case a.side == against && label != charge:
			return before - logOdds(after[charge])
		case a.side == inFavour && label == charge:
			return logOdds(after[charge]) - before
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
