package inquiry

import (
	"math"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

func TestNoSurerThanEither(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name            string
		recall          float64
		says            string
		own, both, want []float64
	}{
		{"the verdict is the surer", 0.86, "a", []float64{0.6, 0.3, 0.1}, []float64{0.92, 0.06, 0.02}, []float64{0.86, 0.105, 0.035}},
		{"the text is the surer", 0.7, "a", []float64{0.8, 0.1, 0.1}, []float64{0.9, 0.05, 0.05}, []float64{0.8, 0.1, 0.1}},
		{"against what the text says", 0.86, "b", []float64{0.6, 0.3, 0.1}, []float64{0.3, 0.6, 0.1}, []float64{0.3, 0.6, 0.1}},
		{"no earlier case", 0, "", []float64{0.6, 0.3, 0.1}, []float64{0.6, 0.3, 0.1}, []float64{0.6, 0.3, 0.1}},
		{"a certain one", 0.9, "a", []float64{0.5, 0.5, 0}, []float64{0.99, 0.01, 0}, []float64{0.9, 0.1, 0}},
	} {
		r := &abi.NodeRequest{Case: abi.CaseView{Labels: []string{"a", "b", "c"}}, File: &abi.LightFile{}}
		if tc.says != "" {
			r.File.Recall = &abi.RecallResult{Match: true, Classification: tc.says, Confidence: tc.recall}
		}
		got := slices.Clone(tc.both)
		noSurer(got, tc.own, r)
		for j := range got {
			if math.Abs(got[j]-tc.want[j]) > 1e-9 {
				t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
				break
			}
		}
	}
}

func TestLinesWithWhichCrashesBegin(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"panic: nil map": true, "\t fatal error: stack": true, "unexpected fault address 0x0": true, "Traceback (most recent call last):": true,
		"Exception in thread \"main\" X": true, "Caused by: X": true, "Segmentation fault (core dumped)": true, "Unhandled exception": true,
		"Uncaught TypeError": true, "SIGSEGV: segmentation violation": true, "thread 'main' panicked at src/lib.rs:1": true,
		"http: panic serving 127.0.0.1": true, "worker panicked: why": true,
		"": false, "  ": false, "SIGSEGV": false, "thread 'main' ended": false, "a panic: no": false, "Unhandled": false, "panicked": false,
	} {
		if crashes(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}
