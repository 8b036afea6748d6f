package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A model that is always sure and right in 6 of 10 cases is believed as much as it is right; another model of the same docket has a
// reliability of its own.
func TestAnOverconfidentModelIsNotBelieved(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	labels := []string{"a", "b"}
	var entries []docket.Entry
	var results []trial.Result
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
		results = append(results, trial.Result{ID: id, Statements: []trial.Statement{
			{Source: "model:loud", Label: say(0.6), Confidence: 0.99}, {Source: "model:good", Label: say(0.9), Confidence: 0.7},
		}})
	}
	entries = must.Get(AddStatements(entries, results))(t)
	r := must.Get(Fit(t.Context(), entries, FitConfig{Seed: 1}))(t)
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
	for _, statement := range []trial.Statement{
		{Source: "witness", Label: "a", Confidence: 0.5},
		{Source: "model:", Label: "a", Confidence: 0.5},
		{Source: "model:x", Confidence: 0.5},
		{Source: "model:x", Label: "a", Confidence: 2},
		{Source: "model:x", Label: "a", Confidence: math.NaN()},
	} {
		_, err := AddStatements(nil, []trial.Result{{ID: "1", Statements: []trial.Statement{statement}}})
		if err == nil || !strings.HasPrefix(err.Error(), `case "1": statements[0]: `) {
			t.Errorf("%+v: %v", statement, err)
		}
	}
	if _, err := AddStatements(nil, []trial.Result{{ID: "1"}}); err == nil || !strings.Contains(err.Error(), "no language model") {
		t.Errorf("without statements: %v", err)
	}
}
