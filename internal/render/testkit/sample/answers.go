package sample

import (
	"fmt"
	"reflect"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// runs are those of one experiment.
func runs(tree, tests abi.TreeRevision, environment abi.RunEnvironment, order abi.RunOrder, passed, same, other int) trial.Experiment {
	e := trial.Experiment{
		Persona: "light", Passed: passed, Same: same, Other: other, Test: abi.TestUnchanged, Loaded: abi.Certified,
		Factors: trial.Factors{Product: tree, Tests: tests, Environment: environment, Order: order, Runs: passed + same + other},
	}
	switch {
	case same+other == 0:
		e.Outcome = abi.OutcomePassed
	case passed > 0:
		e.Outcome = abi.OutcomeMixed
	case other > 0:
		e.Outcome = abi.OutcomeOther
	default:
		e.Outcome = abi.OutcomeSame
	}
	return e
}

func alone(tree, tests abi.TreeRevision, passed, same int) trial.Experiment {
	return runs(tree, tests, abi.OriginalEnvironment, abi.Alone, passed, same, 0)
}

func unable(tree abi.TreeRevision, outcome abi.ExperimentOutcome, detail string) trial.Experiment {
	e := alone(tree, tree, 0, 0)
	e.Runs, e.Outcome, e.Detail, e.Loaded = 5, outcome, detail, ""
	return e
}

// Answers are answers of every kind.
func Answers() []alibi.Answer {
	answer := func(test string, verdict alibi.Verdict, label, why, message string, runs ...trial.Experiment) alibi.Answer {
		return alibi.Answer{
			ID: "example.org/shop/cart." + test, Group: "example.org/shop/cart", Test: test, Verdict: verdict, Label: label, Confidence: 0.99, Why: why,
			Message: message, Base: abi.Certified, Runs: runs,
		}
	}
	total := answer("TestTotal", alibi.NotYours, alibi.Flaky, "2 of 20 failed here, 3 of 20 failed on the base", "total_test.go:9: want 3, got 4",
		alone(abi.Head, abi.Head, 4, 1), alone(abi.Base, abi.Base, 2, 0), alone(abi.Base, abi.Base, 15, 3), alone(abi.Head, abi.Head, 14, 1))
	empty := answer("TestParse/empty", alibi.IsYours, alibi.Caused, "none of 5 failed on the base, 5 of 5 failed here", "parse_test.go:31: Parse(\"\"):\nwant an error, got nil",
		alone(abi.Head, abi.Head, 0, 5), alone(abi.Base, abi.Base, 5, 0), alone(abi.Head, abi.Base, 0, 1), alone(abi.Base, abi.Head, 1, 0),
		runs(abi.Head, abi.Head, abi.CoverageEnvironment, abi.Alone, 0, 1, 0))
	empty.Part = alibi.Product
	empty.Runs[4].Changed = abi.CodeExecuted
	empty.Culprit = &alibi.Culprit{
		Commit: "9ab12cd0e1f2a3b4c5d6e7f8091a2b3c4d5e6f70", Title: "Trim input", Author: "A. Author", Probability: 0.98, Verified: true, Runs: 12,
		Hunk: &alibi.Hunk{Path: "cart/parse.go", Line: 12, Text: "-\tif text == \"\" {\n-\t\treturn ErrEmpty\n-\t}\n+\ttext = strings.TrimSpace(text)"},
		Ribbon: []alibi.Suspicion{
			{Commit: "1111111111112222", Title: "Rename a field", Probability: 0.001},
			{Commit: "9ab12cd0e1f2a3b4c5d6e7f8091a2b3c4d5e6f70", Title: "Trim input", Probability: 0.98},
			{Commit: "333333333333444", Title: "Say what is wrong with a price", Probability: 0.019},
			{Title: "changes that are not committed"},
		},
	}
	second := empty
	second.ID, second.Test = "example.org/shop/cart.TestParse/blank", "TestParse/blank"
	upload := answer("TestUpload", alibi.NotYours, alibi.Environment, "passes in a clean environment, and fails on the base as it does here", "dial tcp: network is unreachable",
		alone(abi.Head, abi.Head, 0, 5), alone(abi.Base, abi.Base, 0, 2), runs(abi.Head, abi.Head, abi.CleanEnvironment, abi.Alone, 1, 0, 0))
	rare := answer("TestRarelyLate", alibi.IsYours, alibi.Caused, "none of 300 failed on the base, 12 of 60 failed here", "",
		alone(abi.Head, abi.Head, 48, 12), alone(abi.Base, abi.Base, 300, 0), runs(abi.Head, abi.Head, abi.StarvedEnvironment, abi.Alone, 1, 2, 2))
	rare.Culprit = manyCommits()
	merged := answer("TestMerged", alibi.IsYours, alibi.Conflict, "head and the target pass apart, their merge fails", "undefined: Price",
		alone(abi.Head, abi.Head, 5, 0), alone(abi.Target, abi.Target, 5, 0), unable(abi.Merge, abi.OutcomeNotBuilt, "cart.go:3: undefined: Price"), unable(abi.Base, abi.OutcomeNoTest, ""))
	open := answer("TestRetry", alibi.IsOpen, "", "5 of 5 failed here, no run on the base: not enough to tell", "retry_test.go:7: 4 attempts",
		alone(abi.Head, abi.Head, 5, 0), runs(abi.Head, abi.Head, abi.OriginalEnvironment, abi.OriginalOrder, 0, 3, 2), unable(abi.Base, abi.OutcomeNotRun, "the budget is used up"))
	open.Lock = alibi.World
	open.Next = "run the base, 5 times, in about 70 seconds"
	return []alibi.Answer{total, empty, second, upload, rare, merged, open}
}

// manyCommits is a culprit that the search could not tell apart from its neighbour, among forty commits.
func manyCommits() *alibi.Culprit {
	c := &alibi.Culprit{Commit: "20aaaaaaaaaaaaaa", Title: "Wait less", Author: "B. Author", Probability: 0.6, Beside: []string{"19aaaaaaaaaaaaaa"}, Skipped: []alibi.Skipped{{Commit: "04aaaaaaaaaaaaaa", Why: "it does not build: undefined: Price"}}}
	for i := range 40 {
		number := fmt.Sprintf("%02d", i)
		s := alibi.Suspicion{Commit: number + "aaaaaaaaaaaaaa", Title: "Change " + number, Probability: 0.001}
		switch i {
		case 19:
			s.Probability = 0.35
		case 20:
			s.Title, s.Probability = c.Title, c.Probability
		}
		c.Ribbon = append(c.Ribbon, s)
	}
	return c
}

// FilledAnswer is an answer that has everything an answer can have, with every text replaced by the given one as in [Filled].
func FilledAnswer(verdict alibi.Verdict, text string) alibi.Answer {
	a := Answers()[1]
	a.Next, a.Culprit.Beside, a.Culprit.Skipped = "x", []string{"x", "y"}, []alibi.Skipped{{Commit: "z", Why: "x"}}
	a.Runs = append(a.Runs, unable(abi.Base, abi.OutcomeNotRun, "x"))
	n := 0
	poison(reflect.ValueOf(&a).Elem(), text, &n)
	a.Verdict = verdict
	return a
}
