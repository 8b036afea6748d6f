package measure

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

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
	stated, err := ReadResults(strings.NewReader(results.String()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Fit(t.Context(), stated.AddTo(entries), FitConfig{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
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
