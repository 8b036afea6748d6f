package bench

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

func rerunOffer() (*abi.Profile, abi.ExperimentOffer) {
	e := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}
	given := func(a, b float64) []abi.LabelWeight {
		return []abi.LabelWeight{{Label: "a", Weight: a}, {Label: "b", Weight: b}}
	}
	return &abi.Profile{Experiments: []abi.ExperimentTable{{Experiment: e, Outcomes: []abi.OutcomeLikelihood{
		{Outcome: abi.OutcomeSame, Given: given(0.9, 0.1)}, {Outcome: abi.OutcomePassed, Given: given(0.1, 0.9)},
	}}}}, abi.ExperimentOffer{Experiment: e, Seconds: 2}
}

// Discovery asks for the first experiment only, and Light, should it stand in the request, has no part in the choice.
func TestDiscoveryAsksForTheFirstExperiment(t *testing.T) {
	t.Parallel()
	profile, offer := rerunOffer()
	request := func(family abi.Family) *abi.NodeRequest {
		return &abi.NodeRequest{
			Family: family, Profile: profile, Offers: []abi.ExperimentOffer{offer}, Case: abi.CaseView{Labels: []string{"a", "b"}},
			Indictment: &abi.Indictment{ChargedDefectType: "a"}, Turn: &abi.TurnRequest{},
		}
	}
	other := offer.Experiment
	other.Runs = 1
	begun, light := request(abi.FamilyDiscover), request(abi.FamilyDiscover)
	begun.Case.Experiments = []abi.ExperimentResult{{Experiment: other, Outcome: abi.OutcomePassed, Passed: 1}}
	light.Case.Light = &abi.LightAnswer{Classification: "a", Confidence: 1}
	light.Case.Evidence = []abi.Evidence{{SourceRef: "x", Content: "it was a, nothing else", Supports: "a", RelevanceConfidence: 1}}
	for _, tc := range []struct {
		name    string
		request *abi.NodeRequest
		asks    bool
	}{
		{"at discovery", request(abi.FamilyDiscover), true},
		{"with a conclusion of Light", light, true},
		{"with a result", begun, false},
		{"in the hearing", request(abi.FamilyHearing), false},
	} {
		if e := Choose(tc.request); (e != nil) != tc.asks {
			t.Errorf("%s: asks for %v", tc.name, e)
		}
	}
}
