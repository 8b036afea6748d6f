package cases

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Config says which cases are made.
type Config struct {
	// Work is a folder that keeps finished cases, so that an interrupted run continues.
	Work string
	// Seed decides sites, operators and tests. What a racing test prints is up to the machine.
	Seed uint64
	// Quota is how many cases are wanted for each pair of releases and cause.
	Quota int
	// Only pairs whose module's path has this text.
	Only string
	// Fresh pairs alone: those on which no table was tuned.
	Fresh bool
	// Workers is how many pairs are worked on at once. Default: 1.
	Workers int
	// Log is told what came of each pair and cause.
	Log io.Writer
}

// Generate makes the cases that the work folder doesn't have yet. A pair that is of no use is reported and left out.
func Generate(ctx context.Context, c Config) error {
	pairs := make(chan Pair)
	var workers sync.WaitGroup
	for range max(1, c.Workers) {
		workers.Go(func() {
			for pair := range pairs {
				if err := (&generator{Config: c, pair: pair}).generate(ctx); err != nil && ctx.Err() == nil {
					fmt.Fprintf(c.Log, "%s: %v\n", pair.Module, err)
				}
			}
		})
	}
	for _, pair := range Pairs() {
		if ctx.Err() == nil && strings.Contains(pair.Module, c.Only) && (!c.Fresh || !pair.Tuned) {
			pairs <- pair
		}
	}
	close(pairs)
	workers.Wait()
	return ctx.Err()
}

// generator makes the cases of one pair.
type generator struct {
	Config
	pair        Pair
	suite       suite
	older       *tree
	newer       *tree // the one that is changed, and restored
	was, is     *result
	binary      string // of the newer release
	foldersMade bool
	made        []*Case // of the cause that is worked on
}

// finished is the file that says that all cases of a pair and a cause are there.
func (g *generator) finished(cause Cause) string {
	return filepath.Join(g.Work, "finished", fmt.Sprintf("%08x-%s-%d-%d", hash(g.pair.Module+g.pair.Older+g.pair.Newer), cause, g.Seed, g.Quota))
}

// name is what the cases of a cause have in common in theirs.
func (g *generator) name(cause Cause) string {
	return slug(g.pair.Module) + "-" + string(cause)
}

// slug is the name of a module in names of files.
func slug(module string) string {
	return strings.ReplaceAll(strings.TrimPrefix(module, "github.com/"), "/", "-")
}

// find reads the cases that there are of a cause.
func (g *generator) find(cause Cause) error {
	list, err := Read(g.Work)
	g.made = slices.DeleteFunc(list, func(c *Case) bool { return c.Pair.Module != g.pair.Module || c.Cause != cause })
	return err
}

// has says whether there is a case with this fault.
func (g *generator) has(kind, where string) bool {
	return slices.ContainsFunc(g.made, func(c *Case) bool { return c.Kind == kind && c.Where == where })
}

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()
}

func (g *generator) generate(ctx context.Context) error {
	for _, cause := range Causes() {
		if _, err := os.Stat(g.finished(cause)); err == nil {
			continue
		}
		if err := g.prepare(ctx); err != nil {
			return err
		}
		if err := g.find(cause); err != nil {
			return err
		}
		rng := rand.New(rand.NewPCG(g.Seed, uint64(hash(g.pair.Module+string(cause))))) //nolint:gosec // chosen, not secret
		n, tried, err := g.collect(ctx, cause, rng)
		if err != nil {
			return fmt.Errorf("%s: %w", cause, err)
		}
		fmt.Fprintf(g.Log, "%s: %s: %d cases of %d faults\n", g.pair.Module, cause, n, tried)
		if err := errors.Join(os.MkdirAll(filepath.Dir(g.finished(cause)), 0o755), os.WriteFile(g.finished(cause), nil, 0o644)); err != nil {
			return err
		}
	}
	if g.foldersMade {
		return os.RemoveAll(g.suite.root)
	}
	return nil
}

// prepare downloads the releases and runs their own tests.
func (g *generator) prepare(ctx context.Context) (err error) {
	if g.foldersMade {
		return nil
	}
	g.suite = suite{root: filepath.Join(g.Work, "trees", fmt.Sprintf("%08x", hash(g.pair.Module))), pkg: g.pair.Module}
	if g.older, err = newTree(ctx, g.pair.Module, g.pair.Older, filepath.Join(g.suite.root, "older")); err != nil {
		return err
	}
	if g.newer, err = newTree(ctx, g.pair.Module, g.pair.Newer, filepath.Join(g.suite.root, "newer")); err != nil {
		return err
	}
	if !differ(g.older, g.older.product, g.newer, g.newer.product) || !differ(g.older, g.older.tests, g.newer, g.newer.tests) {
		return errors.New("the releases do not differ in product and tests")
	}
	if g.was, _, err = g.baseline(ctx, g.older, "older"); err != nil {
		return fmt.Errorf("%s: %w", g.pair.Older, err)
	}
	if g.is, g.binary, err = g.baseline(ctx, g.newer, "newer"); err != nil {
		return fmt.Errorf("%s: %w", g.pair.Newer, err)
	}
	g.foldersMade = true
	return nil
}

// baselineRuns is how often a test of an untouched release has to pass.
const baselineRuns = 3

// baseline runs the tests of a release: passed are those that pass each time.
func (g *generator) baseline(ctx context.Context, t *tree, name string) (*result, string, error) {
	binary, problem, err := g.suite.build(ctx, t.folder, name)
	if err != nil || problem != "" {
		return nil, "", errors.Join(err, errors.New(problem))
	}
	var all *result
	for range baselineRuns {
		r, err := g.suite.run(ctx, binary, t.folder, condition{})
		if err != nil {
			return nil, "", err
		}
		if all == nil {
			all = r
		}
		maps.Copy(all.failed, r.failed)
		maps.DeleteFunc(all.passed, func(test string, _ bool) bool { return !r.passed[test] })
	}
	if len(all.passed) == 0 {
		return nil, "", errors.New("no test passes")
	}
	return all, binary, nil
}

// sound says whether the untouched releases pass the test, so that the fault alone makes it fail.
func (g *generator) sound(cause Cause, test string) bool {
	if g.was.failed[test] || g.is.failed[test] {
		return false
	}
	if cause == Stale {
		return g.was.passed[test] // the newer release may have dropped it
	}
	return g.is.passed[test]
}

// save makes a case of a failing test. The changed files are in the trees as they are to be committed. Nothing is saved if the fault took away all that
// the newer release changed in the product or in the tests.
func (g *generator) save(ctx context.Context, c Case, r *result, changed ...string) (bool, error) {
	if !differ(g.older, g.older.product, g.newer, g.newer.product) || !differ(g.older, g.older.tests, g.newer, g.newer.tests) {
		return false, nil
	}
	c.Pair, c.New = g.pair, !g.was.passed[c.Test]
	for i := 1; c.folder == ""; i++ {
		c.ID = fmt.Sprintf("%s-%d", g.name(c.Cause), i)
		if _, err := os.Stat(filepath.Join(g.Work, "cases", c.ID, caseFile)); errors.Is(err, fs.ErrNotExist) {
			c.folder = filepath.Join(g.Work, "cases", c.ID)
		}
	}
	var err error
	c.Green, err = commit(ctx, c.Repository(), g.pair, func(i int, folder string) error {
		return []*tree{g.older, g.newer}[i].writeTo(folder, changed)
	})
	if err != nil {
		return false, err
	}
	log := strings.NewReplacer(g.newer.folder, c.Repository(), g.suite.root, c.folder).Replace(string(r.events))
	if err := c.write([]byte(log)); err != nil {
		return false, errors.Join(err, os.RemoveAll(c.folder))
	}
	return true, nil
}

// same are the tests that fail in all runs and that the untouched releases pass, in a fixed order.
func (g *generator) same(cause Cause, runs []*result) []string {
	var tests []string
	for _, test := range slices.Sorted(maps.Keys(runs[0].failed)) {
		always := g.sound(cause, test)
		for _, r := range runs[1:] {
			always = always && r.failed[test]
		}
		if always {
			tests = append(tests, test)
		}
	}
	return tests
}
