package anytrial_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/plugins/internal/bench"
	"github.com/shadowcourt/shadowcourt/plugins/internal/defense"
	"github.com/shadowcourt/shadowcourt/plugins/internal/judgment"
	"github.com/shadowcourt/shadowcourt/plugins/internal/prosecution"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit/anytrial"
)

// Whatever the proceeding, what the personas of the court answer keeps the contract.
func TestEveryAnswerKeepsTheContract(t *testing.T) {
	t.Parallel()
	for name, persona := range map[string]struct {
		families []abi.Family
		play     func(*abi.NodeRequest) (*abi.Artifact, *abi.Failure)
		choose   func(*abi.NodeRequest) *abi.Experiment
		contest  func(*abi.ContestRequest) ([]abi.Challenge, *abi.Failure)
	}{
		"prosecution": {[]abi.Family{abi.FamilyIndict, abi.FamilyHearing}, prosecution.Play, nil, prosecution.Contest},
		"defense":     {[]abi.Family{abi.FamilyDefend, abi.FamilyHearing}, defense.Play, nil, defense.Contest},
		"bench":       {[]abi.Family{abi.FamilyDiscover, abi.FamilyHearing}, bench.Play, bench.Choose, bench.Contest},
		"judgment":    {[]abi.Family{abi.FamilyVerdict}, judgment.Play, judgment.Choose, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := anytrial.New(1)
			asked := 0
			for range 500 {
				for _, family := range persona.families {
					r := source.Request(family)
					anytrial.CheckNode(t, persona.play, r)
					if persona.choose != nil && anytrial.CheckChoice(t, persona.choose, r) {
						asked++
					}
				}
				if persona.contest != nil {
					anytrial.CheckContest(t, persona.contest, source.Contest())
				}
			}
			if persona.choose != nil && asked == 0 {
				t.Error("no experiment was asked for in any proceeding")
			}
		})
	}
}

// Discovery asks for the first experiment only, and Light, should it stand in the request, has no part in the choice. In the hearing nobody asks.
func TestWhoAsksForWhichExperiment(t *testing.T) {
	t.Parallel()
	refutes := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.StarvedEnvironment, Order: abi.Alone, Runs: 1}
	confirms := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.OriginalOrder, Runs: 1}
	sure := func(r *abi.NodeRequest) {
		r.Case.Light.Confidence = 1
		r.Case.Evidence = []abi.Evidence{{SourceRef: "x", Content: "it was a, nothing else", Supports: "a", RelevanceConfidence: 1}}
	}
	begun := func(r *abi.NodeRequest) {
		r.Params = nil
		r.Case.Experiments = []abi.ExperimentResult{{Experiment: abi.Experiment{Runs: 7}, Outcome: abi.OutcomePassed, Passed: 1}}
	}
	for _, tc := range []struct {
		name   string
		choose func(*abi.NodeRequest) *abi.Experiment
		family abi.Family
		change func(*abi.NodeRequest)
		want   *abi.Experiment
	}{
		{"discovery", bench.Choose, abi.FamilyDiscover, nil, &refutes},
		{"discovery with a conclusion of Light", bench.Choose, abi.FamilyDiscover, sure, &refutes},
		{"discovery with a result", bench.Choose, abi.FamilyDiscover, begun, nil},
		{"the bench in the hearing", bench.Choose, abi.FamilyHearing, nil, nil},
	} {
		r := &abi.NodeRequest{
			Family:     tc.family,
			Case:       abi.CaseView{Labels: []string{"a", "b"}, Light: &abi.LightAnswer{Classification: "a", Confidence: 0.6}},
			Indictment: &abi.Indictment{ChargedDefectType: "a"},
			Profile:    &abi.Profile{Outcomes: abitest.Outcomes([]string{"a", "b"}, abitest.Passing{Of: refutes, Given: []float64{0.01, 0.5}}, abitest.Passing{Of: confirms, Given: []float64{0.5, 0.01}})},
			Offers:     []abi.ExperimentOffer{{Experiment: refutes, Seconds: 2}, {Experiment: confirms, Seconds: 2}},
			Turn:       &abi.TurnRequest{Round: 1, MaxRounds: 3},
			Params:     []abi.Param{{Name: "max_experiments", Number: new(9.0)}},
		}
		if tc.change != nil {
			tc.change(r)
		}
		if got := tc.choose(r); (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
			t.Errorf("%s asks for %v, want %v", tc.name, got, tc.want)
		}
	}
}
