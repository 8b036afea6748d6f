package alibi

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Verdict says whether the author of the change has to act.
type Verdict string

// The verdicts.
const (
	IsYours  Verdict = "yours"
	NotYours Verdict = "not yours"
	IsOpen   Verdict = "open"
)

// Part is what of the change is to blame.
type Part string

// The parts.
const (
	Product Part = "product"
	Tests   Part = "tests"
	Both    Part = "product and tests"
)

// Answer is what is known of one failing test.
type Answer struct {
	ID    string `json:"id"`
	Group string `json:"group,omitempty"` // the test's package, class or file
	Test  string `json:"test"`
	// Verdict follows from Label: caused and conflict are yours; no label is open, and so is caused where the base could not be run.
	Verdict    Verdict `json:"verdict"`
	Label      string  `json:"attribution,omitempty"`
	Confidence float64 `json:"confidence"` // of the label; of an open case that of the nearest one
	Part       Part    `json:"part,omitempty"`
	// Why is half a sentence with the runs that the answer rests on, and Next what would decide an open one.
	Why     string             `json:"why"`
	Next    string             `json:"next,omitempty"`
	Message string             `json:"message,omitempty"` // what the failure says of itself
	Base    abi.LoadedCode     `json:"base_code,omitempty"`
	Runs    []trial.Experiment `json:"runs"`
	Culprit *Culprit           `json:"culprit,omitempty"`
	// After are the tests after which it fails, where it passes alone: one, or several that are needed together, at most MostAfter.
	After []string `json:"after,omitempty"`
	// Tried says that the court held a trial; otherwise Light's runs were enough.
	Tried bool `json:"tried"`
}

// MostAfter of the tests after which another one fails are named.
const MostAfter = 8

// Culprit is the commit that a failure began with.
type Culprit struct {
	Commit string `json:"commit"`
	Title  string `json:"title"`
	Author string `json:"author"`
	// Probability that it is this one, and Verified says that it failed and its parent passed when both were run again.
	Probability float64 `json:"probability"`
	Verified    bool    `json:"verified"`
	// Pair are the runs that were made to verify it; nil for none.
	Pair *Pair `json:"pair,omitempty"`
	// Beside are other commits that may be it, the most probable first, and Skipped those that could not be run.
	Beside  []string  `json:"beside,omitempty"`
	Skipped []Skipped `json:"skipped,omitempty"`
	Runs    int       `json:"runs"`
	// Ribbon is how probable each commit of the change is, the oldest first. A commit without an id are the changes that are not committed.
	Ribbon []Suspicion `json:"ribbon,omitempty"`
	// Hunk is the place where the commit changes code that is nearest to the test; nil where that is not known.
	Hunk *Hunk `json:"hunk,omitempty"`
}

// Pair are runs of a culprit, and of its parent: of the first commit beside it where there are some.
type Pair struct {
	Parent   string `json:"parent"`
	OfParent Tally  `json:"of_parent"`
	Culprit  Tally  `json:"of_culprit"`
	// Absent: the parent has no such test, and was not run.
	Absent bool `json:"absent,omitempty"`
}

// Words are such as "3 of 3 failed there, none of 3 failed at the parent 9ab12cd", with the name of the parent.
func (p *Pair) Words(parent string) string {
	if p.Absent {
		return p.Culprit.Words() + " there, and the parent " + parent + " does not have the test"
	}
	return p.Culprit.Words() + " there, " + p.OfParent.Words() + " at the parent " + parent
}

// Tally counts runs of one commit that told something.
type Tally struct {
	Failed int `json:"failed"`
	Passed int `json:"passed"`
}

// Words are such as "3 of 5 failed".
func (t Tally) Words() string {
	switch all := t.Failed + t.Passed; {
	case all == 0:
		return "no run"
	case t.Failed == 0:
		return fmt.Sprintf("none of %d failed", all)
	default:
		return fmt.Sprintf("%d of %d failed", t.Failed, all)
	}
}

// Skipped is a commit that could not be run, and why.
type Skipped struct {
	Commit string `json:"commit"`
	Why    string `json:"why"`
}

// Hunk is a place that a commit changes.
type Hunk struct {
	Path string `json:"path"`
	Line int    `json:"line"` // in the file as the commit left it
	Text string `json:"text"` // at most a few lines, removed ones behind a minus, added ones behind a plus
}

// Suspicion is how probable it is that a failure began with a commit.
type Suspicion struct {
	Commit      string  `json:"commit"`
	Title       string  `json:"title"`
	Probability float64 `json:"probability"`
}

// Of reads a trial as an answer. Its experiments are those of Light, too.
func Of(t *trial.Trial) *Answer {
	f := t.Result.Final
	a := &Answer{
		ID: t.Result.ID, Group: t.Case.Group, Test: NameOf(t.Result.ID, t.Case.Group), Verdict: IsOpen, Label: f.Classification, Confidence: f.Confidence,
		Message: t.Message(), Runs: t.Result.Experiments, Tried: t.Result.Activated,
	}
	c := counts(a.Runs)
	c.unbuilt = gotest.UnbuiltOf(&t.Case) != ""
	a.Base = c.loaded
	if a.Label == Caused && !c.based { // nobody knows whether it failed before
		a.Label = ""
	}
	if a.Label != "" && !bears(a.Label, a.Runs) {
		a.open(t, c)
		switch {
		case a.Label == Conflict && c.target.failed() > 0:
			a.Refuse("the target fails without this change, too: " + c.target.failures() + " there, " + c.here())
		default:
			a.Refuse("the court says " + a.Label + ", the runs do not show it: " + a.Why)
		}
		return a
	}
	switch a.Label {
	case "":
		a.open(t, c)
	case Caused:
		a.Verdict, a.Part, a.Why = IsYours, part(t), c.caused()
	case Conflict:
		a.Verdict, a.Why = IsYours, "head and the target pass apart, their merge fails"
	case Preexisting:
		a.Verdict, a.Why = NotYours, c.preexisting()
	case Flaky:
		a.Verdict, a.Why = NotYours, c.here()+", "+c.onBase()
	case Environment:
		a.Verdict, a.Why = NotYours, c.environment()
	}
	if a.Verdict == NotYours && a.Base != abi.Certified {
		a.Why += "; what the base loaded is not certified"
	}
	return a
}

// DependsOnOrder says whether head passes alone and fails with the tests around the failing one.
func (a *Answer) DependsOnOrder() bool {
	c := counts(a.Runs)
	return c.head.inOrder() != "" && c.head.among.same > 0
}

// FailsAfter says after which tests one fails that passes alone, where some were found.
func (a *Answer) FailsAfter(tests []string) {
	if a.After = tests; len(tests) > 0 {
		a.Why += "; it fails after " + strings.Join(tests, " and ")
	}
}

// NameOf is the name of a test without its group, by the id of its case.
func NameOf(id, group string) string {
	if name, ok := strings.CutPrefix(id, group); ok && group != "" && len(name) > 1 {
		return name[1:]
	}
	return id
}

// open says why a case is open and what would decide it.
func (a *Answer) open(t *trial.Trial, c *seen) {
	switch {
	case c.head.all() == 0 && c.why != "":
		a.Why = c.why
	case c.contradicted, !c.based:
		a.Why = c.unbased()
	case c.gone():
		a.Why = c.doesNotComeBack() + "; what fails more rarely may be yours"
	default:
		a.Why = c.here() + ", " + c.onBase() + ": not enough to tell"
	}
	a.Why = flags(a.Why)
	if p := t.Result.Proposal; p != nil {
		if a.Next = flags(p.Action()); p.Allow == plan.Home {
			a.Next += "; a variable that the test needs: with --env NAME"
		}
	} else if o := t.Result.Open(); o != nil && len(o.Next) > 0 {
		a.Next = flags(o.Next[0])
	}
}

// flags names the flags of the command alibi where the laboratory names those of other commands.
func flags(text string) string { return strings.ReplaceAll(text, "--experiments ", "--") }

// part is what of the change the mixtures of both trees blame; empty where they don't tell.
func part(t *trial.Trial) Part {
	switch t.Conclusion().Finding {
	case trial.FoundProduct:
		return Product
	case trial.FoundTest:
		return Tests
	case trial.FoundBoth:
		return Both
	default:
		return ""
	}
}

// tally counts runs of one tree.
type tally struct{ passed, same, other int }

func (n *tally) add(e *trial.Experiment) {
	if e.Outcome != abi.OutcomeNotRun {
		n.passed, n.same, n.other = n.passed+e.Passed, n.same+e.Same, n.other+e.Other
	}
}

func (n tally) all() int    { return n.passed + n.same + n.other }
func (n tally) failed() int { return n.same + n.other }

// failures is "2 of 20 failed", "none of 20 failed" or "no run".
func (n tally) failures() string { return Tally{n.failed(), n.all() - n.failed()}.Words() }

// ofTree are the runs of one tree. Those with the tests around the failing one are counted apart, and so are those of a clean head; all others
// are of the test alone.
type ofTree struct {
	tally

	among tally
}

// inOrder says how a test failed that passes alone; empty if it does not.
func (n *ofTree) inOrder() string {
	if n.passed == 0 || n.failed() > 0 || n.among.failed() == 0 {
		return ""
	}
	runs := "one run"
	if n.passed > 1 {
		runs = strconv.Itoa(n.passed) + " runs"
	}
	often := ""
	if n.among.passed > 0 {
		often = fmt.Sprintf(" (%d of %d runs)", n.among.failed(), n.among.all())
	}
	return "passes alone (" + runs + "), fails with the tests around it" + often
}

// seen is what all runs of a case showed, by tree.
type seen struct {
	head, base    ofTree
	target        tally
	clean         tally
	based, absent bool
	contradicted  bool
	notOfBase     string // says that the runs of the base were none
	notBuilt      bool
	unbuilt       bool   // the failure is that a package does not build
	why, baseWhy  string // nothing was run
	loaded        abi.LoadedCode
}

func counts(runs []trial.Experiment) *seen {
	c := &seen{}
	for i := range runs {
		e := &runs[i]
		if e.Product != e.Tests {
			continue
		}
		n := &c.head
		switch {
		case e.Product == abi.Base && e.Loaded == abi.Contradicted:
			c.contradicted, c.loaded, c.notOfBase = true, e.Loaded, "the base ran code that is not its own: "+e.Why()
			continue
		case e.Product == abi.Base:
			n = &c.base
			if c.loaded == "" || e.Loaded == abi.NotCertified {
				c.loaded = e.Loaded
			}
			c.absent = c.absent || e.Outcome == abi.OutcomeNoTest
			c.notBuilt = c.notBuilt || e.Outcome == abi.OutcomeNotBuilt
			c.based = c.based || e.Outcome != abi.OutcomeNotRun
			if e.Outcome == abi.OutcomeNotRun {
				c.baseWhy = e.Why()
			}
		case e.Product == abi.Target:
			c.target.add(e)
			continue
		case e.Product != abi.Head:
			continue
		case e.Environment == abi.CleanEnvironment:
			c.clean.add(e)
			continue
		case e.Outcome == abi.OutcomeNotRun:
			c.why = e.Why()
		}
		if e.Order == abi.OriginalOrder {
			n.among.add(e)
		} else {
			n.add(e)
		}
	}
	return c
}

// here says what head did.
func (c *seen) here() string {
	switch order := c.head.inOrder(); {
	case order != "":
		return "here it " + order
	case c.unbuilt && c.head.passed == 0 && c.head.failed() > 0:
		return "it does not build here"
	default:
		return c.head.failures() + " here"
	}
}

// onBase says what the base did: with the tests around the failing one, where head fails with them alone.
func (c *seen) onBase() string {
	order := c.base.inOrder()
	switch {
	case order != "":
		return "on the base it " + order
	case c.head.inOrder() != "" && c.base.among.all() > 0:
		return c.base.among.failures() + " on the base with the tests around it"
	case c.base.other > 0 && c.base.same == 0:
		return c.base.failures() + " on the base, in another way"
	case c.base.all() > 0:
		return c.base.failures() + " on the base"
	case c.notBuilt:
		return "the base does not build"
	case c.absent:
		return c.lacks()
	default:
		return "no run on the base"
	}
}

// lacks says what the base does not have.
func (c *seen) lacks() string {
	if c.unbuilt {
		return "the base does not have this package"
	}
	return "the base does not have this test"
}

func (c *seen) caused() string {
	switch {
	case c.unbuilt && c.base.passed > 0:
		return "does not build here, builds on the base"
	case c.notBuilt:
		return "the base does not build, " + c.here()
	case c.absent:
		return c.lacks() + ", " + c.here()
	case c.base.passed == 0 && c.base.other > 0 && c.base.same == 0:
		return "the base fails in another way, " + c.here()
	default:
		return c.onBase() + ", " + c.here()
	}
}

func (c *seen) preexisting() string {
	order := c.base.inOrder()
	switch {
	case c.unbuilt && c.base.passed == 0:
		return "does not build on the base either"
	case order != "":
		return "fails on the base in the same way: it " + order
	default:
		return "fails on the base in the same way (" + c.base.failures() + ")"
	}
}

func (c *seen) environment() string {
	switch {
	case c.clean.passed > 0 && c.clean.failed() == 0 && c.head.failed() > 0:
		return "passes in a clean environment, and fails on the base as it does here"
	case c.gone():
		return c.doesNotComeBack()
	default:
		return c.here() + ", " + c.onBase() + ", for something outside of both trees"
	}
}

// gone says that the failure came back on no tree.
func (c *seen) gone() bool {
	return c.head.all() > 0 && c.head.failed()+c.head.among.failed()+c.base.failed()+c.base.among.failed() == 0
}

func (c *seen) doesNotComeBack() string {
	return fmt.Sprintf("does not come back: none of %d runs failed here, %s; %s", c.head.all(), c.onBase(), c.excluded())
}

// excluded is the rate that would have shown in the runs of head.
func (c *seen) excluded() string {
	const sure = 0.95
	rate := 1 - math.Pow(1-sure, 1/float64(max(c.head.all(), 1)))
	return fmt.Sprintf("a rate of %.0f%% would show with %.0f%%", math.Ceil(100*rate), 100*sure)
}
