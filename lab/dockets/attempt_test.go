package main

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
)

func runsOf(outcomes string) (runs []result) {
	for i := range outcomes {
		runs = append(runs, runOf(outcomes[i], 1, 10))
	}
	return runs
}

// TestFlakyIsWhatFailsAndPasses holds what a case of nd001 needs: of the runs of one tree one fails and one passes.
func TestFlakyIsWhatFailsAndPasses(t *testing.T) {
	t.Parallel()
	for outcomes, want := range map[string]bool{"fp": true, "ppf": true, "ff": false, "pp": false, "f-": false, "-p": false} {
		if got := changing(runsOf(outcomes)); got != want {
			t.Errorf("%s changes: %v, want %v", outcomes, got, want)
		}
	}
	for outcomes, want := range map[string]bool{"ffff": true, "pppp": true, "fffp": false} {
		if got := allAlike(runsOf(outcomes)); got != want {
			t.Errorf("%s is alike: %v, want %v", outcomes, got, want)
		}
	}
}

func TestFlakyConditionsKeepTheTree(t *testing.T) {
	t.Parallel()
	usual := condition{Order: 3, Procs: usualProcs}
	for _, kind := range []string{"don't wait", launch.Starved, otherOrder} {
		seen := map[condition]bool{}
		all := flakyConditions(fault{Kind: kind, Condition: usual})
		for _, in := range all {
			seen[in] = true
		}
		if len(all) < 4 || len(seen) < 2 && kind != launch.Starved {
			t.Errorf("%s is run in %v", kind, all)
		}
	}
}
