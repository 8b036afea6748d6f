package dockets_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write demo.jsonl anew")

// demoStep takes every 29th case in the band: twelve cases of 353. It was set before any of them was tried.
const demoStep = 29

// TestDemoIsASampleByPosition compares demo.jsonl with every 29th line of go-test-1.jsonl whose case is in the uncertain band.
// The choice sees Light's confidence and the position, never an outcome.
func TestDemoIsASampleByPosition(t *testing.T) {
	t.Parallel()
	half, err := os.ReadFile("go-test-1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	band, cases := 0, 0
	for line := range bytes.Lines(half) {
		var c struct {
			Light struct {
				Confidence float64 `json:"confidence"`
			} `json:"light"`
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
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
		if err := os.WriteFile("demo.jsonl", want.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("demo.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("demo.jsonl is not the sample that `make demo-files` writes")
	}
}
