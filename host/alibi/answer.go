package alibi

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
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

// Lock is what keeps an alibi from being given.
type Lock string

// The locks: that everything that failed is accounted for, the failure came back as reported, the base ran as the base, and chance is excluded.
const (
	Account    Lock = "account"
	Reproduced Lock = "reproduced"
	World      Lock = "world"
	Chance     Lock = "chance"
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
	// Why is half a sentence with the runs that the answer rests on. Lock is the lock of an open one that keeps it so, and Next what would close it.
	Why     string             `json:"why"`
	Lock    Lock               `json:"lock,omitempty"`
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

// Of reads a trial as an answer. Its experiments are those of Light, too. No alibi is given before the lock of chance closes, see [Counts.Closed].
func Of(t *trial.Trial) *Answer { return of(t, MaxFalse) }

func of(t *trial.Trial, maxFalse float64) *Answer {
	c := seenIn(t)
	a := c.answer(t, maxFalse)
	if beside, ok := docket.BesideOf(&t.Case); ok {
		a.Refuse(beside.What)
		a.Lock, a.Next, a.Message = Account, beside.Next, beside.Output
	} else if len(a.Runs) == 0 && !namesTest(&t.Case) {
		a.Refuse("it failed, but none of its tests did")
		a.Lock, a.Next = Account, docket.OnBase
	} else if a.Verdict == IsOpen {
		if a.Lock = c.open(maxFalse); a.Lock == Reproduced && a.says(plan.Natively) {
			a.Next = cmp.Or(a.Next, docket.OnBase)
		}
		a.Next = cmp.Or(a.Next, map[Lock]string{
			Reproduced: "try it with what the failing run had: --home, --network, --env NAME",
			World:      olderBase,
			Chance:     moreTime,
		}[a.Lock])
	}
	return a
}

// namesTest says whether a case is about a test, or a package that does not build.
func namesTest(c *abi.Case) bool {
	_, named := junit.Named(c)
	return named || len(gotest.TestsOf(c)) > 0 || gotest.UnbuiltOf(c) != ""
}

const (
	olderBase = "name an older base that can be run: --base REVISION"
	moreTime  = "give it more time: --budget"
)

// open is the first lock that is not closed.
func (c *seen) open(maxFalse float64) Lock {
	lock := c.chance(maxFalse)
	ran := c.base.all()+c.base.among.all() > 0
	switch {
	case lock.about == nil, ran && c.base.same+c.base.among.same == 0 && c.differs+c.besides != "":
		return Reproduced
	case c.contradicted, !ran && !c.absent, lock.closed, c.foreign(), c.leftOut, c.moved != "":
		return World
	default:
		return Chance
	}
}

func (c *seen) answer(t *trial.Trial, maxFalse float64) *Answer {
	f := t.Result.Final
	a := &Answer{
		ID: t.Result.ID, Group: t.Case.Group, Test: NameOf(t.Result.ID, t.Case.Group), Verdict: IsOpen, Label: f.Classification, Confidence: f.Confidence,
		Message: t.Message(), Runs: t.Result.Experiments, Tried: t.Result.Activated,
	}
	a.Base = c.loaded
	if a.Label == Caused && !c.based() { // nobody knows whether it failed before
		a.Label = ""
	}
	if a.Label != "" && !bears(a.Label, a.Runs) {
		a.open(t, c, maxFalse)
		switch {
		case a.Label == Conflict && c.target.failed() > 0:
			a.Refuse("the target fails without this change, too: " + c.target.failures() + " there, " + c.here())
		default:
			a.Refuse("the court says " + a.Label + ", the runs do not show it: " + a.Why)
		}
		return a
	}
	lock := c.chance(maxFalse)
	if a.Label == Caused && (c.drawn(&lock) || lock.about == nil && !slices.ContainsFunc(a.Runs, cameBack)) {
		a.Label = ""
	}
	if !Yours(a.Label) {
		a.decide(c, &lock)
	}
	if a.Label != Conflict && c.moved != "" && lock.about != nil && (c.old.passed == 0 || c.old.failed() > 0) {
		a.Refuse(c.caused())
		a.Next = "run it there, in a checkout of the base (git worktree add): if it fails, too, the failure is older than the change"
		return a
	}
	if a.Label != Conflict && c.alike(&lock) {
		a.Refuse("the base fails in this way, too, but without what stands beside it here (" + c.besides + "), " + c.here())
		a.Next = "if these lines say what failed, the failure is yours"
		return a
	}
	switch a.Label {
	case "":
		a.open(t, c, maxFalse)
	case Caused:
		a.Verdict, a.Part, a.Why = IsYours, part(t), c.caused()
		switch among := lock.about != nil && lock.setting == around && lock.about.base.all() > 0; {
		case among && c.head.all() == 0:
			a.Why = lock.counted() + "; run alone, it fails in another way"
		case among && lock.higher && c.failsAlone():
			a.Why = lock.counted() + "; run alone, it fails on both trees"
		case among && lock.higher && c.base.same > 0:
			a.Why = lock.counted() + "; run alone, it fails no more often"
		}
	case Conflict:
		a.Verdict, a.Why = IsYours, "head and the target pass apart, their merge fails"
	case Preexisting:
		a.Verdict, a.Why = NotYours, c.preexisting()
	case Flaky:
		a.Verdict, a.Why = NotYours, c.here()+", "+c.onBase()
	case Environment:
		a.Verdict, a.Why = NotYours, c.environment()
	}
	if a.Verdict == NotYours {
		a.Why += lock.bound(c)
	}
	if a.Verdict == NotYours && c.leftOut && c.failsAlone() && c.in[around].head.same > 0 {
		a.Refuse("run alone, it fails on the base, but the base leaves it out of its own run")
		a.Next = docket.OnBase
		return a
	}
	if a.Verdict == NotYours && a.Base == abi.NotCertified || a.Verdict == IsOpen && c.foreign() {
		if a.Verdict == IsOpen {
			a.Why = c.here() + ", " + c.onBase()
		}
		a.Refuse(a.Why + ", but " + cmp.Or(c.world, "it is not known whether the base loaded its own code"))
		a.Next = "run the command in a checkout of the base (git worktree add) with an installation of its own"
	}
	return a
}

// alike says whether the base failed each time, and never otherwise than without lines that stand beside what failed here.
func (c *seen) alike(lock *chance) bool {
	return c.besides != "" && !c.otherwise && lock.about != nil && lock.about.base.other > 0 && lock.about.base.other == lock.about.base.all()
}

// drawn says whether head fails in several ways, the base fails each time, and it may be chance that it does not fail as reported.
func (c *seen) drawn(lock *chance) bool {
	s := lock.about
	return s != nil && s.head.other > 0 && s.base.other > 0 && s.base.passed == 0 && !s.reported().Higher()
}

// cameBack says whether a run with something of the change failed as reported.
func cameBack(e trial.Experiment) bool { return e.Product != abi.Base && e.Same > 0 }

// foreign says whether the base fails each time, and may have run code or dependencies that are not its own: no further run decides that.
func (c *seen) foreign() bool {
	return c.loaded == abi.NotCertified && c.base.same > 0 && c.base.passed == 0
}

// decide gives the label that the runs alone give where the court names none that is yours.
func (a *Answer) decide(c *seen, lock *chance) {
	switch {
	case lock.higher && !c.contradicted, c.brought():
		a.Label, a.Confidence = Caused, byRuns
	case !lock.closed:
		a.Label = ""
	case a.Label == "" && c.base.passed > 0:
		a.Label, a.Confidence = Flaky, 1-MaxFalse
	case a.Label == "":
		a.Label, a.Confidence = Preexisting, 1-MaxFalse
	}
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
func (a *Answer) open(t *trial.Trial, c *seen, maxFalse float64) {
	lock := c.chance(maxFalse)
	switch {
	case c.head.all() == 0 && c.why != "":
		a.Why = c.why
	case c.contradicted, !c.based():
		if a.Why = c.unbased(); c.notBuilt || strings.HasPrefix(c.baseWhy, plan.EndedBefore) {
			a.Next = olderBase
		} else if hiding.MatchString(a.Why) {
			a.Next = "run the test in a checkout of the base (git worktree add) that has it"
			if strings.Contains(a.Why, "is not committed") {
				a.Next += ", or git add it, if the change brings it"
			}
		}
	case c.gone():
		a.Why = c.doesNotComeBack() + "; what fails more rarely may be yours"
	case lock.about != nil && lock.about.base.all() > 0:
		a.Why, a.Next = lock.missed(), lock.about.reported().more(maxFalse)
	default:
		a.Why = c.here() + ", " + c.onBase() + ": not enough to tell"
	}
	a.Why = flags(a.Why)
	flag := giving.FindString(a.Why)
	if flag != "" && hiding.MatchString(a.Why) {
		a.Next = "give it to the tests: " + flag
	}
	switch {
	case a.says(plan.SeveralTests):
		a.Next = "give each test a name of its own"
		return
	case strings.HasPrefix(flag, "--source "):
		a.Next = "name the folder of its tests: " + flag
		return
	case hiding.MatchString(a.Why) && a.Next != "":
		return
	case c.confined(&lock, a):
		a.Next = "run it outside of the laboratory: --native; or with a variable that the test needs: --env NAME"
		return
	case a.says(plan.UsedUp) && (a.Next == "" || lock.about != nil):
		a.Next = moreTime
		return
	}
	if p := t.Result.Proposal; p != nil && (p.Allow != "" || a.Next == "") {
		a.Next = flags(p.Action())
	} else if o := t.Result.Open(); a.Next == "" && o != nil && len(o.Next) > 0 {
		a.Next = flags(o.Next[0])
	}
}

// confined says whether the failure may come back, or count, outside of the laboratory, where it was not tried.
func (c *seen) confined(lock *chance, a *Answer) bool {
	gone := lock.about == nil && c.target.failed() == 0 && (c.gone() || c.based() && c.head.all() > 0)
	return (gone || lock.about == nil && a.says(plan.Otherwise) || a.says(plan.ReadOnly)) && !a.says(plan.Natively)
}

// says whether the details of a run have a text.
func (a *Answer) says(text string) bool {
	return slices.ContainsFunc(a.Runs, func(e trial.Experiment) bool { return strings.Contains(e.Why(), text) })
}

// hiding is how details say that tests lack something in experiments, and giving the flag that gives it to them.
var (
	hiding = regexp.MustCompile(`\bthe (?:test|code) .*\b(?:experiments do not|experiments lack|out of reach)`)
	giving = regexp.MustCompile(`--(?:env \S+|source [^\s:]+|home|network|native)\b`)
)

// flags names the flags of the command alibi where the laboratory names those of other commands.
func flags(text string) string {
	return strings.NewReplacer("--experiments all --since", "--base", "--experiments ", "--", "--since", "--base").Replace(text)
}

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

// seen is what all runs of a case showed, by tree, and by setting.
type seen struct {
	in           map[setting]*sides
	head, base   ofTree
	target       tally
	clean        tally
	old          tally // of the product of the base with the test of head
	absent       bool
	contradicted bool
	notOfBase    string // says that the runs of the base were none
	differs      string // says in what the base fails in another way
	besides      string // the lines of head's failure that the base's does not have, where all of them stand beside what failed
	otherwise    bool   // the base failed in another way than that
	notBuilt     bool
	skips        bool   // the base has the test, and skips it
	leftOut      bool   // the base does not have it among the tests around it
	moved        string // the file of the base that had the test, where the base does not have it now
	untracked    string // the file of a test that git does not know, and the base does not have
	unbuilt      bool   // the failure is that a package does not build
	why, baseWhy string // nothing was run
	loaded       abi.LoadedCode
	world        string // what the base did not have of its own
}

func seenIn(t *trial.Trial) *seen {
	c := counts(t.Result.Experiments)
	c.unbuilt = gotest.UnbuiltOf(&t.Case) != ""
	return c
}

func counts(runs []trial.Experiment) *seen {
	c := &seen{in: map[setting]*sides{}}
	for i := range runs {
		e := &runs[i]
		if e.Product == abi.Base && e.Tests == abi.Head && e.Loaded != abi.Contradicted {
			c.old.add(e)
		}
		if e.Product != e.Tests {
			continue
		}
		n, at := &c.head, setting{e.Environment, e.Order}
		if c.in[at] == nil {
			c.in[at] = &sides{}
		}
		if e.Product == abi.Head {
			c.in[at].head.add(e)
		}
		switch {
		case e.Product == abi.Base && e.Loaded == abi.Contradicted:
			c.contradicted, c.loaded, c.notOfBase = true, e.Loaded, "the base ran code that is not its own: "+e.Why()
			continue
		case e.Product == abi.Base:
			n = &c.base
			c.in[at].base.add(e)
			if c.loaded == "" || e.Loaded == abi.NotCertified {
				c.loaded = e.Loaded
			}
			why, none := e.Why(), e.Outcome == abi.OutcomeNoTest
			said := strings.TrimSpace(e.Detail) // what tests print may begin in the same way, and stands below
			if rest, ok := strings.CutPrefix(why, plan.OtherWorld); ok {
				c.world = "the base did not have all that is its own: " + rest
				_, said, _ = strings.Cut(said, "\n")
			}
			said, _, _ = strings.Cut(said, "\n")
			for begin, rest := range map[string]*string{plan.Besides: &c.besides, plan.Moved: &c.moved, plan.Untracked: &c.untracked} {
				if after, ok := strings.CutPrefix(strings.TrimSpace(said), begin); ok {
					*rest = after
				}
			}
			c.absent = c.absent || none
			c.leftOut = c.leftOut || none && at == around
			c.skips = c.skips || none && why == plan.Skipped
			c.notBuilt = c.notBuilt || e.Outcome == abi.OutcomeNotBuilt
			if e.Outcome == abi.OutcomeNotRun {
				c.baseWhy = why
			}
			if e.Other > 0 && strings.HasPrefix(why, "it does not fail with: ") {
				c.differs = " (" + why + ")"
			}
			c.otherwise = c.otherwise || e.Other > 0 && !strings.HasPrefix(said, plan.Besides)
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

// based says whether it is known what the base did: it ran the test, or does not have it, or its product passed the test of head.
func (c *seen) based() bool {
	return c.base.all()+c.base.among.all() > 0 || c.absent || c.old.passed > 0 && c.old.failed() == 0
}

// brought says whether the test came with the change and fails as reported, and not for the environment.
func (c *seen) brought() bool {
	mended := c.clean.passed > 0 && c.clean.failed() == 0
	return c.absent && c.base.all()+c.base.among.all() == 0 && c.head.same+c.head.among.same > 0 && !mended
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
		return c.base.failures() + " on the base, in another way" + c.differs
	case c.base.all() > 0:
		return c.base.failures() + " on the base"
	case c.absent:
		return c.lacks()
	case c.notBuilt:
		return "the base does not build"
	default:
		return "no run on the base"
	}
}

// lacks says what the base does not have.
func (c *seen) lacks() string {
	switch {
	case c.unbuilt:
		return "the base does not have this package"
	case c.skips:
		return "the base skips this test"
	case c.moved != "":
		return plan.Moved + c.moved
	case c.untracked != "":
		return "the base does not have this test (" + c.untracked + " is not committed)"
	default:
		return "the base does not have this test"
	}
}

func (c *seen) caused() string {
	switch {
	case c.unbuilt && c.base.passed > 0:
		return "does not build here, builds on the base"
	case c.absent && c.old.same > 0 && c.old.same == c.old.all():
		return c.lacks() + ", " + c.here() + " and " + c.old.failures() + " with the old product: it shows a fault older than the change"
	case c.absent && c.base.all() == 0:
		return c.lacks() + ", " + c.here()
	case c.base.all() == 0 && c.old.passed > 0:
		return c.onBase() + ", " + c.old.failures() + " with its product and this test, " + c.here()
	case c.base.passed == 0 && c.base.other > 0 && c.base.same == 0:
		return "the base fails in another way" + c.differs + ", " + c.here()
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
