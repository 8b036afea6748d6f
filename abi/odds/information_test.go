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
	near(t, []float64{
		odds.Information(labels(), third, p, nil, &again),
		odds.Information(labels(), third, p, nil, &green),
		odds.Information(labels(), third, p, nil, &unknown),
		odds.Information(labels(), []float64{0.5, 0.5, 0}, p, results(again, abi.OutcomeSame), &again),
		odds.Information(nil, nil, p, nil, &again),
	}, []float64{math.Log(3) - 2.0/3*math.Log(2), 0, 0, 0, 0})
}
