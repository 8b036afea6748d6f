// Package judge judges saved cases in several ways from the outcomes that were saved with them, and sets the ways side by side. It runs
// no test.
package judge

import (
	"context"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

// Arm is one way to judge a case.
type Arm string

// The arms. The README has their exact rules.
const (
	BaseOnce   Arm = "one rerun of the base"
	HeadThrice Arm = "three reruns of head"
	Both       Arm = "both"
	FiveThree  Arm = "head five times, base three times"
	Stash      Arm = "git stash and rerun"
	Similarity Arm = "similar failures in the history"
	Court      Arm = "four-label court"
	Everything Arm = "run everything, table"
	Alibi      Arm = "alibi court"
)

// Arms are all arms.
func Arms() []Arm {
	return []Arm{BaseOnce, HeadThrice, Both, FiveThree, Stash, Similarity, Court, Everything, Alibi}
}

// Answer is what an arm says of a case.
type Answer struct {
	Attribution history.Attribution
	// Seconds are those of the builds and runs that the arm asked for.
	Seconds float64
	// Lacked counts the cells that it asked for and that are not saved.
	Lacked int
}

// Judged is a case with the answers of all arms.
type Judged struct {
	Case    *history.Case
	Half    history.Half
	Answers map[Arm]Answer
	Trial   Trial
	// Alibi is the trial of the alibi court.
	Alibi Trial
}

// Judge gives the cases of some repositories to all arms. The court is held on the bench.
func Judge(ctx context.Context, bench *study.Bench, repos []history.Repo) ([]Judged, error) {
	var list []Judged
	for i := range repos {
		seen := sightingsOf(&repos[i])
		for j := range repos[i].Cases {
			c := &repos[i].Cases[j]
			list = append(list, Judged{c, repos[i].Half, map[Arm]Answer{
				BaseOnce: baseOnce(c), HeadThrice: headThrice(c), Both: both(c), FiveThree: fiveThree(c), Stash: stash(c),
				Similarity: seen.judge(c), Everything: everything(c),
			}, Trial{}, Trial{}})
		}
	}
	if err := holdCourt(ctx, bench, list); err != nil {
		return nil, err
	}
	return list, holdAlibi(ctx, bench, list)
}

// spending adds up what an arm pays.
type spending struct {
	c       *history.Case
	timed   bool // by what it took while nothing else ran
	built   map[[2]history.Role]bool
	seconds float64
	lacked  int

	mu    sync.Mutex
	asked map[abi.Experiment]bool
}

func spend(c *history.Case) *spending {
	return &spending{c: c, timed: c.Timed(), built: map[[2]history.Role]bool{}, asked: map[abi.Experiment]bool{}}
}

// pay pays for the first n runs of a cell, and for its tree where it is the first of that: what building it took at most, since
// later cells of a tree found it built.
func (s *spending) pay(k *history.Cell, n int) {
	if tree := [2]history.Role{k.Product, k.Tests}; !s.built[tree] {
		s.built[tree] = true
		most := 0.0
		for i := range s.c.Cells {
			if other := &s.c.Cells[i]; other.Product == k.Product && other.Tests == k.Tests {
				if s.timed {
					most = max(most, other.Alone.Build)
				} else {
					most = max(most, other.Build)
				}
			}
		}
		s.seconds += most
	}
	switch {
	case s.timed && k.Alone.Runs > 0:
		s.seconds += k.Alone.Wall / float64(k.Alone.Runs) * float64(n)
	case len(k.Runs) > 0:
		s.seconds += k.Wall / float64(len(k.Runs)) * float64(n)
	}
}

// run gives the first n runs of a tree in the original environment, and whether they are saved.
func (s *spending) run(r history.Role, o abi.RunOrder, n int) (seen, bool) {
	k := s.c.Find(r, r, abi.OriginalEnvironment, o)
	if k == nil {
		s.lacked++
		return seen{}, false
	}
	runs := k.Runs[:min(n, len(k.Runs))]
	s.pay(k, len(runs))
	return look(runs), true
}

func (s *spending) says(a history.Attribution) Answer { return Answer{a, s.seconds, s.lacked} }

// seen counts runs. Those that told nothing are in none of the counts.
type seen struct{ passed, same, other, absent int }

func look(runs string) seen {
	var s seen
	s.passed, s.same, s.other, s.absent = (&history.Cell{Runs: runs}).Count(0)
	return s
}

func (s seen) failed() int { return s.same + s.other }
func (s seen) told() bool  { return s.passed+s.failed() > 0 }

func (s seen) and(o seen) seen {
	return seen{s.passed + o.passed, s.same + o.same, s.other + o.other, s.absent + o.absent}
}

// underTest is the tree that failed, and before is the one that it is compared with.
func underTest(c *history.Case) (tree, before history.Role) {
	if _, merged := c.Trees[history.Merge]; merged {
		return history.Merge, history.Target
	}
	return history.Head, history.Base
}

func baseOnce(c *history.Case) Answer {
	_, before := underTest(c)
	s := spend(c)
	base, ok := s.run(before, abi.Alone, 1)
	return s.says(byBase(base, ok))
}

// byBase blames the change unless the base fails.
func byBase(base seen, ok bool) history.Attribution {
	switch {
	case !ok:
		return history.Open
	case base.failed() > 0:
		return history.Preexisting
	}
	return history.Caused
}

func headThrice(c *history.Case) Answer {
	tree, _ := underTest(c)
	s := spend(c)
	head, ok := s.run(tree, abi.Alone, 3)
	switch {
	case !ok:
		return s.says(history.Open)
	case head.passed > 0:
		return s.says(history.ByChance)
	}
	return s.says(history.Caused)
}

func both(c *history.Case) Answer {
	tree, before := underTest(c)
	s := spend(c)
	if head, _ := s.run(tree, abi.Alone, 3); head.passed > 0 {
		return s.says(history.ByChance)
	}
	base, ok := s.run(before, abi.Alone, 1)
	return s.says(byBase(base, ok))
}

func fiveThree(c *history.Case) Answer {
	tree, before := underTest(c)
	s := spend(c)
	head, _ := s.run(tree, abi.Alone, 5)
	base, _ := s.run(before, abi.Alone, 3)
	switch {
	case !head.told():
		return s.says(history.Open)
	case head.passed > 0:
		return s.says(history.ByChance)
	case !base.told():
		return s.says(history.Open)
	case base.failed() == 0:
		return s.says(history.Caused)
	case base.passed == 0:
		return s.says(history.Preexisting)
	}
	return s.says(history.ByChance)
}

func stash(c *history.Case) Answer {
	_, before := underTest(c)
	s := spend(c)
	base, ok := s.run(before, abi.OriginalOrder, 1)
	if !ok {
		base, ok = s.run(before, abi.Alone, 1)
	}
	return s.says(byBase(base, ok))
}

// everything is a table over all cells that are saved.
func everything(c *history.Case) Answer {
	s := spend(c)
	for i := range c.Cells {
		s.pay(&c.Cells[i], len(c.Cells[i].Runs))
	}
	for _, p := range places() {
		if c.Find(p.product, p.tests, p.environment, p.order) == nil && p.of(c) {
			s.lacked++
		}
	}
	return s.says(byTable(c))
}

func byTable(c *history.Case) history.Attribution {
	tree, before := underTest(c)
	head, base := side(c, tree, before)
	branch, _ := side(c, history.Head, before)
	alone, clean := look(runsOf(c.Cell(tree))), look(runsOf(c.Find(tree, tree, abi.CleanEnvironment, abi.Alone)))
	switch {
	case !head.told():
		return history.Open
	case tree == history.Merge && head.passed == 0 && branch.failed()+base.failed() == 0 && branch.passed+base.passed > 0:
		return history.InMerge
	case alone.failed() > 0 && alone.passed == 0 && clean.passed > 0 && clean.failed() == 0:
		return history.Surroundings
	case head.failed() == 0:
		return history.ByChance
	case c.Loaded[before] == history.Contradicted:
		return history.Open
	case !base.told() && lacks(c.Cell(before)):
		return history.Caused // it came with the test, or with what the test needs
	case !base.told():
		return history.Open
	case base.failed() == 0:
		return history.Caused
	case head.passed == 0 && base.passed == 0 && base.same > 0:
		return history.Preexisting
	case head.passed == 0 && base.passed == 0:
		return history.Caused // what fails on the base is something else
	case 2*base.failed()*(head.failed()+head.passed) < head.failed()*(base.failed()+base.passed):
		return history.Caused // it fails more than twice as often
	}
	return history.ByChance
}

// side counts the runs of two trees where both have some, or those of the first where the second has none at all: in the original and in
// the starved environment, alone and with the package.
func side(c *history.Case, tree, before history.Role) (head, base seen) {
	var unmatched seen
	for _, p := range places() {
		if p.product != history.Head || p.tests != history.Head || p.environment == abi.CleanEnvironment {
			continue
		}
		h := look(runsOf(c.Find(tree, tree, p.environment, p.order)))
		if b := look(runsOf(c.Find(before, before, p.environment, p.order))); b.told() && h.told() {
			head, base = head.and(h), base.and(b)
		}
		unmatched = unmatched.and(h)
	}
	if !base.told() {
		head = unmatched
	}
	return head, base
}

func lacks(k *history.Cell) bool {
	return k != nil && (look(k.Runs).absent > 0 || k.Why == abi.OutcomeNoTest || k.Why == abi.OutcomeNotBuilt)
}

func runsOf(k *history.Cell) string {
	if k == nil {
		return ""
	}
	return k.Runs
}

// place is where cells are wanted.
type place struct {
	product, tests history.Role
	environment    abi.RunEnvironment
	order          abi.RunOrder
}

// places are those of all cases, and those of cases with a merge.
func places() []place {
	const head, base = history.Head, history.Base
	var list []place
	for _, r := range []history.Role{head, base} {
		list = append(list, place{r, r, abi.OriginalEnvironment, abi.Alone}, place{r, r, abi.StarvedEnvironment, abi.Alone},
			place{r, r, abi.CleanEnvironment, abi.Alone}, place{r, r, abi.OriginalEnvironment, abi.OriginalOrder})
	}
	return append(list,
		place{head, base, abi.OriginalEnvironment, abi.Alone}, place{base, head, abi.OriginalEnvironment, abi.Alone},
		place{history.Merge, history.Merge, abi.OriginalEnvironment, abi.Alone}, place{history.Target, history.Target, abi.OriginalEnvironment, abi.Alone})
}

// of says whether a case should have a cell there.
func (p *place) of(c *history.Case) bool {
	_, product := c.Trees[p.product]
	_, tests := c.Trees[p.tests]
	return product && tests
}

func (p *place) String() string {
	tree := string(p.product)
	if p.tests != p.product {
		tree = "product of " + tree + ", tests of " + string(p.tests)
	}
	parts := []string{tree, string(p.environment) + " environment", "alone"}
	if p.order != abi.Alone {
		parts[2] = "with its package"
	}
	return strings.Join(parts, ", ")
}
