package experiment_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

// TestBadFilesOfResultsAreIgnored: cut, of another experiment, too large, old, or no files.
func TestBadFilesOfResultsAreIgnored(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	e := parse(t, again)
	experiment.WriteCached(dir, "good", &abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeMixed, Passed: 1, Same: 1})
	experiment.WriteCached(dir, "another", &abi.ExperimentResult{Experiment: parse(t, starved), Outcome: abi.OutcomePassed, Passed: 5})
	experiment.WriteCached(dir, "too many", &abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomePassed, Passed: 6})
	experiment.WriteCached(dir, "not run", &abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeNotRun})
	good, err := os.ReadFile(filepath.Join(dir, "good.result"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"empty": nil, "cut": good[:len(good)-1], "text": []byte("passed"), "large": bytes.Repeat(good, 1000), "behind": append(good, 0)} {
		if err := os.WriteFile(filepath.Join(dir, name+".result"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.result"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"another", "too many", "not run", "empty", "cut", "text", "large", "behind", "folder", "none"} {
		if experiment.ReadCached(dir, name, e, now) {
			t.Errorf("%s: it was read", name)
		}
	}
	if !experiment.ReadCached(dir, "good", e, now) || experiment.ReadCached(dir, "good", e, now.Add(experiment.MaxResultAge+time.Hour)) {
		t.Error("a good result counts for a day")
	}
}

func TestTheFolderOfResultsIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range experiment.MaxResults {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.result", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	experiment.WriteCached(dir, "new", &abi.ExperimentResult{Experiment: parse(t, again), Outcome: abi.OutcomePassed, Passed: 5})
	left, err := os.ReadDir(dir)
	if want := experiment.MaxResults*3/4 + 1; err != nil || len(left) != want {
		t.Errorf("%d results, want %d: %v", len(left), want, err)
	}
	if !experiment.ReadCached(dir, "new", parse(t, again), time.Now()) {
		t.Error("the new result is not there")
	}
}
