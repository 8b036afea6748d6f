package mine

import (
	"context"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// farthest is how many commits back the last green one is looked for.
const farthest = 96

// aMend are words of messages that tell of a test that was red.
var aMend = []string{"fix", "fail", "broken", "broke", "repair", "correct", "adjust", "adapt", "update", "stale", "outdated", "wrong"}

// mends looks for commits that changed tests alone and made one pass that failed before: stale or wrong tests, and what lies between
// the commit that broke a test and the one that mended it.
func (m *Miner) mends(ctx context.Context) error {
	for i := range m.log {
		c := &m.log[i]
		if len(c.product) > 0 || len(c.tests) == 0 || len(c.tests) > mostPaths || !c.says(aMend...) {
			continue
		}
		if !m.wants(history.Stale, history.Conflict) {
			return nil
		}
		if err := m.candidate(ctx, history.Stale, c.id, func() error { return m.mend(ctx, i) }); err != nil {
			return err
		}
	}
	return nil
}

func (m *Miner) mend(ctx context.Context, at int) error {
	c := &m.log[at]
	red, green := history.Tree{Start: c.parent}, history.Tree{Start: c.id}
	failures, _, err := m.broken(ctx, &red, &green, c.tests)
	if err != nil {
		return err
	}
	f := failures[pick(c.id, uint32(len(failures)))]
	again, err := m.runTree(ctx, &red, []string{f.unit}, surroundings{})
	if err != nil {
		return err
	}
	if _, fails := again[f.unit].failed[f.report.Test]; !fails {
		return dropped("the test is flaky")
	}
	return m.interval(ctx, at, f)
}

// interval makes the cases of a test that the commit at a place of the log mended.
func (m *Miner) interval(ctx context.Context, at int, f failure) error {
	first := m.at[m.log[at].parent]
	good, bad, err := m.culprit(ctx, first, f)
	if err != nil {
		return err
	}
	red := &m.log[first]
	culprit := &m.log[bad]
	stale := &history.Case{
		ID: idOf(m.Name, history.Stale, red.id, f.report.Group, f.report.Test), Kind: history.Stale, Fix: m.log[at].id, Culprit: culprit.id, Failure: f.report,
		Trees: map[history.Role]history.Tree{
			history.Base: {Start: m.log[good].id, Commit: m.log[good].id}, history.Head: {Start: red.id, Commit: red.id},
		},
	}
	if good-first > 1 {
		stale.Traps = append(stale.Traps, history.FarBase)
	}
	keep := func(c *history.Case) error {
		if !m.wants(c.Kind) {
			return nil
		}
		return m.candidate(ctx, c.Kind, "of "+c.ID, func() error { return m.keep(ctx, c, f.unit) })
	}
	if err := keep(stale); err != nil {
		return err
	}
	if bad > first {
		between := &history.Case{
			ID: idOf(m.Name, history.RedBase, red.id, f.report.Group, f.report.Test), Kind: history.RedBase, Fix: m.log[at].id, Culprit: culprit.id, Failure: f.report,
			Trees: map[history.Role]history.Tree{
				history.Base: {Start: culprit.id, Commit: culprit.id}, history.Head: {Start: red.id, Commit: red.id},
			},
		}
		if err := keep(between); err != nil {
			return err
		}
	}
	return m.conflict(ctx, good, bad, f, keep)
}

// culprit finds the first of the commits since which a test fails, by the places of it and of its parent in the log. The parent has the
// test and passes it.
func (m *Miner) culprit(ctx context.Context, first int, f failure) (good, bad int, err error) {
	state := func(i int) (string, error) {
		t := history.Tree{Start: m.log[i].id}
		all, err := m.runTree(ctx, &t, []string{f.unit}, surroundings{only: f.report.Test})
		if err != nil {
			return "", err
		}
		o := all[f.unit]
		switch _, failed := o.failed[f.report.Test]; {
		case o.problem != "":
			return "not built", nil
		case failed:
			return "red", nil
		case o.passed[f.report.Test]:
			return "green", nil
		}
		return "absent", nil
	}
	bad, good = first, -1
	for step := 1; good < 0; step *= 2 {
		i := first + step
		if step > farthest || i >= len(m.log) {
			return 0, 0, dropped("no green ancestor is near")
		}
		s, err := state(i)
		switch {
		case err != nil:
			return 0, 0, err
		case s == "red":
			bad = i
		case s == "green":
			good = i
		default:
			good = i // refined below: between here and bad, where the test came to be, may be a green one
		}
	}
	for good-bad > 1 {
		middle := (good + bad) / 2
		s, err := state(middle)
		if err != nil {
			return 0, 0, err
		}
		if s == "red" {
			bad = middle
		} else {
			good = middle
		}
	}
	if s, err := state(good); err != nil || s != "green" {
		if err == nil {
			err = dropped("the test failed from its first commit on")
		}
		return 0, 0, err
	}
	return good, bad, nil
}

// conflict makes a case of two changes that pass apart: the culprit on a tree that lacks an earlier change to the test, or to what the
// culprit meets.
func (m *Miner) conflict(ctx context.Context, good, bad int, f failure, keep func(*history.Case) error) error {
	const reach = 40
	culprit := &m.log[bad]
	for i := good; i < min(good+reach, len(m.log)) && m.wants(history.Conflict); i++ {
		other := &m.log[i]
		if !slices.ContainsFunc(other.tests, func(p string) bool { return slices.Contains(m.suite.units(m.folder(), []string{p}), f.unit) }) {
			continue
		}
		c := &history.Case{
			ID: idOf(m.Name, history.Conflict, culprit.id, f.report.Group, f.report.Test), Kind: history.Conflict, Culprit: culprit.id, Failure: f.report,
			Trees: map[history.Role]history.Tree{
				history.Base:   {Start: other.parent, Commit: other.parent},
				history.Head:   {Start: other.parent, Steps: []history.Step{{Pick: culprit.id}}},
				history.Target: {Start: culprit.parent, Commit: culprit.parent},
				history.Merge:  {Start: culprit.id, Commit: culprit.id},
			},
		}
		head := c.Trees[history.Head]
		commit, err := m.repository.Make(ctx, &head)
		if err != nil {
			return nil //nolint:nilerr // the change can't be made without the other: there is no such case
		}
		head.Commit = commit
		c.Trees[history.Head] = head
		return keep(c)
	}
	return nil
}
