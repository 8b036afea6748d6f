package fit_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
)

var causes = []string{"product", "test", "machine", "chance"}

var seen = []abi.ExperimentOutcome{abi.OutcomeSame, abi.OutcomePassed, abi.OutcomeMixed}

// told makes a table of P(outcome | cause), in the order of seen; what is missing to 1 is an outcome that is not listed.
func told(e abi.Experiment, given ...[4]float64) abi.ExperimentTable {
	t := abi.ExperimentTable{Experiment: e}
	for o, outcome := range seen {
		l := abi.OutcomeLikelihood{Outcome: outcome}
		for j, cause := range causes {
			l.Given = append(l.Given, abi.LabelWeight{Label: cause, Weight: given[o][j]})
		}
		t.Outcomes = append(t.Outcomes, l)
	}
	return t
}

func kindOf(product, tests abi.TreeRevision) abi.Experiment {
	return abi.Experiment{Product: product, Tests: tests, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}
}

var (
	onHead  = kindOf(abi.Head, abi.Head)
	onGreen = kindOf(abi.Base, abi.Base)
	crossed = kindOf(abi.Head, abi.Base)
)

// assumed are tables that somebody wrote down, actual those of a world in which cases are drawn: there head is often red by chance.
func assumed() []abi.ExperimentTable {
	return []abi.ExperimentTable{
		told(onHead, [4]float64{0.9, 0.9, 0.7, 0.05}, [4]float64{0.05, 0.05, 0.2, 0.5}, [4]float64{0.01, 0.01, 0.05, 0.4}),
		told(onGreen, [4]float64{0.05, 0.05, 0.8, 0.1}, [4]float64{0.9, 0.9, 0.1, 0.7}, [4]float64{0.01, 0.01, 0.05, 0.15}),
		told(crossed, [4]float64{0.8, 0.1, 0.8, 0.3}, [4]float64{0.1, 0.8, 0.1, 0.6}, [4]float64{0.01, 0.01, 0.05, 0.05}),
	}
}

func actual() []abi.ExperimentTable {
	return []abi.ExperimentTable{
		told(onHead, [4]float64{0.6, 0.6, 0.9, 0.3}, [4]float64{0.2, 0.1, 0.05, 0.3}, [4]float64{0.1, 0.2, 0.01, 0.35}),
		told(onGreen, [4]float64{0.3, 0.1, 0.5, 0.3}, [4]float64{0.6, 0.6, 0.3, 0.3}, [4]float64{0.05, 0.2, 0.1, 0.35}),
		told(crossed, [4]float64{0.4, 0.3, 0.8, 0.3}, [4]float64{0.4, 0.6, 0.1, 0.6}, [4]float64{0.1, 0.05, 0.05, 0.05}),
	}
}

// draw makes cases of groups of ten, with what experiments show of them in a world.
func draw(seed uint64, n int, world []abi.ExperimentTable) ([]docket.Entry, map[string][]abi.ExperimentResult) {
	random := rand.New(rand.NewPCG(seed, 7))
	results := map[string][]abi.ExperimentResult{}
	var entries []docket.Entry
	for i := range n {
		id, cause := "case"+strconv.Itoa(i), random.IntN(len(causes))
		entries = append(entries, docket.Entry{Truth: &trial.Truth{Classification: causes[cause]}, Case: abi.Case{
			ID: id, Group: "module" + strconv.Itoa(i/10), Subject: "a test fails", Labels: causes,
			Light: &abi.LightAnswer{Classification: causes[random.IntN(len(causes))], Confidence: 0.5},
		}})
		for t := range world {
			r := abi.ExperimentResult{Experiment: world[t].Experiment, Outcome: abi.OutcomeNotBuilt}
			x := random.Float64()
			for o := range world[t].Outcomes {
				if p := world[t].Outcomes[o].Given[cause].Weight; x >= 0 && x < p {
					r.Outcome = world[t].Outcomes[o].Outcome
				}
				x -= world[t].Outcomes[o].Given[cause].Weight
			}
			results[id] = append(results[id], r)
		}
	}
	return entries, results
}

func fitTables(t *testing.T, n int, world []abi.ExperimentTable) *fit.Result {
	t.Helper()
	entries, results := draw(1, n, world)
	r, err := fit.Fit(t.Context(), entries, fit.Config{Seed: 1, Experiments: &abi.Profile{Experiments: assumed()}, Results: &fit.Results{Experiments: results}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lossOn is the mean of -ln P(cause) on cases, by what experiments tell alone.
func lossOn(seed uint64, world, tables []abi.ExperimentTable) float64 {
	entries, results := draw(seed, 2000, world)
	sum := 0.0
	for i := range entries {
		nats := make([]float64, len(causes))
		odds.AddExperiments(nats, causes, &abi.Profile{Experiments: tables}, results[entries[i].Case.ID])
		sum -= math.Log(odds.Probabilities(nats, odds.Doubt)[slices.Index(causes, entries[i].Truth.Classification)]) / float64(len(entries))
	}
	return sum
}

// Tables that the cases contradict are learned from them, each kind by itself, and tell more of other cases than the default.
func TestTablesOfExperimentsAreRecovered(t *testing.T) {
	t.Parallel()
	r := fitTables(t, 800, actual())
	w := r.Report.Experiments
	if w == nil || w.Smoothing == 0 || w.LogLoss >= w.DefaultLogLoss {
		t.Fatalf("%+v", w)
	}
	for i, want := range actual() {
		if !w.Tables[i].Learned || w.Tables[i].Cases != 800 || w.Tables[i].Experiment != want.Experiment.String() {
			t.Errorf("%+v", w.Tables[i])
		}
		for o := range want.Outcomes {
			for g, x := range want.Outcomes[o].Given {
				if got := r.Profile.Experiments[i].Outcomes[o].Given[g]; got.Label != x.Label || math.Abs(got.Weight-x.Weight) > 0.12 {
					t.Errorf("%s: P(%s | %s) is %v, in the world %v", want.Experiment, want.Outcomes[o].Outcome, x.Label, got.Weight, x.Weight)
				}
			}
		}
	}
	if learned, before := lossOn(2, actual(), r.Profile.Experiments), lossOn(2, actual(), assumed()); learned > before-0.1 {
		t.Errorf("on other cases the learned tables have a log loss of %v, the default has %v", learned, before)
	}
	var yaml bytes.Buffer
	if err := r.WriteYAML(&yaml); err != nil || !strings.Contains(yaml.String(), "Learned from the cases") {
		t.Errorf("%v: %s", err, yaml.String())
	}
}

// Where the default is right, or the cases are few, it stays, and the report says so.
func TestTablesOfExperimentsKeepTheDefault(t *testing.T) {
	t.Parallel()
	few := fitTables(t, 60, actual()[:1])
	for i, w := range few.Report.Experiments.Tables {
		if i > 0 && (w.Learned || w.Cases != 0 || w.Why != "fewer than 20 cases") {
			t.Errorf("%+v", w)
		}
	}
	for seed := range uint64(5) {
		entries, results := draw(10+seed, 300, assumed())
		r, err := fit.Fit(t.Context(), entries, fit.Config{Seed: seed, Experiments: &abi.Profile{Experiments: assumed()}, Results: &fit.Results{Experiments: results}})
		if err != nil {
			t.Fatal(err)
		}
		if learned, before := lossOn(99, assumed(), r.Profile.Experiments), lossOn(99, assumed(), assumed()); learned > before+0.02 {
			t.Errorf("seed %d: log loss %v, of the default %v", seed, learned, before)
		}
	}
	// Nothing is known of the one group of which all results are: what is learned there is measured nowhere else.
	entries, results := draw(3, 300, actual())
	for i := range entries {
		entries[i].Case.Group = "module" + strconv.Itoa(i/150)
	}
	for _, e := range entries[150:] {
		delete(results, e.Case.ID)
	}
	r, err := fit.Fit(t.Context(), entries, fit.Config{Experiments: &abi.Profile{Experiments: assumed()}, Results: &fit.Results{Experiments: results}})
	if err != nil || r.Report.Experiments.Smoothing != 0 || r.Report.Experiments.Tables[0].Why != "not better than the default by more than noise" {
		t.Errorf("%v: %+v", err, r.Report.Experiments)
	}
}

// A label that comes true in two ways has a table for each, though no case says which it was.
func TestTablesOfCausesAreRecovered(t *testing.T) {
	t.Parallel()
	// Of the label test, half are changed tests, which pass by the tests of green, and half stale ones, which fail.
	ways := func(changed, stale float64) []abi.ExperimentTable {
		e := abi.ExperimentTable{Experiment: crossed}
		for o, outcome := range seen[:2] {
			at := func(x float64) float64 { return [2]float64{1 - x, x}[o] }
			e.Outcomes = append(e.Outcomes, abi.OutcomeLikelihood{Outcome: outcome, Given: []abi.LabelWeight{
				{Label: "product", Weight: at(0.1)},
				{Label: "changed", Weight: at(changed)},
				{Label: "stale", Weight: at(stale)},
				{Label: "machine", Weight: at(0.1)},
				{Label: "chance", Weight: at(0.6)},
			}})
		}
		back := e
		back.Experiment = kindOf(abi.Base, abi.Head)
		return []abi.ExperimentTable{e, back}
	}
	world, byDefault := ways(0.95, 0.05), ways(0.7, 0.3)
	random := rand.New(rand.NewPCG(3, 4))
	entries, results := draw(1, 600, nil)
	for i := range entries {
		cause := entries[i].Truth.Classification
		if cause == "test" {
			cause = []string{"changed", "stale"}[random.IntN(2)]
		}
		results[entries[i].Case.ID] = append(results[entries[i].Case.ID], // without these mixtures don't count
			abi.ExperimentResult{Experiment: kindOf(abi.Head, abi.Head), Outcome: abi.OutcomeSame},
			abi.ExperimentResult{Experiment: kindOf(abi.Base, abi.Base), Outcome: abi.OutcomePassed})
		for _, table := range world {
			r := abi.ExperimentResult{Experiment: table.Experiment, Outcome: abi.OutcomeSame}
			for _, w := range table.Outcomes[1].Given {
				if w.Label == cause && random.Float64() < w.Weight {
					r.Outcome = abi.OutcomePassed
				}
			}
			results[entries[i].Case.ID] = append(results[entries[i].Case.ID], r)
		}
	}
	p := &abi.Profile{Experiments: byDefault, Causes: []abi.Cause{
		{Name: "changed", Label: "test", Unchanged: 0.5}, {Name: "stale", Label: "test", Unchanged: 0.5},
	}}
	r, err := fit.Fit(t.Context(), entries, fit.Config{Seed: 1, Experiments: p, Results: &fit.Results{Experiments: results}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Profile.Causes) != 2 || r.Report.Experiments.Smoothing == 0 {
		t.Fatalf("%+v", r.Report.Experiments)
	}
	for i := range world {
		for g, want := range world[i].Outcomes[1].Given {
			if got := r.Profile.Experiments[i].Outcomes[1].Given[g]; math.Abs(got.Weight-want.Weight) > 0.12 {
				t.Errorf("%s: P(passed | %s) is %v, in the world %v", world[i].Experiment, want.Label, got.Weight, want.Weight)
			}
		}
	}
	var yaml bytes.Buffer
	if err := r.WriteYAML(&yaml); err != nil || !strings.Contains(yaml.String(), "- {name: stale, label: test, unchanged: 0.5, changed: 0.0, new: 0.0}") {
		t.Errorf("%v\n%s", err, yaml.String())
	}
}

func TestReadResults(t *testing.T) {
	t.Parallel()
	line, err := json.Marshal(trial.Result{ID: "a", Experiments: []trial.Experiment{
		trial.NewExperiment("verdict", "specter", &abi.ExperimentResult{Experiment: onHead, Outcome: abi.OutcomeMixed, Passed: 1, Same: 1}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	of, err := fit.ReadResults(strings.NewReader(string(line) + "\n\n{\"id\":\"b\"}\n"))
	if err != nil || len(of.Experiments) != 2 || len(of.Experiments["a"]) != 1 {
		t.Fatalf("%+v, %v", of, err)
	}
	if a := of.Experiments["a"][0]; a.Experiment != onHead || a.Outcome != abi.OutcomeMixed || a.Passed != 1 {
		t.Errorf("%+v", a)
	}
	for name, text := range map[string]string{
		"no JSON":             "{}\nx\n",
		"a second result":     "{\"id\":\"a\"}\n{\"id\":\"a\"}\n",
		"no outcome":          strings.Replace(string(line), `"mixed"`, `"odd"`, 1),
		"no number of runs":   strings.Replace(string(line), `"runs":5`, `"runs":0`, 1),
		"a number that is no": strings.Replace(string(line), `"runs":5`, `"runs":"5"`, 1),
	} {
		if _, err := fit.ReadResults(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadResults(f *testing.F) {
	f.Add([]byte(`{"id":"a","experiments":[{"product":"head","tests":"base","environment":"clean","order":"alone","runs":1,"outcome":"passed","passed":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		of, err := fit.ReadResults(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, list := range of.Experiments {
			for _, r := range list {
				if r.Experiment.Runs < 1 || r.Outcome == "" {
					t.Errorf("%+v", r)
				}
			}
		}
	})
}
