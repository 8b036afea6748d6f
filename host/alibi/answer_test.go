package alibi_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
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

// missing is a base that does not have the test, and says something of it.
func missing(detail string) trial.Experiment {
	e := baseOutcome(abi.OutcomeNoTest)
	e.Detail = detail
	return e
}

// besides are runs of the base that fail without a line of head's failure.
func besides(detail string, passed, same, other int) trial.Experiment {
	e := baseOutcome(abi.OutcomeOther)
	e.Passed, e.Same, e.Other, e.Detail = passed, same, other, detail
	return e
}

// uncounted are runs of head that tell nothing.
func uncounted(detail string) trial.Experiment {
	e := missing(detail)
	e.Product, e.Tests, e.Outcome = abi.Head, abi.Head, abi.OutcomeNotRun
	return e
}

// oldProduct are runs of the product of the base with the test of head.
func oldProduct(passed, same int) trial.Experiment {
	e := ran(abi.Base, abi.Alone, passed, same)
	e.Tests = abi.Head
	return e
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
			[]trial.Experiment{ran(abi.Head, abi.Alone, 5, 0), ran(abi.Base, abi.Alone, 1, 0), ran(abi.Head, abi.OriginalOrder, 0, 2), ran(abi.Base, abi.OriginalOrder, 0, 7)},
			"fails on the base in the same way: it passes alone (one run), fails with the tests around it; at most 2.0 times as often as before",
		},
		{
			test, alibi.Preexisting,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), ran(abi.Base, abi.Alone, 0, 7)},
			"fails on the base in the same way (7 of 7 failed); at most 2.0 times as often as before",
		},
		{
			test, alibi.Caused,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), baseOutcome(abi.OutcomeNotBuilt)},
			"the base does not build, so that nobody knows whether it failed there",
		},
		{
			test, alibi.Caused,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), baseOutcome(abi.OutcomeNotBuilt), oldProduct(1, 0)},
			"the base does not build, none of 1 failed with its product and this test, 5 of 5 failed here",
		},
		{
			test, alibi.Caused,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), baseOutcome(abi.OutcomeNotBuilt), oldProduct(0, 1)},
			"the base does not build, so that nobody knows whether it failed there",
		},
		{test, alibi.Caused, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), missing(plan.Skipped)}, "the base skips this test, 5 of 5 failed here"},
		{
			test, alibi.Caused,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), missing(plan.Untracked + "a_test.go")},
			"the base does not have this test (a_test.go is not committed), 5 of 5 failed here",
		},
		{
			test, alibi.Caused,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), missing(plan.Moved + "a_test.go"), oldProduct(0, 1)},
			"the change moved the test from a_test.go, 5 of 5 failed here and 1 of 1 failed with the old product: it shows a fault older than the change",
		},
		{
			test, alibi.Caused,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), missing(plan.Moved + "a_test.go"), oldProduct(1, 0)},
			"the change moved the test from a_test.go, 5 of 5 failed here",
		},
		{test, alibi.Caused, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), missing(plan.OtherWorld + "a lock")}, "the base does not have this test, 5 of 5 failed here"},
		{
			test, "",
			[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), baseOutcome(abi.OutcomeNoTest), oldProduct(0, 1)},
			"the base does not have this test, 5 of 5 failed here and 1 of 1 failed with the old product: it shows a fault older than the change",
		},
		{test, alibi.Caused, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), baseOutcome(abi.OutcomeNoTest)}, "the base does not have this test, 5 of 5 failed here"},
		{
			test, alibi.Environment,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 5, 0), baseOutcome(abi.OutcomeNoTest)},
			"does not come back: none of 5 runs failed here, the base does not have this test; a rate of 46% would show with 95%; what fails more rarely may be yours",
		},
		{
			test, alibi.Environment,
			[]trial.Experiment{ran(abi.Head, abi.Alone, 5, 0), ran(abi.Base, abi.Alone, 2, 0), ran(abi.Head, abi.OriginalOrder, 2, 0)},
			"does not come back: none of 5 runs failed here, none of 2 failed on the base; a rate of 46% would show with 95%; what fails more rarely may be yours",
		},
		{build, alibi.Caused, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), ran(abi.Base, abi.Alone, 2, 0)}, "does not build here, builds on the base"},
		{build, alibi.Preexisting, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), ran(abi.Base, abi.Alone, 0, 2)}, "does not build on the base either"},
		{build, alibi.Caused, []trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), baseOutcome(abi.OutcomeNoTest)}, "the base does not have this package, it does not build here"},
	} {
		tried := &trial.Trial{Case: abi.Case{ID: "p.TestA", Group: "p", Subject: c.subject}}
		tried.Result.Final.Classification, tried.Result.Experiments = c.label, c.runs
		a := alibi.Of(tried)
		if a.Why != c.want {
			t.Errorf("%s, %s: %q, want %q", c.subject, c.label, a.Why, c.want)
		}
		if strings.Contains(a.Why, "nobody knows") && a.Verdict != alibi.IsOpen {
			t.Errorf("%s: %s is %s", c.subject, a.Why, a.Verdict)
		}
	}
}

// TestAccept_AK9_EachOpenLockIsNamed, with what would close it.
func TestAccept_AK9_EachOpenLockIsNamed(t *testing.T) {
	t.Parallel()
	foreign := ran(abi.Base, abi.Alone, 0, 2)
	foreign.Loaded = abi.NotCertified
	for name, c := range map[string]struct {
		runs []trial.Experiment
		lock alibi.Lock
		next string
	}{
		"nothing ran":             {nil, alibi.Reproduced, "try it with what the failing run had: --home, --network, --env NAME"},
		"head passes":             {[]trial.Experiment{ran(abi.Head, abi.Alone, 5, 0), ran(abi.Base, abi.Alone, 2, 0)}, alibi.Reproduced, "run it outside of the laboratory: --native"},
		"the base does not build": {[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), baseOutcome(abi.OutcomeNotBuilt)}, alibi.World, "name an older base that can be run: --base REVISION"},
		"the base was not run":    {[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), baseOutcome(abi.OutcomeNotRun)}, alibi.World, "name an older base"},
		"other dependencies":      {[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), foreign}, alibi.World, "run the command in a checkout of the base"},
		"only frames differ":      {[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), besides(plan.Besides+"at.go:5", 0, 0, 2)}, alibi.Reproduced, "if these lines say what failed"},
		"a test that was moved":   {[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), missing(plan.Moved + "a_test.go")}, alibi.World, "run it there"},
		"one of another world":    {[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), missing(plan.OtherWorld + "a lock\n" + plan.Moved + "a_test.go")}, alibi.World, "run it there"},
		"one name of several":     {[]trial.Experiment{uncounted(plan.SeveralTests)}, alibi.Reproduced, "give each test a name of its own"},
		"another folder":          {[]trial.Experiment{uncounted(plan.Otherwise + ". The test may be that of another folder: --source svc:\nx")}, alibi.Reproduced, "name the folder of its tests: --source svc"},
		"outside of it, too":      {[]trial.Experiment{uncounted(plan.Natively + "it fails there, too")}, alibi.Reproduced, docket.OnBase},
		"few runs":                {[]trial.Experiment{ran(abi.Head, abi.Alone, 0, 5), ran(abi.Base, abi.Alone, 0, 2)}, alibi.Chance, "some 7 more runs would tell"},
	} {
		tried := &trial.Trial{Case: abi.Case{ID: "p.TestA", Group: "p", Subject: "TestA fails in p"}}
		tried.Result.Experiments = c.runs
		if a := alibi.Of(tried); a.Verdict != alibi.IsOpen || a.Lock != c.lock || !strings.HasPrefix(a.Next, c.next) {
			t.Errorf("%s: %s, lock %q, next %q", name, a.Verdict, a.Lock, a.Next)
		}
	}
}

// TestAccept_AK4_WhatOnlyStandsBesideTheFailureIsNotBlamed, where it is all that differs, and what a draw may explain is not either.
func TestAccept_AK4_WhatOnlyStandsBesideTheFailureIsNotBlamed(t *testing.T) {
	t.Parallel()
	head, drawn := ran(abi.Head, abi.Alone, 0, 5), ran(abi.Head, abi.Alone, 0, 1)
	drawn.Other = 4
	const alike, row = plan.Besides + "at.go:5", "it does not fail with: a_test.go:5: row b"
	for name, c := range map[string]struct {
		runs []trial.Experiment
		want alibi.Verdict
	}{
		"a frame":                         {[]trial.Experiment{head, besides(alike, 0, 0, 2)}, alibi.IsOpen},
		"a frame in another world":        {[]trial.Experiment{head, besides(plan.OtherWorld+"a lock\n"+alike+"\n", 0, 0, 2)}, alibi.IsOpen},
		"a frame, and a row now and then": {[]trial.Experiment{head, besides(alike, 0, 0, 2), besides(row, 0, 0, 5)}, alibi.IsYours},
		"a row":                           {[]trial.Experiment{head, besides(row, 0, 0, 2)}, alibi.IsYours},
		"a base that passes, too":         {[]trial.Experiment{head, besides(alike, 1, 0, 1)}, alibi.IsYours},
		"rows at random":                  {[]trial.Experiment{drawn, besides(row, 0, 0, 2)}, alibi.IsOpen},
		"a row at random that is new":     {[]trial.Experiment{drawn, ran(abi.Head, abi.Alone, 0, 10), besides(row, 0, 0, 20)}, alibi.IsYours},
	} {
		tried := &trial.Trial{Case: abi.Case{ID: "p.TestA", Group: "p", Subject: "TestA fails in p"}}
		tried.Result.Final.Classification, tried.Result.Experiments = alibi.Caused, c.runs
		if a := alibi.Of(tried); a.Verdict != c.want {
			t.Errorf("%s: %s, %s", name, a.Verdict, a.Why)
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

func TestFailuresOfOneTestAreOne(t *testing.T) {
	t.Parallel()
	var r alibi.Repeated
	var got []string
	fail := func(pack, test string) string {
		return `{"Action":"run","Package":"` + pack + `","Test":"` + test + `"}
{"Action":"output","Package":"` + pack + `","Test":"` + test + `","Output":"    a_test.go:3: got 1\n--- FAIL: ` + test + ` (0.00s)\n"}
{"Action":"fail","Package":"` + pack + `","Test":"` + test + `","Elapsed":0}
`
	}
	stream := fail("p", "TestA") + fail("p", "TestB") + fail("p", "TestA") + fail("q", "TestA") + fail("p", "TestA/sub#01") + fail("p", "TestA")
	for e, err := range (&gotest.Reader{}).Read("run", strings.NewReader(stream)) {
		if err != nil {
			t.Fatal(err)
		}
		if !r.Has(&e) {
			got = append(got, e.Case.ID)
		}
	}
	if want := []string{"p.TestA", "p.TestB", "q.TestA", "p.TestA/sub#01"}; !slices.Equal(got, want) || r.Count != 2 {
		t.Errorf("got %q, %d repeated, want %q and 2", got, r.Count, want)
	}

	// A test of one class in two reports may be of two modules of a project.
	got = nil
	reader := junit.Reader{}
	for _, name := range []string{"a.xml", "b.xml"} {
		text := `<testsuite name="s">` + strings.Repeat(`<testcase classname="c.D" name="total"><failure>no</failure></testcase>`, 2) +
			`<testcase classname="c.E" name="total" file="e.py"><failure>no</failure></testcase></testsuite>`
		for e, err := range reader.Read(name, strings.NewReader(text)) {
			if err != nil {
				t.Fatal(err)
			}
			if !r.Has(&e) {
				got = append(got, e.Source+" "+e.Case.Group)
			}
		}
	}
	if want := []string{"a.xml c.D", "a.xml c.E", "b.xml c.D"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A report of `go test -json`, the repository, and the revision that the change began at are all that it takes.
func Example() { //nolint:testableexamples // it runs the tests of a repository
	ctx := context.Background()
	lab, err := experiment.Open(ctx, experiment.Config{Source: ".", Base: "origin/main", Mode: experiment.All, Budget: 10 * time.Minute})
	if err != nil {
		panic(err)
	}
	defer func() { _ = lab.Close() }()
	court, err := alibi.Open(ctx, host.Config{Experiments: lab}, 0)
	if err != nil {
		panic(err)
	}
	defer func() { _ = court.Close(ctx) }()
	failures := (&gotest.Reader{}).Read("report.json", os.Stdin)
	for asked := range court.Ask(ctx, failures, 0) {
		if asked.Err == nil {
			fmt.Println(asked.Answer.Test, asked.Answer.Verdict, asked.Answer.Why)
		}
	}
}
