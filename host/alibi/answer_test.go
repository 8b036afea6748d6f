package alibi_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// ran is an experiment with a tree of which some runs passed and others failed as the case did.
func ran(tree abi.TreeRevision, order abi.RunOrder, passed, same int) trial.Experiment {
	e := abi.Experiment{Product: tree, Tests: tree, Environment: abi.OriginalEnvironment, Order: order, Runs: passed + same}
	r := abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeMixed, Passed: passed, Same: same, Loaded: abi.Certified}
	return trial.NewExperiment("", "", &r)
}

func baseOutcome(outcome abi.ExperimentOutcome) trial.Experiment {
	e := abi.Experiment{Product: abi.Base, Tests: abi.Base, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 2}
	return trial.NewExperiment("", "", &abi.ExperimentResult{Experiment: e, Outcome: outcome, Loaded: abi.Certified})
}

func TestAnswersSayWhatWasSeen(t *testing.T) {
	t.Parallel()
	const test, build = "TestA fails in p", "p does not build"
	for _, c := range []struct {
		subject, label string
		runs           []trial.Experiment
		want           string
	}{
		{test, alibi.Caused, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), ran(abi.Base, abi.Alone, 2, 0)}, "none of 2 failed on the base, 5 of 5 failed here"},
		{
			test, alibi.Caused,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 5, 0), ran(abi.Base, abi.Alone, 2, 0), ran(abi.Head, abi.OriginalOrder, 0, 2), ran(abi.Base, abi.OriginalOrder, 2, 0)},
			"none of 2 failed on the base with the tests around it, here it passes alone (5 runs), fails with the tests around it",
		},
		{
			test, alibi.Preexisting,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 5, 0), ran(abi.Base, abi.Alone, 1, 0), ran(abi.Head, abi.OriginalOrder, 0, 2), ran(abi.Base, abi.OriginalOrder, 1, 1)},
			"fails on the base in the same way: it passes alone (one run), fails with the tests around it (1 of 2 runs)",
		},
		{test, alibi.Preexisting, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), ran(abi.Base, abi.Alone, 0, 2)}, "fails on the base in the same way (2 of 2 failed)"},
		{test, alibi.Caused, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), baseOutcome(abi.OutcomeNotBuilt)}, "the base does not build, 5 of 5 failed here"},
		{test, alibi.Caused, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), baseOutcome(abi.OutcomeNoTest)}, "the base does not have this test, 5 of 5 failed here"},
		{
			test, alibi.Environment,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 5, 0), baseOutcome(abi.OutcomeNoTest)},
			"does not come back: none of 5 runs failed here, the base does not have this test; a rate of 46% would show with 95%",
		},
		{
			test, alibi.Environment,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 5, 0), ran(abi.Base, abi.Alone, 2, 0), ran(abi.Head, abi.OriginalOrder, 2, 0)},
			"does not come back: none of 5 runs failed here, none of 2 failed on the base; a rate of 46% would show with 95%",
		},
		{build, alibi.Caused, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), ran(abi.Base, abi.Alone, 2, 0)}, "does not build here, builds on the base"},
		{build, alibi.Preexisting, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), ran(abi.Base, abi.Alone, 0, 2)}, "does not build on the base either"},
		{build, alibi.Caused, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), baseOutcome(abi.OutcomeNoTest)}, "the base does not have this package, it does not build here"},
	} {
		tried := &trial.Trial{Case: abi.Case{ID: "p.TestA", Group: "p", Subject: c.subject}}
		tried.Result.Final.Classification, tried.Result.Experiments = c.label, c.runs
		if a := alibi.Of(tried); a.Why != c.want {
			t.Errorf("%s, %s: %q, want %q", c.subject, c.label, a.Why, c.want)
		}
	}
}

func TestAFailureThatDependsOnOrderNamesTheTestsBefore(t *testing.T) {
	t.Parallel()
	tried := &trial.Trial{Case: abi.Case{ID: "p.TestA", Group: "p", Subject: "TestA fails in p"}}
	tried.Result.Final.Classification = alibi.Caused
	tried.Result.Experiments = []trial.Experiment{ran(abi.Head, abi.Alone, 5, 0), ran(abi.Base, abi.Alone, 2, 0), ran(abi.Head, abi.OriginalOrder, 0, 2)}
	a := alibi.Of(tried)
	if !a.DependsOnOrder() {
		t.Error("it passes alone")
	}
	before := a.Why
	if a.FailsAfter(nil); a.Why != before {
		t.Errorf("without tests: %s", a.Why)
	}
	if a.FailsAfter([]string{"TestB", "TestC"}); a.Why != before+"; it fails after TestB and TestC" {
		t.Errorf("after two: %s", a.Why)
	}
	if tried.Result.Experiments[0] = ran(abi.Head, abi.Alone, 4, 1); alibi.Of(tried).DependsOnOrder() {
		t.Error("it fails alone")
	}
}
