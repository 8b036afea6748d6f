package dockets_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var update = flag.Bool("update", false, "write demo.jsonl anew")

// demoStep takes every 29th case in the band: twelve cases of 353. It was set before any of them was tried.
const demoStep = 29

// TestDemoIsASampleByPosition compares demo.jsonl with every 29th line of go-test-1.jsonl whose case is in the uncertain band.
// The choice sees Light's confidence and the position, never an outcome.
func TestDemoIsASampleByPosition(t *testing.T) {
	t.Parallel()
	half := must.Get(os.ReadFile("go-test-1.jsonl"))(t)
	var want bytes.Buffer
	band, cases := 0, 0
	for line := range bytes.Lines(half) {
		var c struct {
			Light struct {
				Confidence float64 `json:"confidence"`
			} `json:"light"`
		}
		must.Do(t, json.Unmarshal(line, &c))
		if c.Light.Confidence < 0.50 || c.Light.Confidence >= 0.85 {
			continue
		}
		if band++; band%demoStep == 0 {
			cases++
			want.Write(line)
		}
	}
	if cases != 12 {
		t.Fatalf("%d cases, want 12", cases)
	}
	if *update {
		must.Do(t, os.WriteFile("demo.jsonl", want.Bytes(), 0o600))
	}
	got := must.Get(os.ReadFile("demo.jsonl"))(t)
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("demo.jsonl is not the sample that `make demo-files` writes")
	}
}
