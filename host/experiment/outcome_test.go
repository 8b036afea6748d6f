package experiment

import (
	"cmp"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

// TestAccept_AK12_WhatALaterRunLacks no earlier run had: none of them counts.
func TestAccept_AK12_WhatALaterRunLacks(t *testing.T) {
	const failed = "    cart_test.go:12: bad\n--- FAIL: TestA (0.00s)\n"
	base := tallyOf(failed, abi.Base, &varying{})
	base.failed(document(failed), false, false)
	base.missed, base.reason = true, "the test reads store.txt"
	if r, _ := base.end(nil); r.Outcome != abi.OutcomeNotRun || r.Detail != base.reason {
		t.Errorf("%+v", r)
	}
}

// TestAccept_AK12_ASkipThatMayAskForWhatIsHidden tells nothing of the base.
func TestAccept_AK12_ASkipThatMayAskForWhatIsHidden(t *testing.T) {
	for lacks, want := range map[string]abi.ExperimentOutcome{"the test reads the variable SHOP": abi.OutcomeNotRun, "": abi.OutcomeNoTest} {
		base := tallyOf("", abi.Base, &varying{})
		base.add(&testRun{Result: &isolate.Result{Ending: isolate.Exited}, Kind: kindSkipped, Lacks: lacks})
		if r, _ := base.end(nil); r.Outcome != want || !strings.Contains(r.Detail, cmp.Or(lacks, plan.Skipped)) {
			t.Errorf("%q: %+v", lacks, r)
		}
	}
}

// TestAFailureThatCameBackOnceIsNotMissing in a later step that has none.
func TestAFailureThatCameBackOnceIsNotMissing(t *testing.T) {
	price := func(name string) string {
		return "    cart_test.go:12: no price of " + name + "\n--- FAIL: TestA (0.00s)\n"
	}
	known := &varying{}
	for i, c := range []struct {
		runs []string
		want abi.ExperimentOutcome
	}{{[]string{"b", "c", "b"}, abi.OutcomeNotRun}, {[]string{"a", "b"}, abi.OutcomeOther}, {[]string{"b", "c"}, abi.OutcomeOther}} {
		head := tallyOf(price("a"), abi.Head, known)
		for _, name := range c.runs {
			head.runs++
			head.failed(document(price(name)), false, false)
		}
		r, _ := head.end(nil)
		if known = head.varying; r.Outcome != c.want {
			t.Errorf("step %d: %+v", i, r)
		}
	}
}

// TestAMovedTestIsNamedInAnotherWorld, too.
func TestAMovedTestIsNamedInAnotherWorld(t *testing.T) {
	base := tallyOf("", abi.Base, &varying{})
	base.loaded, base.absence = loaded{abi.NotCertified, "a lock"}, func() string { return plan.Moved + "a_test.go" }
	if r, _ := base.end(errNoTests); r.Outcome != abi.OutcomeNoTest || r.Detail != plan.OtherWorld+"a lock\n"+plan.Moved+"a_test.go" {
		t.Errorf("%+v", r)
	}
}
