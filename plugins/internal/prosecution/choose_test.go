package prosecution

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Of two experiments one mostly refutes the charge where it is wrong, the other mostly confirms it where it is right: the prosecution asks for the second, and only in the hearing.
func TestTheExperimentOfTheProsecution(t *testing.T) {
	t.Parallel()
	refutes := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.StarvedEnvironment, Order: abi.Alone, Runs: 5}
	confirms := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.OriginalOrder, Runs: 2}
	table := func(e abi.Experiment, a, b float64) abi.ExperimentTable {
		given := func(a, b float64) []abi.LabelWeight {
			return []abi.LabelWeight{{Label: "a", Weight: a}, {Label: "b", Weight: b}}
		}
		return abi.ExperimentTable{Experiment: e, Outcomes: []abi.OutcomeLikelihood{{Outcome: abi.OutcomePassed, Given: given(a, b)}, {Outcome: abi.OutcomeSame, Given: given(1-a, 1-b)}}}
	}
	request := func(family abi.Family) *abi.NodeRequest {
		return &abi.NodeRequest{
			Family:     family,
			Case:       abi.CaseView{Labels: []string{"a", "b"}, Light: &abi.LightAnswer{Classification: "a", Confidence: 0.6}},
			Indictment: &abi.Indictment{ChargedDefectType: "a"},
			Profile:    &abi.Profile{Experiments: []abi.ExperimentTable{table(refutes, 0.01, 0.5), table(confirms, 0.5, 0.01)}},
			Offers:     []abi.ExperimentOffer{{Experiment: refutes, Seconds: 2}, {Experiment: confirms, Seconds: 2}},
			Turn:       &abi.TurnRequest{Round: 1, MaxRounds: 3},
			Params:     []abi.Param{{Name: "max_experiments", Number: new(9.0)}},
		}
	}
	for family, want := range map[abi.Family]*abi.Experiment{abi.FamilyIndict: nil, abi.FamilyHearing: &confirms} {
		got := Choose(request(family))
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("at %s it asks for %v, want %v", family, got, want)
		}
	}
}
