package plan_test

import (
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

func table(e abi.Experiment, likelihoods map[abi.ExperimentOutcome][2]float64) abi.ExperimentTable {
	t := abi.ExperimentTable{Experiment: e}
	for _, o := range []abi.ExperimentOutcome{abi.OutcomePassed, abi.OutcomeSame, abi.OutcomeMixed} {
		if x, ok := likelihoods[o]; ok {
			t.Outcomes = append(t.Outcomes, abi.OutcomeLikelihood{Outcome: o, Given: []abi.LabelWeight{{Label: "a", Weight: x[0]}, {Label: "b", Weight: x[1]}}})
		}
	}
	return t
}

func TestTheBestExperimentTellsMostForItsSeconds(t *testing.T) {
	t.Parallel()
	all := plan.Offers(0, plan.GoPace(), plan.BuildOf)
	cheap, dear := all[0].Experiment, all[len(all)-1].Experiment
	telling := map[abi.ExperimentOutcome][2]float64{abi.OutcomePassed: {0.9, 0.1}, abi.OutcomeSame: {0.1, 0.9}}
	hint := map[abi.ExperimentOutcome][2]float64{abi.OutcomePassed: {0.6, 0.4}, abi.OutcomeSame: {0.4, 0.6}}
	nothing := map[abi.ExperimentOutcome][2]float64{abi.OutcomePassed: {0.5, 0.5}, abi.OutcomeSame: {0.5, 0.5}}
	labels, even := []string{"a", "b"}, []float64{0.5, 0.5}
	for _, tc := range []struct {
		name    string
		tables  []abi.ExperimentTable
		now     []float64
		results []abi.ExperimentResult
		offers  []abi.ExperimentOffer
		want    *abi.Experiment
	}{
		{"of two that tell the same the cheaper", []abi.ExperimentTable{table(dear, telling), table(cheap, telling)}, even, nil, nil, &cheap},
		{"much for many seconds before little for few", []abi.ExperimentTable{table(dear, telling), table(cheap, hint)}, even, nil, nil, &dear},
		{"nothing that tells nothing", []abi.ExperimentTable{table(cheap, nothing)}, even, nil, nil, nil},
		{"nothing without a table", nil, even, nil, nil, nil},
		{"nothing where all is known", []abi.ExperimentTable{table(cheap, telling)}, []float64{0.9999, 0.0001}, nil, nil, nil},
		{"nothing that was run", []abi.ExperimentTable{table(cheap, telling)}, even, []abi.ExperimentResult{{Experiment: cheap, Outcome: abi.OutcomePassed}}, nil, nil},
		{"by the seconds that the host expects", []abi.ExperimentTable{table(dear, telling), table(cheap, telling)}, even, nil, []abi.ExperimentOffer{{Experiment: dear, Seconds: 1}}, &dear},
		{"what could not be run", []abi.ExperimentTable{table(cheap, telling)}, even, []abi.ExperimentResult{{Experiment: cheap, Outcome: abi.OutcomeNotRun}}, nil, &cheap},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, _ := plan.Best(labels, tc.now, &abi.Profile{Experiments: tc.tables}, tc.results, tc.offers, 0, plan.GoPace())
			switch {
			case got == nil && tc.want == nil:
			case got == nil || tc.want == nil || got.Experiment != *tc.want:
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestSecondsGrowWithTheTest(t *testing.T) {
	t.Parallel()
	for _, offer := range plan.Offers(time.Minute, plan.GoPace(), plan.BuildOf) {
		e := offer.Experiment
		if short := plan.Seconds(time.Second, plan.GoPace(), e, plan.BuildOf(e)); offer.Seconds < short+59 || short < float64(e.Runs) {
			t.Errorf("%s takes %v s with a test of a minute and %v s with one of a second", e, offer.Seconds, short)
		}
		if endless := plan.Seconds(24*time.Hour, plan.GoPace(), e, plan.BuildOf(e)); endless > float64(e.Runs)*(plan.MostRun+plan.RunStart).Seconds()+60 {
			t.Errorf("%s: %v s", e, endless)
		}
	}
}

// An experiment whose runs were made is not proposed again, even if they don't count, unless its tests may lack what they can be given. What
// they print is no sign of that.
func TestAccept_FZ3_ARunIsProposedAgainOnlyWithWhatItLacked(t *testing.T) {
	t.Parallel()
	e := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}
	p := &abi.Profile{Experiments: []abi.ExperimentTable{table(e, map[abi.ExperimentOutcome][2]float64{abi.OutcomePassed: {0.9, 0.1}, abi.OutcomeSame: {0.1, 0.9}})}}
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
		if best, _ := plan.Best([]string{"a", "b"}, []float64{0.5, 0.5}, p, results, nil, 0, plan.GoPace()); (best != nil) != tc.again {
			t.Errorf("%s: proposed is %+v", tc.name, best)
		}
		if r, lacks := plan.Lacking(results); lacks != tc.lacks || (r != nil) != (lacks != "") {
			t.Errorf("%s: lacks %q", tc.name, lacks)
		}
	}
}
