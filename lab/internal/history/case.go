// Package history has failures from the histories of public repositories: how their trees are made, what their runs showed, and whether
// a change caused them. Of the repositories themselves only commit ids, paths and names are kept, never code.
package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

// Kind is how a case is made.
type Kind string

// The kinds. Planted ones have something that no history has.
const (
	// Regression: a fix with its tests, whose product part is taken back; base is the fix.
	Regression Kind = "regression"
	// Revert: a commit that a later one reverts; base is its parent, head the commit or one that came later.
	Revert Kind = "revert"
	// NewTest: the parent of a fix with the tests of the fix; base is the parent.
	NewTest Kind = "new test"
	// Stale: a commit that changed product and tests, without its tests; base is its parent.
	Stale Kind = "stale or wrong test"
	// RedBase: as NewTest; base is an earlier commit with the same tests, which fail there, too.
	RedBase Kind = "red base"
	// Flaky: a tree with a flaky test that a later commit mends; base is an earlier one that has the test, too.
	Flaky Kind = "flaky"
	// MadeFlaky: the commit from which on a test was flaky; base is its parent.
	MadeFlaky Kind = "made flaky"
	// Environment: something that tests need was taken away while they ran.
	Environment Kind = "environment"
	// Conflict: a change of the product and a test that it fails, which pass apart; base has neither.
	Conflict Kind = "conflict"
)

// Kinds are all kinds.
func Kinds() []Kind {
	return []Kind{Regression, Revert, NewTest, Stale, RedBase, Flaky, MadeFlaky, Environment, Conflict}
}

// Attribution answers whether the change did it.
type Attribution string

// The answers; see the alibi in the design.
const (
	Caused       Attribution = "caused"
	Preexisting  Attribution = "preexisting"
	ByChance     Attribution = "flaky"
	Surroundings Attribution = "environment"
	InMerge      Attribution = "conflict"
	Open         Attribution = "open" // of answers only
)

// Yours says whether the author of the change has to act. Open is neither yours nor not yours.
func (a Attribution) Yours() bool { return a == Caused || a == InMerge }

// Role is what a tree is in a case.
type Role string

// The roles.
const (
	Base   Role = "base"
	Head   Role = "head"
	Target Role = "target"
	Merge  Role = "merge"
)

// Trap is what makes a case hard for who reruns head five times and base three times.
type Trap string

// The traps.
const (
	Chance        Trap = "the change brings chance"
	WorseFlake    Trap = "a flake that the change makes worse"
	Rare          Trap = "a flake that fails in less than a quarter of the runs"
	OrderMatters  Trap = "the outcome depends on other tests"
	OtherOnBase   Trap = "another failure on the base"
	BrokenNewTest Trap = "a new test in a broken environment"
	InnocentDiff  Trap = "frames in files of an innocent change"
	LoadsHead     Trap = "the base loads the code of head"
	Untracked     Trap = "ignored or untracked files"
	ManyRows      Trap = "a few of very many rows"
	AbsentOnBase  Trap = "the base does not have the test"
	NotBuilt      Trap = "the base does not build"
	Transient     Trap = "the failure does not come back"
	Lasting       Trap = "the environment stays broken"
	Varies        Trap = "the failure differs from run to run"
)

// Traps are all traps.
func Traps() []Trap {
	return []Trap{
		Chance, WorseFlake, Rare, OrderMatters, OtherOnBase, BrokenNewTest, InnocentDiff, LoadsHead, Untracked, ManyRows, AbsentOnBase, NotBuilt, Transient, Lasting, Varies,
	}
}

// Case is a failing test with the trees around it.
type Case struct {
	// ID is repository/kind/commit/test, shortened, and unique.
	ID         string `json:"id"`
	Repository string `json:"repository"`
	Kind       Kind   `json:"kind"`
	// Planted: a tree or the environment has something that no history has.
	Planted bool   `json:"planted,omitempty"`
	Traps   []Trap `json:"traps,omitempty"`

	Trees map[Role]Tree `json:"trees"`
	// Fix and Culprit are the commits that the history names, where it does.
	Fix     string `json:"fix,omitempty"`
	Culprit string `json:"culprit,omitempty"`
	// Environment says what was taken away; empty for nothing.
	Environment Condition `json:"environment,omitzero"`

	// Failure is the report of the run that failed, with the failing test alone.
	Failure Report `json:"failure"`
	Truth   Truth  `json:"truth"`
	Cells   []Cell `json:"cells"`
	// Executed tells whether the failing test runs lines of the product that the change touched.
	Executed *bool `json:"executed,omitempty"`
	// Loaded tells of each tree which code its run had loaded.
	Loaded map[Role]Loaded `json:"loaded,omitempty"`
}

// Report is what a runner reported of one failing test, without lines of source.
type Report struct {
	// Runner is the one of experiments: go, pytest, jest, surefire.
	Runner string `json:"runner"`
	// Group is the test's package or class, and Test its name.
	Group string `json:"group"`
	Test  string `json:"test"`
	// Text is a stream of `go test -json`, or JUnit XML.
	Text string `json:"text"`
}

// Entry reads the report as the program reads those of its users. A report that is not about its one test is an error.
func (r *Report) Entry() (docket.Entry, error) {
	read := (&junit.Reader{}).Read
	if r.Runner == "go" {
		read = (&gotest.Reader{}).Read
	}
	for entry, err := range read(r.Group, strings.NewReader(r.Text)) {
		if err == nil && !r.names(&entry.Case) {
			err = fmt.Errorf("the report is not about %s %s", r.Group, r.Test)
		}
		return entry, err
	}
	return docket.Entry{}, fmt.Errorf("the report of %s %s has no failure", r.Group, r.Test)
}

// names says whether a case is about the test, and about no other one.
func (r *Report) names(c *abi.Case) bool {
	if r.Runner == "go" {
		tests := gotest.TestsOf(c)
		return len(tests) == 1 && tests[0].Name == r.Test
	}
	test, ok := junit.Named(c)
	return ok && test.Name == r.Test && test.Class == r.Group
}

// Condition is an environment in which something is missing or otherwise.
type Condition struct {
	Name string `json:"name,omitempty"`
	// Lasting: it stays while the cells are run, but for those of the restored environment. Otherwise only the failing run had it.
	Lasting bool `json:"lasting,omitempty"`
}

// Part is what of a change is to blame.
type Part string

// The parts.
const (
	Product Part = "product"
	Tests   Part = "tests"
)

// Truth is what is known of a case.
type Truth struct {
	Attribution Attribution `json:"attribution"`
	// Part of the change that caused the failure, where that is known.
	Part Part `json:"part,omitempty"`
	// Label is the one of the four labels that the history names, or empty.
	Label string `json:"label,omitempty"`
}

// Loaded says where the code of a run came from.
type Loaded string

// What may be known of it.
const (
	Certified    Loaded = "certified"
	NotCertified Loaded = "not certified"
	Contradicted Loaded = "contradicted"
)

// Loads notes which code the runs of a tree had loaded, as results tell it; empty for what is not known.
func (c *Case) Loads(r Role, code abi.LoadedCode) {
	known := map[abi.LoadedCode]Loaded{abi.Certified: Certified, abi.NotCertified: NotCertified, abi.Contradicted: Contradicted}
	if known[code] == "" {
		return
	}
	if c.Loaded == nil {
		c.Loaded = map[Role]Loaded{}
	}
	c.Loaded[r] = known[code]
}

// Cell is the runs of the test in one place. Product and Tests are those of one tree unless it is a mixture.
type Cell struct {
	Product     Role               `json:"product"`
	Tests       Role               `json:"tests"`
	Environment abi.RunEnvironment `json:"environment"`
	Order       abi.RunOrder       `json:"order"`
	// Runs has a letter for each run, in their order: P passed, S failed as the case did, X told nothing, N there was no such test,
	// and a to z failed otherwise, each letter in one way (z in all further ones).
	Runs string `json:"runs,omitempty"`
	// Why there are no runs, or not all.
	Why    abi.ExperimentOutcome `json:"why,omitempty"`
	Detail string                `json:"detail,omitempty"`
	// Test says how the test differs from that of base.
	Test abi.TestChange `json:"test,omitempty"`
	// Build, Wall and CPU are seconds: of the build, and of all runs together.
	Build float64 `json:"build"`
	Wall  float64 `json:"wall"`
	CPU   float64 `json:"cpu"`
	// Alone is how long it took when nothing else ran on the machine; zero where that was not measured.
	Alone Alone `json:"alone,omitzero"`
}

// Alone is how long the build and the runs of a cell took while nothing else ran.
type Alone struct {
	Runs  int     `json:"runs"`
	Build float64 `json:"build"` // seconds
	Wall  float64 `json:"wall"`  // seconds, of all runs together
}

// Timed says whether the cells of a case were run while nothing else ran.
func (c *Case) Timed() bool {
	return slices.ContainsFunc(c.Cells, func(k Cell) bool { return k.Alone.Runs > 0 })
}

// Cell finds the cell of a tree in the original environment, in which the test runs alone; nil where there is none.
func (c *Case) Cell(r Role) *Cell {
	return c.Find(r, r, abi.OriginalEnvironment, abi.Alone)
}

// Find finds a cell; nil where there is none.
func (c *Case) Find(product, tests Role, e abi.RunEnvironment, o abi.RunOrder) *Cell {
	for i := range c.Cells {
		if k := &c.Cells[i]; k.Product == product && k.Tests == tests && k.Environment == e && k.Order == o {
			return k
		}
	}
	return nil
}

// Count counts the first n runs of a cell, or all if n is not positive: those that passed, that failed as the case did, that failed
// otherwise, and those without the test. Runs that told nothing are in none.
func (c *Cell) Count(n int) (passed, same, other, absent int) {
	if c == nil {
		return 0, 0, 0, 0
	}
	runs := c.Runs
	if n > 0 && n < len(runs) {
		runs = runs[:n]
	}
	for _, r := range runs {
		switch {
		case r == 'P':
			passed++
		case r == 'S':
			same++
		case r == 'N':
			absent++
		case r >= 'a':
			other++
		}
	}
	return passed, same, other, absent
}
