package plan_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

func TestTheBestExperimentTellsMostForItsSeconds(t *testing.T) {
	t.Parallel()
	cheap, dear := abi.Experiment{Product: abi.Head, Tests: abi.Base, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 1},
		abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.OriginalOrder, Runs: 2}
	telling, hint, nothing := []float64{0.9, 0.1}, []float64{0.6, 0.4}, []float64{0.5, 0.5}
	known := func(e abi.Experiment, given []float64) abitest.Passing { return abitest.Passing{Of: e, Given: given} }
	labels, even := []string{"a", "b"}, []float64{0.5, 0.5}
	for _, tc := range []struct {
		name    string
		known   []abitest.Passing
		now     []float64
		results []abi.ExperimentResult
		offers  []abi.ExperimentOffer
		want    *abi.Experiment
	}{
		{"of two that tell the same the cheaper", []abitest.Passing{known(dear, telling), known(cheap, telling)}, even, nil, nil, &cheap},
		{"much for many seconds before little for few", []abitest.Passing{known(dear, telling), known(cheap, hint)}, even, nil, nil, &dear},
		{"nothing that tells nothing", []abitest.Passing{known(cheap, nothing)}, even, nil, nil, nil},
		{"nothing without a model", nil, even, nil, nil, nil},
		{"nothing where all is known", []abitest.Passing{known(cheap, telling)}, []float64{0.9999, 0.0001}, nil, nil, nil},
		{"nothing that was run", []abitest.Passing{known(cheap, telling)}, even, []abi.ExperimentResult{{Experiment: cheap, Outcome: abi.OutcomePassed, Passed: cheap.Runs}}, nil, nil},
		{"by the seconds that the host expects", []abitest.Passing{known(dear, telling), known(cheap, telling)}, even, nil, []abi.ExperimentOffer{{Experiment: dear, Seconds: 1}}, &dear},
		{"what could not be run", []abitest.Passing{known(cheap, telling)}, even, []abi.ExperimentResult{{Experiment: cheap, Outcome: abi.OutcomeNotRun}}, nil, &cheap},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := &abi.Profile{Outcomes: abitest.Outcomes(labels, tc.known...)}
			got := plan.Best(plan.Outlook(labels, p, tc.results), tc.now, p, tc.results, tc.offers, 0, plan.GoPace())
			switch {
			case got == nil && tc.want == nil:
			case got == nil || tc.want == nil || got.Experiment != *tc.want:
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

// An experiment whose runs were made is not proposed again, even if they don't count, unless its tests may lack what they can be given. What
// they print is no sign of that.
func TestAccept_FZ3_ARunIsProposedAgainOnlyWithWhatItLacked(t *testing.T) {
	t.Parallel()
	e := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}
	p := &abi.Profile{Outcomes: abitest.Outcomes([]string{"a", "b"}, abitest.Passing{Of: e, Given: []float64{0.9, 0.1}})}
	for _, tc := range []struct {
		name   string
		result abi.ExperimentResult
		again  bool
		lacks  string
	}{
		{"not run", abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeNotRun, Detail: "the budget is used up"}, true, ""},
		{"run, and not counted", abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeNotRun, Other: 5, Detail: "it fails in one other way:\n" + plan.ShowsHome}, false, ""},
		{"without the home", abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomePassed, Passed: 5, Detail: "no home: " + plan.ShowsHome + "\nlog"}, false, plan.Home},
		{"without the network", abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeNotRun, Detail: "no network; " + plan.LeavesNetwork}, true, plan.Network},
		{"the failure came back", abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeSame, Same: 5, Detail: plan.ShowsHome}, false, ""},
	} {
		results := []abi.ExperimentResult{tc.result}
		if best := plan.Best(plan.Outlook([]string{"a", "b"}, p, results), []float64{0.5, 0.5}, p, results, nil, 0, plan.GoPace()); (best != nil && best.Experiment == e) != tc.again {
			t.Errorf("%s: proposed is %+v", tc.name, best)
		}
		if r, lacks := plan.Lacking(results); lacks != tc.lacks || (r != nil) != (lacks != "") {
			t.Errorf("%s: lacks %q", tc.name, lacks)
		}
	}
}
