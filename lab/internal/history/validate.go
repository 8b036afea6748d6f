package history

import (
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

var (
	commitID   = regexp.MustCompile(`^[0-9a-f]{40}$`)
	ownerName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$`)
	runLetters = regexp.MustCompile(`^[PSXNa-z]*$`)
)

// IsCommit says whether a text is the whole id of a commit, and so no option of git.
func IsCommit(id string) bool { return commitID.MatchString(id) }

// Validate says everything that is wrong with a saved case: its form, its recipes and its truth, which has to follow from its runs. Files of cases come
// from others, and trees are made of what they say.
func Validate(c *Case) error {
	var problems []error
	fail := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if !slices.Contains(Kinds(), c.Kind) {
		fail("kind: there is no %q", c.Kind)
	}
	if prefix := c.Repository + "/" + strings.ReplaceAll(string(c.Kind), " ", "-") + "/"; !strings.HasPrefix(c.ID, prefix) {
		fail("id: does not begin with %q", prefix)
	}
	for i, t := range c.Traps {
		if !slices.Contains(Traps(), t) {
			fail("traps[%d]: there is no %q", i, t)
		}
	}
	for _, id := range []string{c.Fix, c.Culprit} {
		if id != "" && !IsCommit(id) {
			fail("fix or culprit: %q is no commit", id)
		}
	}
	problems = append(problems, validTrees(c), validFailure(&c.Failure), validCells(c.Cells))
	if truth, err := Derive(c); err != nil {
		fail("truth: %w", err)
	} else if truth != c.Truth {
		fail("truth: is %v, and by the runs it is %v", c.Truth, truth)
	}
	return errors.Join(problems...)
}

func validTrees(c *Case) error {
	var problems []error
	for _, role := range []Role{Base, Head} {
		if _, ok := c.Trees[role]; !ok {
			problems = append(problems, fmt.Errorf("trees: %s is missing", role))
		}
	}
	for role, t := range c.Trees {
		if !slices.Contains([]Role{Base, Head, Target, Merge}, role) || !IsCommit(t.Commit) {
			problems = append(problems, fmt.Errorf("trees.%s: %q is no commit of a tree", role, t.Commit))
		}
		if err := t.check(); err != nil {
			problems = append(problems, fmt.Errorf("trees.%s: %w", role, err))
		}
	}
	if !c.Planted && !recipeFits(c) {
		problems = append(problems, fmt.Errorf("trees: are not made as those of the kind %q", c.Kind))
	}
	return errors.Join(problems...)
}

// check says what is wrong with a recipe: ids that are none, steps that do not say one thing, and paths that leave the tree.
func (t *Tree) check() error {
	if !IsCommit(t.Start) {
		return fmt.Errorf("start: %q is no commit", t.Start)
	}
	for i := range t.Steps {
		s, verbs := &t.Steps[i], 0
		for _, id := range []string{s.Take, s.Pick, s.Merge} {
			if id == "" {
				continue
			}
			if verbs++; !IsCommit(id) {
				return fmt.Errorf("steps[%d]: %q is no commit", i, id)
			}
		}
		paths := s.Paths
		if s.Plant != nil {
			verbs++
			paths = append(slices.Clone(paths), s.Plant.File)
		}
		if verbs != 1 {
			return fmt.Errorf("steps[%d]: says %d things", i, verbs)
		}
		for _, p := range paths {
			if !localPath(p) {
				return fmt.Errorf("steps[%d]: %q is no path of a tree", i, p)
			}
		}
	}
	return nil
}

func localPath(p string) bool {
	return p != "" && p == path.Clean(p) && !path.IsAbs(p) && !slices.ContainsFunc(strings.Split(p, "/"), func(part string) bool {
		return part == ".." || strings.EqualFold(part, ".git")
	}) && !strings.ContainsAny(p, "\x00\n\t")
}

// recipeFits says whether the trees of a case that has nothing planted are made as its kind says.
func recipeFits(c *Case) bool {
	base, head := c.Trees[Base], c.Trees[Head]
	takes := func(t Tree, from string) bool {
		return len(t.Steps) == 1 && t.Steps[0].Take != "" && (from == "" || t.Steps[0].Take == from)
	}
	switch c.Kind {
	case Regression:
		return base.Start == head.Start && len(base.Steps) == 0 && takes(head, "") && (c.Fix == "" || c.Fix == base.Start)
	case NewTest, Stale:
		return base.Start == head.Start && len(base.Steps) == 0 && takes(head, c.Fix)
	case RedBase:
		return takes(head, c.Fix) && takes(base, c.Fix)
	case Conflict:
		target, merge := c.Trees[Target], c.Trees[Merge]
		return len(base.Steps) == 0 && len(target.Steps) == 0 && head.Start == base.Start && merge.Start == target.Start && len(head.Steps) == 1 && head.Steps[0].Pick == c.Fix && takes(merge, c.Fix)
	}
	return true // of the others the runs tell
}

func validFailure(r *Report) error {
	if !slices.Contains([]string{"go", "pytest", "jest", "surefire"}, r.Runner) {
		return fmt.Errorf("failure.runner: there is no %q", r.Runner)
	}
	if _, err := r.Entry(); err != nil {
		return fmt.Errorf("failure: %w", err)
	}
	return nil
}

// The most runs of a cell and seconds of anything.
const (
	mostRuns    = 2000
	mostSeconds = 100_000
)

func validCells(cells []Cell) error {
	var problems []error
	for i := range cells {
		k := &cells[i]
		fail := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf("cells[%d]: "+format, append([]any{i}, args...)...))
		}
		if slices.ContainsFunc(cells[:i], func(o Cell) bool {
			return o.Product == k.Product && o.Tests == k.Tests && o.Environment == k.Environment && o.Order == k.Order
		}) {
			fail("there are two of it")
		}
		if !runLetters.MatchString(k.Runs) || len(k.Runs) > mostRuns {
			fail("runs: has other letters, or too many")
		}
		if k.Runs != strings.Repeat("N", len(k.Runs)) && (k.Why == abi.OutcomeNoTest || k.Why == abi.OutcomeNotBuilt) {
			fail("why: is %q, and there are runs", k.Why)
		}
		for _, n := range []float64{k.Build, k.Wall, k.CPU, k.Alone.Build, k.Alone.Wall, float64(k.Alone.Runs)} {
			if math.IsNaN(n) || n < 0 || n > mostSeconds {
				fail("seconds: %v is none", n)
			}
		}
	}
	return errors.Join(problems...)
}
