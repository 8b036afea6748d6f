package trial

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

// ran is the result of an experiment, as "head/base 0 1 0": product/tests, then runs that passed, failed as before, failed otherwise.
func ran(product, tests abi.TreeRevision, passed, same, other int) Experiment {
	e := Experiment{Factors: Factors{product, tests, abi.OriginalEnvironment, abi.Alone, passed + same + other}, Passed: passed, Same: same, Other: other}
	switch {
	case passed > 0 && same+other > 0:
		e.Outcome = abi.OutcomeMixed
	case passed > 0:
		e.Outcome = abi.OutcomePassed
	case other > 0:
		e.Outcome = abi.OutcomeOther
	default:
		e.Outcome = abi.OutcomeSame
	}
	return e
}

func ended(product, tests abi.TreeRevision, outcome abi.ExperimentOutcome) Experiment {
	return Experiment{Factors: Factors{product, tests, abi.OriginalEnvironment, abi.Alone, 1}, Outcome: outcome, Detail: "no git"}
}

// uncounted are runs of head that passed or failed in another way, and tell nothing.
func uncounted(passed, other int) Experiment {
	e := ran(abi.Head, abi.Head, passed, 0, other)
	e.Outcome, e.Detail = abi.OutcomeNotRun, "it names a hidden file:\noutput"
	return e
}

func (e Experiment) in(environment abi.RunEnvironment, order abi.RunOrder) Experiment {
	e.Environment, e.Order = environment, order
	return e
}

func (e Experiment) with(change abi.TestChange) Experiment {
	e.Test = change
	return e
}

// The sentence that people read first says what the runs show, and no more.
func TestAccept_FZ5_Conclusions(t *testing.T) {
	t.Parallel()
	const head, green = abi.Head, abi.Base
	fails, base := ran(head, head, 0, 5, 0), ran(green, green, 2, 0, 0)
	for name, tt := range map[string]struct {
		runs    []Experiment
		finding Finding
		text    string
	}{
		"nothing": {nil, NotRun, "No experiment was run: product bug at 0.70 rests on reading alone."},
		"no git":  {[]Experiment{ended(head, head, abi.OutcomeNotRun)}, NotRun, "No experiment counts (no git): product bug at 0.70 rests on reading alone."},
		"flaky":   {[]Experiment{ran(head, head, 3, 2, 0)}, FoundFlaky, "The test is flaky: on the same tree 3 runs passed and 2 failed."},
		"flaky on a busy machine": {
			[]Experiment{fails, ran(head, head, 1, 1, 0).in(abi.StarvedEnvironment, abi.Alone)},
			FoundFlaky,
			"The test is flaky: on the same tree 1 run passed and 6 failed.",
		},
		"different failures": {[]Experiment{ran(head, head, 0, 2, 3)}, FoundFlaky, "The test fails in different ways on the same tree, so chance plays a part."},
		"load": {
			[]Experiment{ran(head, head, 5, 0, 0), ran(head, head, 0, 5, 0).in(abi.StarvedEnvironment, abi.Alone)},
			FoundLoad,
			"The test depends on timing: it passes alone, and fails on a busy machine.",
		},
		"order": {
			[]Experiment{ran(head, head, 5, 0, 0), ran(head, head, 0, 2, 0).in(abi.OriginalEnvironment, abi.OriginalOrder)},
			FoundOrder,
			"The test depends on other tests: it passes alone, and fails with the tests around it.",
		},
		"needs the tests before": {
			[]Experiment{fails, ran(head, head, 2, 0, 0).in(abi.OriginalEnvironment, abi.OriginalOrder)},
			FoundOrder,
			"The test depends on other tests: it fails alone, and passes with the tests around it.",
		},
		"gone": {
			[]Experiment{ran(head, head, 5, 0, 0)},
			FoundPassing,
			"The failure did not come back: 5 reruns of the same tree passed. Chance caused it, or the machine where it failed.",
		},
		"gone in runs that don't count": {
			[]Experiment{uncounted(5, 0)}, FoundPassing, "No experiment counts (it names a hidden file: output): product bug at 0.70 rests on reading alone.",
		},
		"other failures": {
			[]Experiment{ran(head, head, 0, 0, 5)}, FoundNothing, "The failure did not come back: the test fails each time on this tree (5 reruns), but in other ways.",
		},
		"runs that don't count beside others": {[]Experiment{fails, uncounted(5, 0)}, FoundNothing, "The test fails each time on this tree (5 reruns), so it is not flaky."},
		"environment": {
			[]Experiment{fails, ran(head, head, 1, 0, 0).in(abi.CleanEnvironment, abi.Alone)},
			FoundEnvironment,
			"The environment is the cause: the test fails in yours, and passes in a clean one (no variables, an empty home, UTC).",
		},
		"a clean environment alone": {
			[]Experiment{ran(head, head, 1, 0, 0).in(abi.CleanEnvironment, abi.Alone)}, FoundNothing, "The test was not run again on this tree.",
		},
		"this tree alone": {[]Experiment{fails}, FoundNothing, "The test fails each time on this tree (5 reruns), so it is not flaky."},
		"red base": {
			[]Experiment{fails, ran(green, green, 0, 2, 0)},
			FoundBase,
			"The base fails too, in the same way, so this change did not cause the failure; the label product bug is about a cause that the base has, too.",
		},
		"base red in another way": {
			[]Experiment{fails, ran(green, green, 0, 0, 2), ran(green, head, 1, 0, 0)},
			FoundBase,
			"The base fails too, but in another way, so comparing with it does not show what this change did, and the label product bug rests on other evidence.",
		},
		"flaky base": {[]Experiment{fails, ran(green, green, 1, 1, 0)}, FoundBase, "The base passes and fails: the test was flaky before this change."},
		"test change": {
			[]Experiment{fails, base, ran(green, head, 0, 1, 0), ran(head, green, 1, 0, 0)},
			FoundTest,
			"The test change is the cause: the old product fails the changed test, the new product passes the old test.",
		},
		"test change, one mixture": {
			[]Experiment{fails, base, ran(green, head, 0, 1, 0)},
			FoundTest,
			"The test change is the cause: the old product passes the old test and fails the changed one.",
		},
		"product change": {
			[]Experiment{fails, base, ran(green, head, 1, 0, 0), ran(head, green, 0, 1, 0)},
			FoundProduct,
			"The product change is the cause: the old product passes the changed test, the new product fails the old test.",
		},
		"product change, one mixture": {
			[]Experiment{fails, base, ran(green, head, 1, 0, 0)}, FoundProduct, "The product change is the cause: the old product passes the same test.",
		},
		"product change, the other mixture": {
			[]Experiment{fails, ran(head, green, 0, 1, 0)}, FoundProduct, "The product change is the cause: the new product fails the old test, too.",
		},
		"unchanged test": {
			[]Experiment{fails, base.with(abi.TestUnchanged)},
			FoundProduct,
			"The product change is the cause: the base passes, and the test did not change.",
		},
		"only the changed test notices": {
			[]Experiment{fails, base, ran(green, head, 1, 0, 0), ran(head, green, 1, 0, 0)},
			FoundProduct,
			"The product change is the cause: the old product passes the changed test, and only that test notices (the new product passes the old test).",
		},
		"both": {
			[]Experiment{fails, base, ran(green, head, 0, 0, 1), ran(head, green, 0, 1, 0)},
			FoundBoth,
			"Product and test changed, and each change alone fails: the old product fails the changed test in another way, the new product fails the old test.",
		},
		"either": {[]Experiment{fails, base}, FoundBoth, "This change is the cause: the base passes. No run shows whether the product or the test is wrong."},
		"new test of old code": {
			[]Experiment{fails, ended(green, green, abi.OutcomeNoTest).with(abi.TestNew), ran(green, head, 0, 1, 0)},
			FoundOlder,
			"The product change is not the cause: the old product fails this test, too; the label product bug is about a cause that makes the old product fail, too.",
		},
		"new test that the old product fails otherwise": {
			[]Experiment{fails, ended(green, green, abi.OutcomeNoTest).with(abi.TestNew), ran(green, head, 0, 0, 1)},
			FoundOlder,
			"The product change is not the cause: the old product fails this test in another way, too, and the label product bug rests on other evidence.",
		},
		"new test of new code": {
			[]Experiment{fails, ended(green, green, abi.OutcomeNoTest), ended(green, head, abi.OutcomeNotBuilt)},
			FoundNothing,
			"The test is new and needs the new product, so there is nothing older to compare with.",
		},
		"changed test of new code": {
			[]Experiment{fails, base, ended(green, head, abi.OutcomeNotBuilt), ran(head, green, 1, 0, 0)},
			FoundBoth,
			"Only the changed test fails: the new product passes the old test, and the changed test does not build with the old product.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := &Trial{LabelNames: map[string]string{"pb001": "product bug, in the code"}, Result: Result{Experiments: tt.runs, Final: Final{Classification: "pb001", Confidence: 0.7}}}
			c := tr.Conclusion()
			if c.Finding != tt.finding || c.Text != tt.text {
				t.Errorf("%s: %s\nwant %s: %s", c.Finding, c.Text, tt.finding, tt.text)
			}
			if (c.Finding == FoundBase) != strings.Contains(c.Next, "--since") && c.Finding != FoundNothing {
				t.Errorf("next: %q", c.Next)
			}
		})
	}
}

// A red base contradicts neither a label nor an acquittal: the sentence says what both mean together.
func TestAccept_FZ5_ARedBaseWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	tr := &Trial{Result: Result{
		Experiments: []Experiment{ran(abi.Head, abi.Head, 0, 5, 0), ran(abi.Base, abi.Base, 0, 2, 0)}, Final: Final{Status: Acquitted},
	}}
	const want = "The base fails too, in the same way, so this change did not cause the failure, and the evidence does not show whether an older fault or the environment did."
	if c := tr.Conclusion(); c.Text != want || c.Finding != FoundBase {
		t.Errorf("%s: %s", c.Finding, c.Text)
	}
}

// The next step is a run that is possible: not one that failed already, and no older revision for a test that is new.
func TestTheNextStepIsPossible(t *testing.T) {
	t.Parallel()
	const head, green = abi.Head, abi.Base
	fails, passes := ran(head, head, 0, 5, 0), ran(green, green, 2, 0, 0)
	for name, tt := range map[string]struct {
		runs []Experiment
		next string
	}{
		"this tree alone":       {[]Experiment{fails}, "compare with a revision at which it passed: --experiments all --since REVISION"},
		"green can't be run":    {[]Experiment{fails, ended(green, green, abi.OutcomeNotBuilt)}, "compare with another revision at which it passed: --since REVISION"},
		"new test":              {[]Experiment{fails, ended(green, green, abi.OutcomeNoTest)}, "run the new test on the old product"},
		"new test, not run":     {[]Experiment{fails, ended(green, green, abi.OutcomeNoTest), ended(green, head, abi.OutcomeNotRun)}, ""},
		"green passes":          {[]Experiment{fails, passes}, "run the changed test on the old product"},
		"mixture can't be run":  {[]Experiment{fails, passes, ended(green, head, abi.OutcomeNotRun)}, ""},
		"mixture doesn't build": {[]Experiment{fails, passes, ended(green, head, abi.OutcomeNotBuilt)}, "check what the changed test expects of the new product"},
	} {
		check.Equal(t, (&Trial{Result: Result{Experiments: tt.runs}}).Conclusion().Next, tt.next, name, "next")
	}
}

func TestTheProposedExperimentIsNext(t *testing.T) {
	t.Parallel()
	p := &Proposal{Factors: Factors{abi.Base, abi.Base, abi.OriginalEnvironment, abi.Alone, 2}, Seconds: 9}
	tr := &Trial{Result: Result{Experiments: []Experiment{ran(abi.Head, abi.Head, 0, 5, 0)}, Proposal: p}}
	check.Equal(t, tr.Conclusion().Next, "run the base, 2 times, in about 9 seconds", "next")
}

// Where the home was hidden and the failure did not come back, the next step is the run that shows the home.
func TestAccept_FZ3_TheNextStepShowsTheHome(t *testing.T) {
	t.Parallel()
	p := &Proposal{Factors: Factors{abi.Head, abi.Head, abi.OriginalEnvironment, abi.Alone, 5}, Seconds: 9, Allow: "home"}
	for name, run := range map[string]Experiment{"passes": ran(abi.Head, abi.Head, 5, 0, 0), "fails in other ways": ran(abi.Head, abi.Head, 0, 0, 5), "does not count": uncounted(0, 5)} {
		c := (&Trial{Result: Result{Experiments: []Experiment{run}, Proposal: p}}).Conclusion()
		check.Equal(t, c.Next, "run this tree, 5 times, with --experiments home, in about 9 seconds", name, "next")
	}
	check.Equal(t, p.Reason(), "the failure may need a file or variable of yours that the tests did not have")
}

func TestLabelsInTexts(t *testing.T) {
	t.Parallel()
	tr := &Trial{
		Case:       abi.Case{Labels: []string{"pb001", "pb002", "nd001", "leak", "x1"}},
		LabelNames: map[string]string{"pb001": "product bug, minor", "pb002": "product bug, major", "nd001": "flaky test, no defect", "leak": "memory leak"},
	}
	const text = "pb001 0.70, pb002; nd001 (flaky test). The leak of x1 in spb0012"
	check.Equal(t, tr.Named(text), "product bug, minor 0.70, product bug, major; flaky test. The leak of x1 in spb0012")
	for label, want := range map[string]string{"nd001": "flaky test", "pb001": "product bug, minor", "leak": "memory leak", "x1": "x1"} {
		check.Equal(t, tr.LabelName(label), want, label, "called")
	}
}

func TestMixedRunsAreCounted(t *testing.T) {
	t.Parallel()
	mixed := func(passed, same, other int) Experiment {
		e := ran(abi.Head, abi.Head, passed, same, other)
		e.Runs, e.Outcome = 5, abi.OutcomeMixed
		return e
	}
	busy := mixed(1, 1, 0).in(abi.StarvedEnvironment, abi.Alone)
	all := Experiment{Factors: busy.Factors, Outcome: abi.OutcomePassed, Passed: 5}
	for want, e := range map[string]Experiment{
		"this tree: 1 of 2 runs failed in the same way, 3 not made":                   mixed(1, 1, 0),
		"this tree: 4 of 5 runs failed in another way":                                mixed(1, 0, 4),
		"this tree: 3 of 5 runs failed, 1 in the same way":                            mixed(2, 1, 2),
		"this tree on a busy machine: 1 of 2 runs failed in the same way, 3 not made": busy,
		"this tree, 5 times on a busy machine: 5 passed":                              all,
	} {
		check.Equal(t, e.What()+": "+e.Showed(), want)
	}
}
