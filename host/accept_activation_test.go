package host_test

import (
	"bytes"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// lightOnly is what a result says of Light, as bytes.
func lightOnly(t *testing.T, outcome *trial.Trial) []byte {
	t.Helper()
	var b bytes.Buffer
	copied := trial.Trial{Result: trial.Result{
		ID: outcome.Result.ID, Light: outcome.Result.Light, LightAfter: outcome.Result.LightAfter,
	}}
	if err := render.NewJSONL(&b).Write(&copied); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// off switches the court off.
func off(c *pipeline.Court) { c.Enabled = false }

func withConfidence(c abi.Case, confidence float64) abi.Case {
	c.Light = &abi.LightAnswer{Classification: c.Light.Classification, Confidence: confidence, Reasoning: c.Light.Reasoning}
	return c
}

func TestAccept_CT2_ActivationAtTheThresholds(t *testing.T) {
	t.Parallel()
	other := func(c *pipeline.Court) { c.ActivationThreshold, c.RejectionThreshold = 0.6, 0.2 }
	for _, test := range []struct {
		name       string
		court      func(*pipeline.Court)
		confidence float64
		status     trial.Status // empty: tried
	}{
		{"below the rejection threshold", nil, 0.4999, trial.Rejected},
		{"at the rejection threshold", nil, 0.50, ""},
		{"uncertain", nil, 0.65, ""},
		{"just below the activation threshold", nil, 0.8499, ""},
		{"at the activation threshold", nil, 0.85, trial.Accepted},
		{"sure", nil, 1, trial.Accepted},
		{"court off, hopeless", off, 0.1, trial.Unreviewed},
		{"court off, uncertain", off, 0.65, trial.Unreviewed},
		{"other thresholds, sure enough", other, 0.6, trial.Accepted},
		{"other thresholds, uncertain", other, 0.2, ""},
		{"other thresholds, hopeless", other, 0.1999, trial.Rejected},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := open(t, host.Config{Court: test.court})
			got := try(t, h, withConfidence(dispute(), test.confidence)).Result
			if got.Activated != (test.status == "") {
				t.Errorf("activated: %v", got.Activated)
			}
			if test.status != "" && got.Final.Status != test.status {
				t.Errorf("status %s, want %s", got.Final.Status, test.status)
			}
			if got.Activated && len(got.Path) == 0 {
				t.Error("a trial without a path")
			}
			wantClass := ""
			if test.status == trial.Accepted || test.status == trial.Unreviewed {
				wantClass = "leak"
			}
			if test.status != "" && got.Final.Classification != wantClass {
				t.Errorf("classification %q, want %q", got.Final.Classification, wantClass)
			}
		})
	}
}

func TestAccept_CT4_LightIsUntouchedWhenThereIsNoTrial(t *testing.T) {
	t.Parallel()
	var calls int
	on := open(t, host.Config{Observe: func(host.CallRecord) { calls++ }})
	without := open(t, host.Config{Court: off, Observe: func(host.CallRecord) { calls++ }})
	for _, confidence := range []float64{0, 0.4999, 0.85, 0.97, 1} {
		c := withConfidence(dispute(), confidence)
		reviewed, unreviewed := try(t, on, c), try(t, without, c)
		if !bytes.Equal(lightOnly(t, reviewed), lightOnly(t, unreviewed)) {
			t.Errorf("at %v Light's output differs from a run without a court", confidence)
		}
		if *reviewed.Result.Light != (trial.Answer{Classification: "leak", Confidence: confidence}) {
			t.Errorf("at %v Light's answer became %+v", confidence, *reviewed.Result.Light)
		}
	}
	if calls > 0 {
		t.Errorf("%d calls of modules without a trial", calls)
	}
}
