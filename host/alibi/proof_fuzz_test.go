package alibi

import (
	"bytes"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// Whoever signed a proof, reading it and deriving its answers ends, and what is read is written and read again to the same bytes.
func FuzzParseProof(f *testing.F) {
	profile, err := Profile()
	if err != nil {
		f.Fatal(err)
	}
	light, err := NewLight(nil, profile, 0)
	if err != nil {
		f.Fatal(err)
	}
	run := trial.Experiment{Persona: byLight, Outcome: abi.OutcomeSame, Same: 5, Factors: trial.Factors{
		Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5,
	}}
	seed, err := encode(&Proof{Answers: []*Answer{{ID: "a", Label: Caused, Runs: []trial.Experiment{run}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"answers":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parseProof(data)
		if err != nil {
			return
		}
		once := must.Get(encode(p))(t)
		if p, err = parseProof(once); err != nil {
			t.Fatalf("%q is not read again: %v", once, err)
		}
		twice, err := encode(p)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%v: %q is written again as %q", err, once, twice)
		}
		if _, err := p.statements(&record.Header{}); err != nil {
			t.Error(err)
		}
		_ = p.Summary()
		d := &Deriver{light}
		for _, a := range p.Answers {
			got := light.answer(Labels(), lightRuns(a.Runs))
			if !(got.Confidence >= 0 && got.Confidence <= 1) {
				t.Errorf("the runs %+v have the posterior %v", a.Runs, got.Confidence)
			}
			subject := &trial.Trial{Case: abi.Case{ID: a.ID, Labels: Labels()}}
			_ = d.Check(a, &record.Trial{ID: a.ID}, subject)
		}
	})
}
