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
		if endless := plan.Seconds(24*time.Hour, plan.GoPace(), e, plan.BuildOf(e)); endless > float64(e.Runs)*plan.MostRun.Seconds()+60 {
			t.Errorf("%s: %v s", e, endless)
		}
	}
}
