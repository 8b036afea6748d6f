package trial

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Conclusion says in words what the experiments of a case show about its cause.
type Conclusion struct {
	// Finding names the cause in a few words: "product change".
	Finding Finding
	// Text is a sentence with the runs that it rests on.
	Text string
	// Next says what would decide the case; empty where nothing more is needed.
	Next string
}

// Finding is what experiments found.
type Finding string

// The findings.
const (
	FoundProduct     Finding = "product change"
	FoundTest        Finding = "test change"
	FoundBoth        Finding = "product or test change"
	FoundFlaky       Finding = "flaky"
	FoundLoad        Finding = "fails under load"
	FoundOrder       Finding = "depends on other tests"
	FoundEnvironment Finding = "environment"
	FoundPassing     Finding = "not reproduced"
	FoundBase        Finding = "base fails too"
	FoundOlder       Finding = "older than the change"
	FoundNothing     Finding = "not settled"
	NotRun           Finding = "nothing was run"
)

// olderBase is the remedy where the base tells nothing of the change.
const olderBase = "name an older revision, at which the test passed, with --since"

// Conclusion derives the sentence that people read first from the results of the experiments. It states what was seen, which is
// not always what the court decides: no run tells a regression from a test that nobody updated.
func (t *Trial) Conclusion() Conclusion {
	runs := t.Result.Experiments
	p := t.Result.Proposal
	c := Conclusion{Finding: NotRun, Text: t.unread()}
	if slices.ContainsFunc(runs, func(e Experiment) bool { return e.Outcome != abi.OutcomeNotRun }) {
		switch c = onHead(runs); {
		case c.Finding == FoundNothing:
			c = acrossTrees(runs, c)
		case c.Finding == FoundPassing && p != nil && p.Allow != "":
			c.Text = strings.TrimSuffix(c.Text, ".") + ", or " + p.Lacked() + " that the reruns did not have."
		}
	} else if slices.ContainsFunc(runs, func(e Experiment) bool { return e.Passed+e.Same+e.Other > 0 }) {
		c.Finding = FoundPassing
	}
	if c.Finding == FoundBase {
		c.Text = strings.TrimSuffix(c.Text, ".") + t.onRedBase() + "."
	}
	if c.Finding == FoundOlder {
		c.Text = strings.TrimSuffix(c.Text, ".") + t.onOldProduct() + "."
	}
	if p != nil && (p.Allow != "" || c.Finding == NotRun || c.Finding == FoundNothing || c.Finding == FoundBoth) {
		c.Next = p.Action()
	}
	return c
}

// unread says what is known where nothing ran.
func (t *Trial) unread() string {
	text := "No experiment was run"
	for i := range t.Result.Experiments {
		if why := t.Result.Experiments[i].Why(); why != "" {
			text = "No experiment counts (" + why + ")"
			break
		}
	}
	final := t.Result.Final
	switch {
	case final.Status == Mistrial:
		return text + ", and the trial broke off: " + string(final.Cause) + "."
	case final.Status == Rejected:
		return text + ", and Light was too unsure for a trial."
	case final.Classification == "":
		return text + ", and the case stays open."
	}
	return text + ": " + t.LabelName(final.Classification) + " at " + Number(final.Confidence) + " rests on reading alone."
}

// onRedBase says what the answer means where the base fails, too: that the change did not cause the failure contradicts no label.
func (t *Trial) onRedBase() string {
	label := t.Result.Final.Classification
	base := look(t.Result.Experiments, trees(abi.Base, abi.Base))
	switch {
	case base.mixed():
		return ""
	case base.same == 0 && label != "":
		return ", and the label " + t.LabelName(label) + " rests on other evidence"
	case base.same == 0:
		return ""
	case label == "":
		return ", and the evidence does not show whether an older fault or the environment did"
	}
	return "; the label " + t.LabelName(label) + " is about a cause that the base has, too"
}

// onOldProduct says what the answer means where the old product fails, too. The label may be about the product or about the test.
func (t *Trial) onOldProduct() string {
	label := t.Result.Final.Classification
	switch {
	case label == "":
		return ""
	case look(t.Result.Experiments, trees(abi.Base, abi.Head)).same == 0:
		return ", and the label " + t.LabelName(label) + " rests on other evidence"
	}
	return "; the label " + t.LabelName(label) + " is about a cause that makes the old product fail, too"
}

// seen is what all runs on the same trees have shown.
type seen struct {
	passed, same, other int
	notBuilt, noTest    bool
}

func (s seen) failed() int  { return s.same + s.other }
func (s seen) fails() bool  { return s.passed == 0 && s.failed() > 0 }
func (s seen) passes() bool { return s.passed > 0 && s.failed() == 0 }
func (s seen) mixed() bool  { return s.passed > 0 && s.failed() > 0 }

func (s seen) and(o seen) seen {
	return seen{s.passed + o.passed, s.same + o.same, s.other + o.other, s.notBuilt || o.notBuilt, s.noTest || o.noTest}
}

// how says in what way the runs failed.
func (s seen) how() string {
	if s.same == 0 {
		return " in another way"
	}
	return ""
}

// look adds up the results that fit.
func look(runs []Experiment, fits func(*Experiment) bool) (s seen) {
	for i := range runs {
		if e := &runs[i]; fits(e) && e.Outcome != abi.OutcomeNotRun { // whose runs don't count
			s.passed, s.same, s.other = s.passed+e.Passed, s.same+e.Same, s.other+e.Other
			s.notBuilt = s.notBuilt || e.Outcome == abi.OutcomeNotBuilt
			s.noTest = s.noTest || e.Outcome == abi.OutcomeNoTest
		}
	}
	return s
}

func trees(product, tests abi.TreeRevision) func(*Experiment) bool {
	return func(e *Experiment) bool {
		return e.Product == product && e.Tests == tests && e.Environment == abi.OriginalEnvironment
	}
}

func onHeadIn(environment abi.RunEnvironment, order abi.RunOrder) func(*Experiment) bool {
	return func(e *Experiment) bool {
		return e.Product == abi.Head && e.Tests == abi.Head && e.Environment == environment && e.Order == order
	}
}

// onHead tells what the tree under test shows by itself.
func onHead(runs []Experiment) Conclusion {
	alone := look(runs, onHeadIn(abi.OriginalEnvironment, abi.Alone))
	around := look(runs, onHeadIn(abi.OriginalEnvironment, abi.OriginalOrder))
	starved := look(runs, onHeadIn(abi.StarvedEnvironment, abi.Alone))
	clean := look(runs, onHeadIn(abi.CleanEnvironment, abi.Alone))
	all := alone.and(around).and(starved)
	switch {
	case alone.mixed(), around.mixed(), alone.fails() && starved.passed > 0:
		return Conclusion{FoundFlaky, "The test is flaky: on the same tree " + times(all.passed, "run passed", "runs passed") + " and " + strconv.Itoa(all.failed()) + " failed.", ""}
	case alone.fails() && around.passes():
		return Conclusion{FoundOrder, "The test depends on other tests: it fails alone, and passes with the tests around it.", ""}
	case alone.passes() && around.fails():
		return Conclusion{FoundOrder, "The test depends on other tests: it passes alone, and fails with the tests around it.", ""}
	case alone.passes() && starved.failed() > 0:
		return Conclusion{FoundLoad, "The test depends on timing: it passes alone, and fails on a busy machine.", ""}
	case alone.passes():
		return Conclusion{
			FoundPassing, "The failure did not come back: " + times(all.passed, "rerun", "reruns") +
				" of the same tree passed. Chance caused it, or the machine where it failed.", "run it again where it failed",
		}
	case alone.fails() && clean.passes():
		return Conclusion{FoundEnvironment, "The environment is the cause: the test fails in yours, and passes in a clean one (no variables, an empty home, UTC).", ""}
	case all.same > 0 && all.other > 0:
		return Conclusion{FoundFlaky, "The test fails in different ways on the same tree, so chance plays a part.", ""}
	case all.fails() && all.same == 0:
		return Conclusion{
			FoundNothing, "The failure did not come back: the test fails each time on this tree (" + times(all.failed(), "rerun", "reruns") + "), but in other ways.",
			"run it again where it failed",
		}
	case all.fails():
		return Conclusion{
			FoundNothing, "The test fails each time on this tree (" + times(all.failed(), "rerun", "reruns") + "), so it is not flaky.",
			"compare with a revision at which it passed: --experiments all --since REVISION",
		}
	}
	return Conclusion{FoundNothing, "The test was not run again on this tree.", "run it again: --experiments reruns"}
}

// acrossTrees compares this tree with the base and with mixtures of both. other is the conclusion where they tell nothing.
func acrossTrees(runs []Experiment, other Conclusion) Conclusion {
	base := look(runs, trees(abi.Base, abi.Base))
	oldProduct := look(runs, trees(abi.Base, abi.Head)) // with the test as it is now
	oldTest := look(runs, trees(abi.Head, abi.Base))    // with the product as it is now
	mixture := "run the changed test on the old product"
	if base.noTest {
		mixture = "run the new test on the old product"
	}
	switch {
	case oldProduct.notBuilt:
		mixture = "check what the changed test expects of the new product"
	case slices.ContainsFunc(runs, func(e Experiment) bool { return trees(abi.Base, abi.Head)(&e) }): // which could not be run
		mixture = ""
	}
	which := "the changed test"
	if testOf(runs) == abi.TestUnchanged {
		which = "the test"
	}
	product := func(why string) Conclusion {
		return Conclusion{FoundProduct, "The product change is the cause: " + why + ".", ""}
	}
	test := func(why string) Conclusion {
		return Conclusion{FoundTest, "The test change is the cause: " + why + ".", ""}
	}
	switch {
	case base.fails() && base.same > 0:
		return Conclusion{
			FoundBase, "The base fails too, in the same way, so this change did not cause the failure.", olderBase,
		}
	case base.fails():
		return Conclusion{FoundBase, "The base fails too, but in another way, so comparing with it does not show what this change did.", olderBase}
	case base.mixed():
		return Conclusion{FoundBase, "The base passes and fails: the test was flaky before this change.", olderBase}
	case oldProduct.passes() && oldTest.passes():
		return product("the old product passes the changed test, and only that test notices (the new product passes the old test)")
	case oldProduct.passes() && oldTest.fails() && which == "the changed test":
		return product("the old product passes the changed test, the new product fails the old test" + oldTest.how())
	case oldProduct.passes():
		return product("the old product passes the same test")
	case oldProduct.fails() && oldTest.passes():
		return test("the old product fails the changed test" + oldProduct.how() + ", the new product passes the old test")
	case oldProduct.fails() && oldTest.fails():
		return Conclusion{
			FoundBoth, "Product and test changed, and each change alone fails: the old product fails the changed test" + oldProduct.how() +
				", the new product fails the old test" + oldTest.how() + ".", "",
		}
	case oldProduct.fails() && base.passes():
		return test("the old product passes the old test and fails the changed one" + oldProduct.how())
	case oldProduct.fails():
		return Conclusion{FoundOlder, "The product change is not the cause: the old product fails this test" + oldProduct.how() + ", too.", "check what the test expects"}
	case oldTest.fails():
		return product("the new product fails the old test, too" + oldTest.how())
	case oldTest.passes() && oldProduct.notBuilt:
		return Conclusion{
			FoundBoth, "Only the changed test fails: the new product passes the old test, and the changed test does not build with the old product.", "check what the changed test expects of the new product",
		}
	case oldTest.passes():
		return Conclusion{FoundBoth, "Only the changed test fails: the new product passes the old test.", mixture}
	case base.passes() && testOf(runs) == abi.TestUnchanged:
		return product("the base passes, and the test did not change")
	case base.passes():
		return Conclusion{FoundBoth, "This change is the cause: the base passes. No run shows whether the product or the test is wrong.", mixture}
	case base.noTest && oldProduct.notBuilt:
		return Conclusion{FoundNothing, "The test is new and needs the new product, so there is nothing older to compare with.", "check what the test expects of the new product"}
	case base.noTest: // so that no older revision passed it
		other.Next = mixture
		return other
	}
	if slices.ContainsFunc(runs, func(e Experiment) bool { return e.Product == abi.Base || e.Tests == abi.Base }) && other.Next != "" {
		other.Next = "compare with another revision at which it passed: --since REVISION" // this one could not be run
	}
	return other
}

// testOf says how the test differs from that of the base; empty where no experiment knows.
func testOf(runs []Experiment) (change abi.TestChange) {
	for i := range runs {
		change = cmp.Or(change, runs[i].Test)
	}
	return change
}

func times(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
