package mine

import (
	"context"
	"hash/fnv"
	"path"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// mostPaths is the most of a commit that is looked at: larger ones are seldom one fix.
const mostPaths = 25

// mostUnits is how many packages of a commit are run.
const mostUnits = 3

// fixes looks for regressions, new tests, and bugs that two trees have: commits that changed product and tests. Of each comes one
// case or none.
func (m *Miner) fixes(ctx context.Context) error {
	for i := range m.log {
		c := &m.log[i]
		if len(c.product) == 0 || len(c.tests) == 0 || len(c.product)+len(c.tests) > mostPaths || !m.near(c) {
			continue
		}
		if !m.wants(history.Regression, history.NewTest, history.RedBase) {
			return nil
		}
		kinds := []history.Kind{history.Regression}
		if pick(c.id, 2) == 0 {
			kinds = []history.Kind{history.NewTest, history.RedBase}
		}
		if !m.wants(kinds...) {
			continue
		}
		if err := m.candidate(ctx, kinds[0], c.id, func() error { return m.fix(ctx, kinds, c) }); err != nil {
			return err
		}
	}
	return nil
}

// near says whether product and tests of a commit lie in common folders.
func (m *Miner) near(c *commit) bool {
	return slices.ContainsFunc(c.tests, func(t string) bool {
		return slices.ContainsFunc(c.product, func(p string) bool {
			return path.Ext(p) == path.Ext(t) && (m.suite.name() != "go" || path.Dir(p) == path.Dir(t))
		})
	})
}

// pick decides by a name alone, evenly among n.
func pick(name string, n uint32) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32() % n
}

// fix makes the cases of one commit.
func (m *Miner) fix(ctx context.Context, kinds []history.Kind, c *commit) error {
	fixed := history.Tree{Start: c.id}
	head := history.Tree{Start: c.id, Steps: []history.Step{{Take: c.parent, Paths: c.product}}}
	if kinds[0] != history.Regression {
		head = history.Tree{Start: c.parent, Steps: []history.Step{{Take: c.id, Paths: c.tests}}}
	}
	failures, broken, err := m.broken(ctx, &head, &fixed, c.tests)
	if err != nil {
		return err
	}
	f := failures[pick(c.id, uint32(len(failures)))]
	for _, kind := range kinds {
		if !m.wants(kind) {
			continue
		}
		base := fixed
		switch kind {
		case history.NewTest:
			base = history.Tree{Start: c.parent}
		case history.RedBase: // the bug was there some commits before, too
			base = history.Tree{Start: m.before(c), Steps: head.Steps}
		}
		if base.Commit, err = m.repository.Make(ctx, &base); err != nil {
			return err
		}
		one := &history.Case{
			ID: idOf(m.Name, kind, c.id, f.report.Group, f.report.Test), Kind: kind, Fix: c.id, Failure: f.report,
			Trees: map[history.Role]history.Tree{history.Base: base, history.Head: head},
		}
		if manyRows(broken[f.unit], f.report.Test) {
			one.Traps = append(one.Traps, history.ManyRows)
		}
		if err := m.candidate(ctx, kind, "of "+one.ID, func() error { return m.keep(ctx, one, f.unit) }); err != nil {
			return err
		}
	}
	return nil
}

// mostBefore is how many commits lie between the parent of a fix and a base that has the bug, too.
const mostBefore = 12

// before is a commit some steps before the parent of a commit.
func (m *Miner) before(c *commit) string {
	first, ok := m.at[c.parent]
	if !ok {
		return c.parent
	}
	return m.log[min(first+1+int(pick(c.id+"before", mostBefore)), len(m.log)-1)].id
}

// broken finds the tests that fail on head and pass in another tree, of the packages there that have some of the test files, and gives
// what these packages of head came to. Its error is a dropped where there are none.
func (m *Miner) broken(ctx context.Context, head, other *history.Tree, tests []string) ([]failure, map[string]*outcome, error) {
	units, err := m.units(ctx, other, tests)
	if err != nil {
		return nil, nil, err
	}
	if len(units) == 0 || len(units) > mostUnits {
		return nil, nil, dropped(noUnits)
	}
	red, err := m.runTree(ctx, head, units, surroundings{})
	if err != nil {
		return nil, nil, err
	}
	if why := problems(red); why != "" {
		return nil, nil, dropped("head: " + why)
	}
	if len(failuresOf(red, func(string, string) bool { return true })) == 0 {
		return nil, nil, dropped("no test fails on head")
	}
	green, err := m.runTree(ctx, other, units, surroundings{})
	if err != nil {
		return nil, nil, err
	}
	failures := failuresOf(red, func(unit, test string) bool { return green[unit].passed[test] })
	if len(failures) == 0 {
		return nil, nil, dropped("no test fails on head and passes in the other tree")
	}
	return failures, red, nil
}

// noUnits is why a commit is left out that nothing can be run for.
const noUnits = "its tests are in no package, or in too many"

// Many rows are a hundred and more, of which a tenth fails at most.
const (
	many  = 100
	tenth = 10
)

// manyRows says whether a test is one of a few failing rows of very many.
func manyRows(o *outcome, test string) bool {
	top, _, ok := strings.Cut(test, "/")
	if !ok {
		return false
	}
	rows, failed := 0, 0
	for name := range o.passed {
		if strings.HasPrefix(name, top+"/") {
			rows++
		}
	}
	for name := range o.failed {
		if strings.HasPrefix(name, top+"/") {
			rows, failed = rows+1, failed+1
		}
	}
	return rows >= many && failed*tenth <= rows
}
