package host_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// eachReset runs a test for every way of making calls pristine that works here.
func eachReset(t *testing.T, test func(t *testing.T, reset sandbox.Reset)) {
	t.Helper()
	for _, reset := range sandbox.Resets() {
		t.Run(reset.String(), func(t *testing.T) {
			t.Parallel()
			test(t, reset)
		})
	}
}

// However calls are made pristine, a guest that fails is named, costs the same
// fuel before, and the next trial in the same host is as the first.
func TestAccept_PL3_BrokenModulesAreContainedByEveryReset(t *testing.T) {
	t.Parallel()
	eachReset(t, func(t *testing.T, reset sandbox.Reset) {
		t.Helper()
		for how, cause := range map[string]trial.Cause{"bomb": trial.CauseMemory, "exit": trial.CauseExit, "spin": trial.CauseFuel} {
			h := open(t, host.WithReset(host.Config{
				Pipeline: behave(t, "specter", "verdict", how), Limits: host.Limits{WallClock: time.Minute, Fuel: 300_000_000},
			}, reset))
			first := try(t, h, dispute()).Result
			if e := first.Error; first.Final.Cause != cause || e == nil || e.Persona != "specter" {
				t.Fatalf("%s: %+v, %+v", how, first.Final, e)
			}
			if again := try(t, h, dispute()).Result; again.Error == nil || *again.Fuel != *first.Fuel || again.Error.Message != first.Error.Message {
				t.Errorf("%s: the next trial differs: %d units, %v; the first: %d, %v", how, *again.Fuel, again.Error, *first.Fuel, first.Error)
			}
		}
	})
}

// However calls are made pristine, a module that counts its calls counts none
// of an earlier call.
func TestAccept_PL4_NoCallSeesAnotherByAnyReset(t *testing.T) {
	t.Parallel()
	want := counted(t, open(t, host.Config{Pipeline: behave(t, "specter", "verdict", "count")}))
	eachReset(t, func(t *testing.T, reset sandbox.Reset) {
		t.Helper()
		h := open(t, host.WithReset(host.Config{Pipeline: behave(t, "specter", "verdict", "count")}, reset))
		for range 3 {
			// A new instance is warmed as the others were before they were saved.
			if got := counted(t, h); got != want {
				t.Errorf("the module counts %s calls in its memory, want %s", got, want)
			}
		}
		outcome := try(t, open(t, host.WithReset(host.Config{Pipeline: behave(t, "bulwark", "hearing", "quarrel")}, reset)), dispute())
		hearing := outcome.Passes[0].Hearing
		if hearing == nil || len(hearing.Rounds) < 2 {
			t.Fatalf("hearing %+v, %+v", hearing, outcome.Result.Error)
		}
		for _, round := range hearing.Rounds {
			if !strings.HasSuffix(round.JudgeNotes, "call "+want) {
				t.Errorf("round %d sees earlier calls: %q, want call %s", round.Round, round.JudgeNotes, want)
			}
		}
	})
}

// counted is what the puppet counts as the judge.
func counted(t *testing.T, h *host.Host) string {
	t.Helper()
	result := try(t, h, dispute()).Result
	if result.Verdict == nil {
		t.Fatalf("no verdict: %+v, %+v", result.Final, result.Error)
	}
	return result.Verdict.Reasoning
}

// The tour gives the same bytes, fuel included, by every reset, from one worker
// and from eight, in any order.
func TestAccept_PL5_SameBytesByEveryReset(t *testing.T) {
	t.Parallel()
	var cases []abi.Case
	for _, entry := range tour(t) {
		cases = append(cases, entry.Case)
	}
	slices.SortFunc(cases, func(a, b abi.Case) int { return strings.Compare(a.ID, b.ID) })
	want := bytes.SplitAfter(lines(t, shared(t), cases, 1), []byte("\n"))
	if without := bytes.Count(bytes.Join(want, nil), []byte(`"fuel":null`)); without > len(cases)/2 {
		t.Fatalf("%d of %d results have no fuel", without, len(cases))
	}
	backwards := slices.Clone(cases)
	slices.Reverse(backwards)
	eachReset(t, func(t *testing.T, reset sandbox.Reset) {
		t.Helper()
		h := open(t, host.WithReset(host.Config{}, reset))
		many, counts := slices.Concat(cases, backwards), []int{1, 8}
		if reset == sandbox.ResetFresh { // a hundred times as slow
			many, counts = cases, []int{8}
		}
		for _, workers := range counts {
			for i, got := range bytes.SplitAfter(lines(t, h, many, workers), []byte("\n"))[:len(many)] {
				k := min(i, 2*len(cases)-1-i)
				if !bytes.Equal(got, want[k]) {
					t.Fatalf("%d workers, case %s:\n%s\nwant\n%s", workers, many[i].ID, got, want[k])
				}
			}
		}
	})
}
