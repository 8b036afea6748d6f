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
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/experiment"
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
