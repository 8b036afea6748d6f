package alibi

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// ofRuns is an experiment with a tree alone.
func ofRuns(tree abi.TreeRevision, passed, same int) trial.Experiment {
	e := abi.Experiment{Product: tree, Tests: tree, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: passed + same}
	r := abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeMixed, Passed: passed, Same: same, Test: abi.TestUnchanged, Loaded: abi.Certified}
	return trial.NewExperiment("", "", &r)
}

func withLabel(label string, runs ...trial.Experiment) *trial.Trial {
	t := &trial.Trial{Case: abi.Case{ID: "p.TestA", Group: "p", Subject: "TestA fails in p", Labels: Labels()}}
	t.Result.Final.Classification, t.Result.Experiments, t.Result.Activated = label, runs, true
	return t
}

func TestAccept_AL5_LabelsThatTheRunsDoNotShowAreOpen(t *testing.T) {
	t.Parallel()
	head, base := abi.Head, abi.Base
	for _, tc := range []struct {
		label string
		runs  []trial.Experiment
		want  Verdict
	}{
		{Preexisting, []trial.Experiment{ofRuns(head, 0, 5), ofRuns(base, 2, 0)}, IsOpen},
		{Preexisting, []trial.Experiment{ofRuns(head, 0, 5), ofRuns(base, 0, 2)}, NotYours},
		{Caused, []trial.Experiment{ofRuns(head, 5, 0), ofRuns(base, 2, 0)}, IsOpen},
		{Caused, []trial.Experiment{ofRuns(base, 0, 2)}, IsOpen},
		{Caused, []trial.Experiment{ofRuns(head, 5, 0), ofRuns(abi.Merge, 0, 2), ofRuns(base, 2, 0)}, IsYours},
		{Flaky, []trial.Experiment{ofRuns(head, 0, 5), ofRuns(base, 2, 0)}, IsOpen},
		{Flaky, []trial.Experiment{ofRuns(head, 3, 2), ofRuns(base, 2, 0)}, NotYours},
		{Flaky, []trial.Experiment{ofRuns(head, 0, 5), ofRuns(base, 0, 2)}, NotYours},
		{Flaky, []trial.Experiment{ofRuns(head, 5, 0), ofRuns(base, 0, 2)}, NotYours},
		{Environment, []trial.Experiment{ofRuns(head, 5, 0), ofRuns(base, 2, 0)}, NotYours},
	} {
		a := Of(withLabel(tc.label, tc.runs...))
		said := strings.HasPrefix(a.Why, "the court says "+tc.label+", the runs do not show it: ")
		if a.Verdict != tc.want || said != (tc.want == IsOpen) || (a.Label == "") != said {
			t.Errorf("%s: %+v", tc.label, a)
		}
	}
}

func TestAccept_AL5_AnAlibiNeedsABase(t *testing.T) {
	t.Parallel()
	profile := must.Get(Profile())(t)
	light := must.Get(NewLight(nil, profile, 0.5))(t)
	absent := ofRuns(abi.Base, 0, 0)
	absent.Outcome = abi.OutcomeNoTest
	for want, runs := range map[string][]trial.Experiment{
		"the base was not run":                    {ofRuns(abi.Head, 20, 0)},
		"the base does not have this test":        {ofRuns(abi.Head, 20, 0), absent},
		"by the runs the change is to blame with": {ofRuns(abi.Head, 0, 5), ofRuns(abi.Base, 2, 0)},
	} {
		if a := light.of(withLabel(Environment, runs...)); a.Verdict != IsOpen || !strings.Contains(a.Why, want) {
			t.Errorf("%+v, want %q", a, want)
		}
	}
}

// TestAccept_AL5_TheGuardLeavesTheShippedCourtAlone: whatever runs show, an answer that Light or the shipped judge may give passes it. Light's
// word beside the runs is the most that these differ in.
func TestAccept_AL5_TheGuardLeavesTheShippedCourtAlone(t *testing.T) {
	t.Parallel()
	profile := must.Get(Profile())(t)
	random := rand.New(rand.NewPCG(5, 9))
	given := 0
	for _, price := range []float64{0.01, 0.05, 0.2} {
		light := must.Get(NewLight(nil, profile, price))(t)
		for range 100 {
			var runs []trial.Experiment
			var results []abi.ExperimentResult
			for _, tree := range []abi.TreeRevision{abi.Head, abi.Base} {
				n := []int{2, 5, 20, 100, 400}[random.IntN(5)]
				failed := []int{0, n, random.IntN(n + 1), min(n, random.IntN(3))}[random.IntN(4)]
				runs = append(runs, ofRuns(tree, n-failed, failed))
			}
			for i := range runs {
				results = append(results, runs[i].Result())
			}
			if !bears(Flaky, runs) && !bears(Caused, runs) { // no run failed
				continue
			}
			for favoured := range Labels() {
				labels, nats := Labels(), make([]float64, len(Labels()))
				odds.AddBaseRates(nats, labels, profile)
				nats[favoured] += odds.UnmeasuredLight * random.Float64()
				p := odds.NewForecast(labels, nats, odds.Doubt, profile, results).Now
				top, best := "", math.Inf(-1)
				for j, label := range labels {
					if !Yours(label) && p[j] > best {
						top, best = label, p[j]
					}
				}
				if yoursOf(labels, p) > price {
					continue
				}
				given++
				if a := light.of(withLabel(top, runs...)); a.Verdict != NotYours {
					t.Errorf("at %v the court may say %s of %+v: %+v", price, top, results, a)
				}
			}
		}
	}
	if given < 100 {
		t.Errorf("only %d answers", given)
	}
}
