package mine

import (
	"context"
	"regexp"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

var reverted = regexp.MustCompile(`This reverts commit ([0-9a-f]{12,40})`)

// reverts looks for commits that name one that they revert, and for a test that the reverted one broke.
func (m *Miner) reverts(ctx context.Context) error {
	for i := range m.log {
		if !m.wants(history.Revert) {
			return nil
		}
		named := reverted.FindStringSubmatch(m.log[i].body)
		if named == nil {
			continue
		}
		at := slices.IndexFunc(m.log, func(c commit) bool { return len(named[1]) <= len(c.id) && c.id[:len(named[1])] == named[1] })
		if at < i {
			continue // it is not on the main line
		}
		if err := m.candidate(ctx, history.Revert, m.log[i].id, func() error { return m.revert(ctx, i, at) }); err != nil {
			return err
		}
	}
	return nil
}

// revert runs the tests around what a commit changed, as they are behind its revert: they may have been added with it.
func (m *Miner) revert(ctx context.Context, revert, at int) error {
	c := &m.log[at]
	if len(c.product) == 0 || len(c.product) > mostPaths {
		return dropped("it has no product, or too much")
	}
	behind := &m.log[revert]
	base, head := history.Tree{Start: c.parent}, history.Tree{Start: c.id}
	if len(behind.tests) > 0 { // the tests of the revert, which show what was wrong
		step := []history.Step{{Take: behind.id, Paths: behind.tests}}
		base.Steps, head.Steps = step, step
	}
	failures, _, err := m.broken(ctx, &head, &base, slices.Concat(c.product, c.tests, behind.tests))
	if err != nil {
		return err
	}
	f := failures[pick(c.id, uint32(len(failures)))]
	return m.keep(ctx, &history.Case{
		ID: idOf(m.Name, history.Revert, c.id, f.report.Group, f.report.Test), Kind: history.Revert, Fix: behind.id, Culprit: c.id, Failure: f.report,
		Trees: map[history.Role]history.Tree{history.Base: base, history.Head: head},
	})
}
