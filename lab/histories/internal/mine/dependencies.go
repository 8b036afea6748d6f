package mine

import (
	"context"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// dependencyFiles say which modules a module needs.
var dependencyFiles = []string{"go.mod", "go.sum"}

// dependencies looks for commits that moved a dependency and changed tests: without the move, these fail.
func (m *Miner) dependencies(ctx context.Context) error {
	for _, i := range m.anyOrder() {
		c := &m.log[i]
		if !m.lacks(moved) {
			return nil
		}
		if !slices.Contains(c.other, dependencyFiles[0]) || len(c.tests) == 0 || len(c.product)+len(c.tests) > mostPaths {
			continue
		}
		if err := m.candidate(ctx, history.Regression, "moved "+c.id, func() error { return because("moved", m.unmove(ctx, c)) }); err != nil {
			return err
		}
	}
	return nil
}

func (m *Miner) unmove(ctx context.Context, c *commit) error {
	base := history.Tree{Start: c.id}
	head := history.Tree{Start: c.id, Steps: []history.Step{{Take: c.parent, Paths: dependencyFiles}}}
	failures, _, err := m.broken(ctx, &head, &base, c.tests)
	if err != nil {
		return err
	}
	f := failures[pick(c.id, uint32(len(failures)))]
	return m.keep(ctx, &history.Case{
		ID: idOf(m.Name, history.Regression, c.id, f.report.Group, f.report.Test), Kind: history.Regression, Traps: []history.Trap{history.Moved}, Failure: f.report,
		Trees: map[history.Role]history.Tree{history.Base: base, history.Head: head},
	}, f.unit)
}

// moveBack takes the dependencies of an older commit, which no history has in this tree.
func (m *Miner) moveBack(ctx context.Context, p *pair) error {
	for _, far := range []int{10, 30, 80, 200, 400} {
		if p.at+far >= len(m.log) || !m.lacks(moved) {
			return nil
		}
		head := history.Tree{Start: p.id, Steps: []history.Step{{Take: m.log[p.at+far].id, Paths: dependencyFiles}}}
		commit, err := m.repository.Make(ctx, &head)
		if err != nil {
			return err
		}
		if same, err := m.repository.Git(ctx, "diff", "--name-only", p.id, commit, "--", dependencyFiles[0]); err != nil || same == "" {
			continue
		}
		failures, _, err := m.fails(ctx, p, &head)
		if err != nil {
			return err
		}
		if len(failures) == 0 {
			continue
		}
		f := failures[pick(p.id, uint32(len(failures)))]
		if kept, err := m.plant(ctx, moved, f, history.Tree{Start: p.id}, head, manyRuns); kept || err != nil {
			return err
		}
	}
	return nil
}
