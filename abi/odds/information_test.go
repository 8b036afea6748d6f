package odds_test

import (
	"math"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

func TestInformation(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Experiments: []abi.ExperimentTable{
		{Experiment: again, Outcomes: []abi.OutcomeLikelihood{{Outcome: abi.OutcomeSame, Given: given(1, 1, 1e-15)}, {Outcome: abi.OutcomeMixed, Given: given(1e-15, 1e-15, 1)}}},
		{Experiment: green, Outcomes: []abi.OutcomeLikelihood{{Outcome: abi.OutcomeSame, Given: given(0.5, 0.5, 0.5)}, {Outcome: abi.OutcomePassed, Given: given(0.5, 0.5, 0.5)}}},
	}}
	third := []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}
	// After the rerun c is told apart from two labels between which one bit stays open.
	open := odds.ForecastFrom(labels(), third, p, nil)
	near(t, []float64{
		open.Information(&p.Experiments[0].Experiment),
		open.Information(&p.Experiments[1].Experiment),
		odds.ForecastFrom(labels(), []float64{0.5, 0.5, 0}, p, results(again, abi.OutcomeSame)).Information(&p.Experiments[0].Experiment),
	}, []float64{math.Log(3) - 2.0/3*math.Log(2), 0, 0})
}
