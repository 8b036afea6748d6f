package experiment_test

import (
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

// TestBadResultsAreIgnored: of another experiment, impossible, not run, or old.
func TestBadResultsAreIgnored(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	e := parse(t, again)
	experiment.WriteCached(dir, "good", &abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeMixed, Passed: 1, Same: 1})
	experiment.WriteCached(dir, "another", &abi.ExperimentResult{Experiment: parse(t, starved), Outcome: abi.OutcomePassed, Passed: 5})
	experiment.WriteCached(dir, "too many", &abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomePassed, Passed: 6})
	experiment.WriteCached(dir, "not run", &abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeNotRun})
	for _, name := range []string{"another", "too many", "not run", "none"} {
		if experiment.ReadCached(dir, name, e, now) {
			t.Errorf("%s: it was read", name)
		}
	}
	if !experiment.ReadCached(dir, "good", e, now) || experiment.ReadCached(dir, "good", e, now.Add(experiment.MaxResultAge+time.Hour)) {
		t.Error("a good result counts for a day")
	}
}
