package mine

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// wanted is what is planted: a kind with a trap.
type wanted struct {
	Kind history.Kind
	Trap history.Trap
}

// planting is the kind under which it is counted why nothing could be planted on a commit.
const planting history.Kind = "planted"

var (
	withChance    = wanted{history.MadeFlaky, history.Chance}
	worse         = wanted{history.MadeFlaky, history.WorseFlake}
	rare          = wanted{history.Flaky, history.Rare}
	otherOnBase   = wanted{history.Regression, history.OtherOnBase}
	innocentFrame = wanted{history.RedBase, history.InnocentDiff}
	fewRows       = wanted{history.Regression, history.ManyRows}
	byOrder       = wanted{history.Regression, history.OrderMatters}
	untrackedFile = wanted{history.Regression, history.Untracked}
)

// plantedQuota is how many planted cases are wanted of a repository.
var plantedQuota = map[wanted]int{withChance: 3, worse: 2, rare: 3, otherOnBase: 2, innocentFrame: 2, fewRows: 2, byOrder: 2, untrackedFile: 2}

// lacks says whether there are too few planted cases of something yet.
func (m *Miner) lacks(of ...wanted) bool {
	return m.inTime() && slices.ContainsFunc(of, func(w wanted) bool {
		n := 0
		for i := range m.found.Cases {
			if c := &m.found.Cases[i]; c.Kind == w.Kind && c.Planted && slices.Contains(c.Traps, w.Trap) {
				n++
			}
		}
		return n < plantedQuota[w]
	})
}

// plants plants on real changes: pairs of commits of which both pass.
func (m *Miner) plants(ctx context.Context) error {
	looks := []struct {
		look func(context.Context, *pair) error
		of   []wanted
	}{
		{m.plantChance, []wanted{withChance, worse, rare}},
		{m.plantMistakes, []wanted{otherOnBase, innocentFrame, fewRows}},
		{m.plantStates, []wanted{byOrder, untrackedFile}},
	}
	for _, i := range m.anyOrder() {
		var all []wanted
		for _, l := range looks {
			all = append(all, l.of...)
		}
		if !m.lacks(all...) {
			return nil
		}
		c := &m.log[i]
		if len(c.product) == 0 || len(c.tests) == 0 || len(c.product)+len(c.tests) > mostPaths || !m.near(c) {
			continue
		}
		err := m.candidate(ctx, planting, c.id, func() error {
			p, err := m.pair(ctx, i)
			for _, l := range looks {
				if err == nil && m.lacks(l.of...) {
					err = l.look(ctx, p)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pair is a real change on which something is planted: the trees before and behind it, and what a package of them does.
type pair struct {
	id         string
	at         int // of the log
	base, head history.Tree
	unit       string
	before     *outcome // of base
	behind     *outcome // of head
	changed    []string
}

// pair takes the change of a commit, or of it and some before it.
func (m *Miner) pair(ctx context.Context, at int) (*pair, error) {
	c := &m.log[at]
	p := &pair{id: c.id, at: at, base: history.Tree{Start: c.parent}, head: history.Tree{Start: c.id}}
	if first, ok := m.at[c.parent]; ok {
		p.base.Start = m.log[min(first+int(pick(c.id, earlier)), len(m.log)-1)].id
	}
	units, err := m.units(ctx, &p.head, c.tests)
	if err != nil {
		return nil, err
	}
	if len(units) == 0 || len(units) > mostUnits {
		return nil, dropped(noUnits)
	}
	p.unit = units[pick(c.id, uint32(len(units)))]
	for _, t := range []struct {
		tree *history.Tree
		to   **outcome
	}{{&p.base, &p.before}, {&p.head, &p.behind}} {
		o, err := m.runUnit(ctx, t.tree, p.unit, surroundings{})
		switch {
		case err != nil:
			return nil, err
		case o.problem != "":
			return nil, dropped("a tree does not build or ends")
		case o.wall > slowUnit:
			return nil, dropped("its tests are slow")
		}
		*t.to = o
	}
	paths, err := m.repository.Git(ctx, "diff", "--name-only", "--no-renames", p.base.Commit, p.head.Commit)
	p.changed = strings.Fields(paths)
	return p, err
}

// usable says whether a test passes in both trees, and fast.
func (p *pair) usable(_, test string) bool {
	_, failedBefore := p.before.failed[test]
	_, failedBehind := p.behind.failed[test]
	return p.before.passed[test] && p.behind.passed[test] && !failedBefore && !failedBehind && p.behind.took[test] < fastTest
}

// with gives a tree with something planted.
func with(t history.Tree, p history.Plant) history.Tree {
	return history.Tree{Start: t.Start, Steps: append(slices.Clone(t.Steps), history.Step{Plant: &p})}
}

// products reads the files of the package on head that are not tests, by their paths.
func (m *Miner) products(ctx context.Context, p *pair) (map[string][]byte, error) {
	head := p.head
	folder, err := m.checkout(ctx, &head)
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(p.unit), "*.go"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			files[path.Join(p.unit, filepath.Base(name))] = text
		}
	}
	return files, nil
}

// places lists where a planter plants in the package, in an order that the commit decides.
func (m *Miner) places(ctx context.Context, p *pair, plant history.Plant) ([]history.Plant, error) {
	files, err := m.products(ctx, p)
	if err != nil {
		return nil, err
	}
	var list []history.Plant
	for _, name := range sortedKeys(files) {
		plant.File = name
		list = append(list, placesIn(plant, files[name])...)
	}
	rng := drawn(p.id + plant.Name)
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list, nil
}

// fails runs the package of a tree and lists the usable tests that fail.
func (m *Miner) fails(ctx context.Context, p *pair, t *history.Tree) ([]failure, *outcome, error) {
	o, err := m.runUnit(ctx, t, p.unit, surroundings{})
	if err != nil || o.problem != "" {
		return nil, o, err
	}
	return failuresOf(map[string]*outcome{p.unit: o}, p.usable), o, nil
}

// plant keeps a case with what is planted, if its runs show what they should. It says whether they did.
func (m *Miner) plant(ctx context.Context, w wanted, f failure, base, head history.Tree, runs int) (bool, error) {
	for _, t := range []*history.Tree{&base, &head} {
		commit, err := m.repository.Make(ctx, t)
		if err != nil {
			return false, nil //nolint:nilerr // the other tree has no such place
		}
		t.Commit = commit
	}
	c := &history.Case{
		ID: idOf(m.Name, w.Kind, head.Commit, f.report.Group, f.report.Test), Kind: w.Kind, Planted: true, Traps: []history.Trap{w.Trap}, Failure: f.report,
		Trees: map[history.Role]history.Tree{history.Base: base, history.Head: head},
	}
	kept := false
	err := m.candidate(ctx, w.Kind, "of "+c.ID, func() error {
		err := m.keepWith(ctx, c, runs)
		kept = err == nil
		return because("planted, "+string(w.Trap), err)
	})
	return kept, err
}
