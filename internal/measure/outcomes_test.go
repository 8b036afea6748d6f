package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// casesOfCauses has cases of three causes, of which the second has the label of the first: its test is at fault, and runs tell it from others.
func casesOfCauses(labels []string, each int) ([]docket.Entry, map[string][]abi.ExperimentResult) {
	var entries []docket.Entry
	results := map[string][]abi.ExperimentResult{}
	for i := range 3 * each {
		ran := func(product, tests abi.TreeRevision, passed, same int) abi.ExperimentResult {
			e := abi.Experiment{Product: product, Tests: tests, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: passed + same}
			return abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeMixed, Passed: passed, Same: same}
		}
		list := []abi.ExperimentResult{ran(abi.Head, abi.Head, 0, 5), ran(abi.Base, abi.Base, 5, 0)}
		label := labels[0]
		switch i % 3 {
		case 0:
			list = append(list, ran(abi.Head, abi.Base, 0, 1), ran(abi.Base, abi.Head, 1, 0))
		case 1:
			list = append(list, ran(abi.Head, abi.Base, 1, 0), ran(abi.Base, abi.Head, 0, 1))
		default:
			label, list = labels[1], []abi.ExperimentResult{ran(abi.Head, abi.Head, 9, 1), ran(abi.Base, abi.Base, 10, 0)}
		}
		id := fmt.Sprint("case ", i)
		entries = append(entries, docket.Entry{
			Case:  abi.Case{ID: id, Subject: id, Labels: labels, Evidence: []abi.Evidence{}, Documents: []abi.Document{}},
			Truth: &trial.Truth{Classification: label},
		})
		results[id] = list
	}
	return entries, results
}

func fitted(t *testing.T, labels []string) *Fitted {
	t.Helper()
	entries, results := casesOfCauses(labels, 10)
	return must.Get(Fit(t.Context(), entries, FitConfig{Results: &Results{Experiments: results}}))(t)
}

// What is learned of runs is how common the ways are in which each label comes true, and how often flaky tests fail.
func TestTheOutcomeModelIsLearned(t *testing.T) {
	t.Parallel()
	labels := []string{"ab001", "nd001", "pb001"}
	r := fitted(t, labels)
	first := must.Get(FirstOutcomes(labels))(t)
	m := r.Profile.Outcomes
	if m == nil || m.Alone || r.Report.Outcomes != 30 || len(r.Profile.BaseRates) != 3 {
		t.Fatalf("%+v", r.Profile)
	}
	entries, results := casesOfCauses(labels, 1)
	for i, e := range entries {
		after := func(m *abi.OutcomeModel) float64 {
			nats := make([]float64, len(labels))
			odds.AddExperiments(nats, labels, &abi.Profile{Outcomes: m}, results[e.Case.ID])
			return odds.Probabilities(nats, 0)[slices.Index(labels, e.Truth.Classification)]
		}
		if before, now := after(first), after(m); now < 0.5 || now < 0.9*before {
			t.Errorf("case %d: the truth has %v, and %v before", i, now, before)
		}
	}
	passing := func(m *abi.OutcomeModel) float64 {
		s := m.Shapes[slices.IndexFunc(m.Shapes, func(s abi.RateShape) bool { return s.Name == "flakes" })]
		return s.Passed / (s.Passed + s.Same + s.Other)
	}
	if before, now := passing(first), passing(m); now < before+0.05 {
		t.Errorf("flaky tests pass in %v of their runs, %v before; they pass in 0.9", now, before)
	}
}

// Of labels that no model knows nothing is learned, and the report says so.
func TestOtherLabelsHaveNoOutcomeModel(t *testing.T) {
	t.Parallel()
	r := fitted(t, []string{"x", "y"})
	if r.Profile.Outcomes != nil || !slices.ContainsFunc(r.Report.Warnings, func(w string) bool { return strings.Contains(w, "no model knows all of the labels x, y") }) {
		t.Errorf("%+v", r.Report)
	}
}

var onHead = abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}

func TestReadResults(t *testing.T) {
	t.Parallel()
	line, err := json.Marshal(trial.Result{ID: "a", Experiments: []trial.Experiment{
		trial.NewExperiment("verdict", "specter", &abi.ExperimentResult{Experiment: onHead, Outcome: abi.OutcomeMixed, Passed: 1, Same: 1}),
	}})
	must.Do(t, err)
	of, err := ReadResults(strings.NewReader(string(line) + "\n\n{\"id\":\"b\"}\n"))
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
		if _, err := ReadResults(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadResults(f *testing.F) {
	f.Add([]byte(`{"id":"a","experiments":[{"product":"head","tests":"base","environment":"clean","order":"alone","runs":1,"outcome":"passed","passed":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		of, err := ReadResults(bytes.NewReader(data))
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

// A model that is always sure and right in 6 of 10 cases is believed as much as it is right; another model of the same docket has a
// reliability of its own.
func TestAnOverconfidentModelIsNotBelieved(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	labels := []string{"a", "b"}
	var entries []docket.Entry
	var results strings.Builder
	for i := range 400 {
		truth := labels[i%2]
		say := func(right float64) string {
			if rnd.Float64() < right {
				return truth
			}
			return labels[1-i%2]
		}
		id := fmt.Sprint("case ", i)
		entries = append(entries, docket.Entry{Case: abi.Case{ID: id, Labels: labels}, Truth: &trial.Truth{Classification: truth}})
		fmt.Fprintf(&results, `{"id":%q,"statements":[{"source":"model:loud","label":%q,"confidence":0.99},{"source":"model:good","label":%q,"confidence":0.7}]}`+"\n", id, say(0.6), say(0.9))
	}
	stated := must.Get(ReadResults(strings.NewReader(results.String())))(t)
	r := must.Get(Fit(t.Context(), stated.AddTo(entries), FitConfig{Seed: 1}))(t)
	m := NewModel(r.Profile)
	p := func(source string, confidence float64) float64 {
		return m.Posterior(&abi.Case{Labels: labels, Evidence: []abi.Evidence{{SourceRef: source, Supports: "a", RelevanceConfidence: confidence}}})[0]
	}
	if loud, good := p("model:loud", 0.99), p("model:good", 0.7); loud < 0.5 || loud > 0.7 || good < 0.8 {
		t.Errorf("the word of the loud model makes its label %.2f probable, that of the good one %.2f", loud, good)
	}
}

func TestStatementsOfNobodyAreRejected(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{
		`{"source":"witness","label":"a","confidence":0.5}`, `{"source":"model:","label":"a","confidence":0.5}`, `{"source":"model:x","confidence":0.5}`,
		`{"source":"model:x","label":"a","confidence":2}`,
	} {
		_, err := ReadResults(strings.NewReader("\n" + `{"id":"1","statements":[` + statement + "]}\n"))
		if err == nil || !strings.HasPrefix(err.Error(), "line 2: statements[0]: ") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
