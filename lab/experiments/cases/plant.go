package cases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/mutate"
)

// mostFaults is how many faults are tried for each case that is wanted.
const mostFaults = 6

// collect tries faults of a cause until there are cases enough, and counts both.
func (g *generator) collect(ctx context.Context, cause Cause, rng *rand.Rand) (kept, tried int, err error) {
	if cause == Environment {
		return g.breakEnvironment(ctx, rng)
	}
	next, err := g.sites(ctx, cause, rng)
	if err != nil {
		return 0, 0, err
	}
	for wanted := g.Quota - len(g.made); kept < wanted && tried < mostFaults*wanted; {
		site, ok := next()
		if !ok {
			break
		}
		if g.has(site.Operator, where(&site)) {
			continue
		}
		tried++
		ok, err := g.plant(ctx, cause, &site, rng)
		if err != nil {
			return kept, tried, err
		}
		if ok {
			kept++
		}
	}
	return kept, tried, nil
}

func where(s *mutate.Site) string { return fmt.Sprintf("%s:%d", s.File, s.Line) }

// sites gives the places for faults of a cause, one after the other.
func (g *generator) sites(ctx context.Context, cause Cause, rng *rand.Rand) (func() (mutate.Site, bool), error) {
	product, tests := func(t *tree) []string { return t.product }, func(t *tree) []string { return t.tests }
	var found mutate.Sites
	var err error
	switch cause {
	case Stale, Regression:
		pick, wanted := product, func(string) bool { return true }
		if cause == Stale {
			pick, wanted = tests, isTest
		}
		list, err := olderCode(g.older, g.newer, pick, wanted)
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return func() (s mutate.Site, ok bool) {
			if len(list) == 0 {
				return s, false
			}
			s, list = list[0], list[1:]
			return s, true
		}, err
	case Product:
		if found, err = mutate.Find(g.newer.folder, g.newer.product, mutate.Defects); err == nil {
			var covered map[string][]mutate.LineRange
			covered, err = g.coverage(ctx)
			found = found.Within(covered)
		}
	case Test:
		var data mutate.Sites
		if found, err = mutate.Find(g.newer.folder, g.newer.tests, mutate.Defects); err == nil {
			data, err = mutate.Fixtures(g.newer.folder)
			maps.Copy(found, data)
		}
	case Flaky:
		found, err = mutate.Find(g.newer.folder, g.newer.tests, mutate.Flakes)
	case Environment:
	}
	return func() (mutate.Site, bool) { return found.Pick(rng, func(string) float64 { return 1 }) }, err
}

// coverage finds the lines of the product that the tests run: only there is a mutation of use.
func (g *generator) coverage(ctx context.Context) (map[string][]mutate.LineRange, error) {
	binary, problem, err := g.suite.build(ctx, g.newer.folder, "cover", "-cover")
	if err != nil || problem != "" {
		return nil, err
	}
	profile := filepath.Join(g.suite.root, "profile")
	if _, err := g.suite.run(ctx, binary, g.newer.folder, condition{args: []string{"-test.coverprofile=" + profile}}); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(profile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return mutate.ParseProfile(data, path.Base), err
}

// plant makes a fault, runs the tests, and undoes it. It says whether that gave a case.
func (g *generator) plant(ctx context.Context, cause Cause, site *mutate.Site, rng *rand.Rand) (kept bool, err error) {
	undo, err := site.Apply(g.newer.folder)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, undo()) }()
	binary, problem, err := g.suite.build(ctx, g.newer.folder, "mutant")
	if err != nil || problem != "" {
		return false, err
	}
	c := Case{Cause: cause, Kind: site.Operator, Where: where(site)}
	if cause == Flaky {
		var r *result
		if c.Test, r, err = g.runFlaky(ctx, binary); err != nil || c.Test == "" {
			return false, err
		}
		return g.save(ctx, c, r, site.File)
	}
	runs, err := g.runTwice(ctx, binary, condition{})
	if err != nil {
		return false, err
	}
	tests := g.same(cause, runs)
	if len(tests) == 0 {
		return false, nil
	}
	c.Test = tests[rng.IntN(len(tests))]
	return g.save(ctx, c, runs[0], site.File)
}

// runTwice runs tests again if one fails.
func (g *generator) runTwice(ctx context.Context, binary string, in condition) ([]*result, error) {
	var runs []*result
	for range 2 {
		r, err := g.suite.run(ctx, binary, g.newer.folder, in)
		if err != nil {
			return nil, err
		}
		if runs = append(runs, r); len(r.failed) == 0 {
			break
		}
	}
	return runs, nil
}

// flakyRuns is how often a test is run that may be flaky. On one processor other goroutines wait.
const flakyRuns = 8

// runFlaky looks for a test that fails in one run and passes in another, and gives a run in which it fails.
func (g *generator) runFlaky(ctx context.Context, binary string) (string, *result, error) {
	var runs []*result
	for i := range flakyRuns {
		in := condition{}
		if i%3 == 2 {
			in.args = []string{"-test.cpu=1"}
		}
		r, err := g.suite.run(ctx, binary, g.newer.folder, in)
		if err != nil {
			return "", nil, err
		}
		runs = append(runs, r)
		for _, red := range runs {
			for _, test := range slices.Sorted(maps.Keys(red.failed)) {
				if g.sound(Flaky, test) && slices.ContainsFunc(runs, func(r *result) bool { return r.passed[test] && !r.failed[test] }) {
					return test, red, nil
				}
			}
		}
		if i == 4 && len(runs[0].failed)+len(r.failed) == 0 {
			break // it hardly ever fails
		}
	}
	return "", nil, nil
}

// breakEnvironment runs the untouched tests where something is wrong with the machine.
func (g *generator) breakEnvironment(ctx context.Context, rng *rand.Rand) (kept, tried int, err error) {
	faults, err := g.missingFiles(rng)
	if err != nil {
		return 0, 0, err
	}
	r, err := g.suite.run(ctx, g.binary, g.newer.folder, allWrong())
	if err != nil {
		return 0, 0, err
	}
	var kinds []condition
	if len(r.passed) == 0 || len(g.same(Environment, []*result{r})) > 0 {
		kinds = environments()
	}
	rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for _, in := range kinds {
		faults = append(faults, environmentFault{condition: in})
	}
	seen := map[string]bool{}
	for _, c := range g.made {
		seen[c.Test] = true
	}
	for _, f := range faults {
		if kept+len(g.made) >= 2*g.Quota {
			break
		}
		if g.has(f.kind, f.file) {
			continue
		}
		tried++
		ok, err := g.tryEnvironment(ctx, f, seen, rng)
		if err != nil {
			return kept, tried, err
		}
		if ok {
			kept++
		}
	}
	return kept, tried, nil
}

// environmentFault is a condition, or a file that both releases need and that is not there.
type environmentFault struct {
	condition
	file string
}

// missingFiles are fixtures that are no longer provided: experiments don't find them either.
func (g *generator) missingFiles(rng *rand.Rand) ([]environmentFault, error) {
	found, err := mutate.Fixtures(g.older.folder)
	if err != nil {
		return nil, err
	}
	var list []environmentFault
	for _, s := range found["empty fixture"] {
		if _, err := os.Stat(filepath.Join(g.newer.folder, s.File)); err == nil {
			list = append(list, environmentFault{condition{kind: "file missing", lasting: true}, s.File})
		}
	}
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(len(list), 2)], nil
}

func (g *generator) tryEnvironment(ctx context.Context, f environmentFault, seen map[string]bool, rng *rand.Rand) (kept bool, err error) {
	if f.file != "" {
		for _, t := range []*tree{g.older, g.newer} {
			undo, err := t.without(f.file)
			if err != nil {
				return false, err
			}
			defer func() { err = errors.Join(err, undo()) }()
		}
	}
	runs, err := g.runTwice(ctx, g.binary, f.condition)
	if err != nil {
		return false, err
	}
	tests := slices.DeleteFunc(g.same(Environment, runs), func(test string) bool { return seen[test] })
	if len(tests) == 0 {
		return false, nil
	}
	c := Case{Cause: Environment, Kind: f.kind, Where: f.file, Test: tests[rng.IntN(len(tests))], Lasting: f.lasting}
	if f.lasting {
		c.Environment = f.variables
	}
	seen[c.Test] = true
	if f.file != "" {
		return g.save(ctx, c, runs[0], f.file)
	}
	return g.save(ctx, c, runs[0])
}
