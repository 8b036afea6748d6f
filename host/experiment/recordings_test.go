package experiment

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
)

// Each failure reads each run once, in the order in which they were made, whoever they were made for; a run that its limit ended is made
// again.
func TestRecordingsAreReadOnceByEachFailure(t *testing.T) {
	t.Parallel()
	var r recordings
	c := cell{tests: "TestA"}
	take := func(failure string, made *recording) *recording {
		n := r.next(c, failure)
		again, done := r.take(t.Context(), c, n)
		if again == nil {
			done(made)
		}
		return again
	}
	first := &recording{result: &isolate.Result{Ending: isolate.Exited}}
	late := &recording{result: &isolate.Result{Ending: isolate.OverTime}}
	third := &recording{result: &isolate.Result{Ending: isolate.Exited}, stream: make([]byte, mostRecorded)}
	large := &recording{result: &isolate.Result{Ending: isolate.Exited}, stream: make([]byte, 1)}
	for i, step := range []struct {
		failure    string
		made, want *recording
	}{
		{"a", first, nil},
		{"a", late, nil},
		{"b", nil, first},
		{"b", late, nil}, // the second was of a limit
		{"b", third, nil},
		{"a", nil, third},
		{"a", large, nil},
		{"b", large, nil}, // there was no room for the fourth
	} {
		if got := take(step.failure, step.made); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
	if r.has(c, 4) || !r.has(c, 3) {
		t.Error("four runs were begun")
	}
}
