package history

import (
	"errors"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// How many runs a truth needs, and how probable the outcomes of two trees may be by chance where they are said to differ.
const (
	enoughRuns = 10
	byChance   = 0.001
	// noDifference is how improbable the outcomes of two trees must not be where they are said to be alike.
	noDifference = 0.05
)

// Restored is the environment of a cell without what was taken away in a case of that kind.
const Restored abi.RunEnvironment = "restored"

// Derive tells the truth of a case from its recipe and the runs of its trees. The error says why the runs do not show what the recipe
// promises.
func Derive(c *Case) (Truth, error) {
	rule, ok := rules[c.Kind]
	if !ok {
		return Truth{}, errors.New("there is no such kind")
	}
	return rule(c)
}

var rules = map[Kind]func(*Case) (Truth, error){
	Regression:  regression,
	Revert:      func(c *Case) (Truth, error) { return broken(c, Truth{Caused, Product, "product bug"}, false) },
	NewTest:     func(c *Case) (Truth, error) { return broken(c, Truth{Caused, Tests, "product bug"}, true) },
	Stale:       func(c *Case) (Truth, error) { return broken(c, Truth{Caused, "", "test bug"}, false) },
	RedBase:     redBase,
	Flaky:       flaky,
	MadeFlaky:   madeFlaky,
	Environment: environment,
	Conflict:    conflict,
}

// ran says whether a cell has runs enough, and all of them told something.
func ran(c *Cell) bool {
	passed, same, other, absent := c.Count(0)
	return c != nil && passed+same+other+absent >= enoughRuns && passed+same+other+absent == len(c.Runs)
}

func passes(c *Cell) bool {
	passed, _, _, _ := c.Count(0)
	return ran(c) && passed == len(c.Runs)
}

// fails says whether a tree fails each time as the case did. differs lets runs fail in another way, too.
func fails(c *Cell, differs bool) bool {
	_, same, other, _ := c.Count(0)
	return ran(c) && (same == len(c.Runs) || differs && same+other == len(c.Runs))
}

// Differs says whether the failure of head is another one from run to run.
func Differs(c *Case) bool {
	passed, same, other, _ := c.Cell(Head).Count(0)
	return passed == 0 && same > 0 && other > 0
}

// lacks says whether a tree does not have the test.
func lacks(c *Cell) bool {
	if c == nil {
		return false
	}
	_, _, _, absent := c.Count(0)
	return c.Why == abi.OutcomeNoTest || absent > 0 && absent == len(c.Runs)
}

func has(c *Case, t Trap) bool { return slices.Contains(c.Traps, t) }

func broken(c *Case, truth Truth, mayLack bool) (Truth, error) {
	head, base := c.Cell(Head), c.Cell(Base)
	_, same, other, _ := base.Count(0)
	switch {
	case !fails(head, Differs(c)):
		return Truth{}, errors.New("head does not fail each time")
	case has(c, LoadsHead):
		return truth, loadsHead(c, base)
	case has(c, OtherOnBase) && ran(base) && other == len(base.Runs):
		return truth, nil
	case has(c, OtherOnBase):
		return Truth{}, errors.New("base does not fail in another way each time")
	case mayLack && lacks(base), mayLack && base != nil && base.Why == abi.OutcomeNotBuilt:
		return truth, nil
	case same+other > 0:
		return Truth{}, errors.New("base fails, too")
	case !passes(base):
		return Truth{}, errors.New("base does not pass each time")
	}
	return truth, nil
}

func regression(c *Case) (Truth, error) {
	switch {
	case has(c, OrderMatters):
		return polluted(c)
	case has(c, Untracked):
		return broken(c, Truth{Caused, Tests, "test bug"}, false)
	}
	return broken(c, Truth{Caused, Product, "product bug"}, false)
}

// polluted is a test that fails because of one that runs before it, which the change brought.
func polluted(c *Case) (Truth, error) {
	inOrder := func(r Role) *Cell { return c.Find(r, r, abi.OriginalEnvironment, abi.OriginalOrder) }
	switch {
	case !fails(inOrder(Head), false):
		return Truth{}, errors.New("head does not fail each time in the order of the package")
	case !passes(c.Cell(Head)):
		return Truth{}, errors.New("head does not pass each time alone")
	case !passes(inOrder(Base)):
		return Truth{}, errors.New("base does not pass each time in the order of the package")
	case !passes(c.Cell(Base)):
		return Truth{}, errors.New("base does not pass each time alone")
	}
	return Truth{Caused, Tests, "test bug"}, nil
}

// loadsHead checks that base fails as head does, and passes with its own code.
func loadsHead(c *Case, base *Cell) error {
	switch {
	case !fails(base, Differs(c)):
		return errors.New("base does not fail each time with the code of head")
	case !passes(c.Find(Base, Base, Restored, abi.Alone)):
		return errors.New("base does not pass each time with its own code")
	}
	return nil
}

func redBase(c *Case) (Truth, error) {
	switch {
	case !fails(c.Cell(Head), Differs(c)):
		return Truth{}, errors.New("head does not fail each time")
	case !fails(c.Cell(Base), Differs(c)):
		return Truth{}, errors.New("base does not fail each time as head does")
	}
	return Truth{Attribution: Preexisting}, nil
}

// totals counts what passed and failed in a tree, in all orders and in the original and the starved environment.
func totals(c *Case, r Role) (passed, failed int) {
	for i := range c.Cells {
		k := &c.Cells[i]
		if k.Product != r || k.Tests != r || k.Environment == abi.CleanEnvironment || k.Environment == Restored {
			continue
		}
		p, s, o, _ := k.Count(0)
		passed, failed = passed+p, failed+s+o
	}
	return passed, failed
}

func flaky(c *Case) (Truth, error) {
	passed, failed := totals(c, Head)
	basePassed, baseFailed := totals(c, Base)
	switch {
	case passed == 0:
		return Truth{}, errors.New("head never passes")
	case failed == 0:
		return Truth{}, errors.New("head never fails when run again")
	case !ran(c.Cell(Base)):
		return Truth{}, errors.New("base can't be run")
	case baseFailed == 0:
		return Truth{}, errors.New("base never fails")
	case basePassed == 0:
		return Truth{}, errors.New("base never passes")
	case Fisher(failed, passed, baseFailed, basePassed) < noDifference:
		return Truth{}, errors.New("head fails more often than base")
	}
	return Truth{Attribution: ByChance, Label: "flaky"}, nil
}

func madeFlaky(c *Case) (Truth, error) {
	passed, failed := totals(c, Head)
	basePassed, baseFailed := totals(c, Base)
	truth := Truth{Attribution: Caused, Label: "flaky"}
	if c.Planted {
		truth.Part = Product // where chance is planted
	}
	base := c.Cell(Base)
	switch {
	case passed == 0:
		return Truth{}, errors.New("head never passes")
	case failed == 0:
		return Truth{}, errors.New("head never fails when run again")
	case lacks(base), base != nil && base.Why == abi.OutcomeNotBuilt:
		truth.Part = Tests
		return truth, nil
	case !ran(base):
		return Truth{}, errors.New("base can't be run")
	case !has(c, WorseFlake) && baseFailed > 0:
		return Truth{}, errors.New("base fails, too")
	case Fisher(failed, passed, baseFailed, basePassed) > byChance:
		return Truth{}, errors.New("head fails so seldom that it may be chance that base passes")
	}
	return truth, nil
}

func environment(c *Case) (Truth, error) {
	head, base := c.Cell(Head), c.Cell(Base)
	truth := Truth{Attribution: Surroundings, Label: "system issue"}
	if c.Environment.Lasting {
		switch restored := c.Find(Head, Head, Restored, abi.Alone); {
		case !fails(head, Differs(c)):
			return Truth{}, errors.New("head does not fail each time in the broken environment")
		case !passes(restored):
			return Truth{}, errors.New("head does not pass each time in the whole environment")
		}
		return truth, nil
	}
	switch {
	case !passes(head):
		return Truth{}, errors.New("head does not pass each time in the whole environment")
	case !passes(base) && !lacks(base):
		return Truth{}, errors.New("base does not pass each time in the whole environment")
	}
	return truth, nil
}

func conflict(c *Case) (Truth, error) {
	target := c.Cell(Target)
	switch {
	case !fails(c.Cell(Merge), false):
		return Truth{}, errors.New("the merge does not fail each time in one way")
	case !passes(c.Cell(Head)) && !lacks(c.Cell(Head)):
		return Truth{}, errors.New("head does not pass each time")
	case !passes(target) && !lacks(target):
		return Truth{}, errors.New("target does not pass each time")
	case lacks(c.Cell(Head)) && lacks(target):
		return Truth{}, errors.New("neither head nor target has the test")
	}
	return Truth{Attribution: InMerge}, nil
}

// Fisher is how probable it is that a tree fails at least so often beside another one if both fail at one rate: Fisher's exact test, of
// one side.
func Fisher(failed, passed, otherFailed, otherPassed int) float64 {
	n, k, all := failed+passed, failed+otherFailed, failed+passed+otherFailed+otherPassed
	choose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	p := 0.0
	for x := failed; x <= min(n, k); x++ {
		if k-x <= all-n {
			p += math.Exp(choose(n, x) + choose(all-n, k-x) - choose(all, k))
		}
	}
	return min(1, p)
}
