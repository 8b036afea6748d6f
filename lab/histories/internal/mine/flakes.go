package mine

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// aFlake are words of messages that tell of flaky tests.
var aFlake = []string{"flak", "deflake", "race condition", "data race", "intermittent", "nondeterminis", "non-determinis", "unreliable", "sporadic", "timing", "racy"}

// earlier is how many commits before a flaky tree its base is.
const earlier = 5

// stress are the ways in which a flaky test is looked for: it may need load, other tests, or many runs.
func stress(among []string) []surroundings {
	const limit = 12 * time.Second
	list := []surroundings{{times: 3, starve: true, limit: limit}, {shuffle: 1, limit: limit}, {shuffle: 2, limit: limit}}
	if len(among) > 0 {
		list = append([]surroundings{{times: 60, among: among, limit: limit}, {times: 20, among: among, starve: true, limit: limit}}, list...)
	}
	return list
}

// hunk is the heading of a piece of a diff, with the function that it lies in.
var hunk = regexp.MustCompile(`(?m)^@@ [^@]*@@.*?((?:Test|test_)\w+)`)

// touched are the functions of tests that a commit changed.
func (m *Miner) touched(ctx context.Context, c *commit) ([]string, error) {
	if len(c.tests) == 0 {
		return nil, nil
	}
	diff, err := m.repository.Git(ctx, append([]string{"diff", "-U0", c.parent, c.id, "--"}, c.tests...)...)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, found := range hunk.FindAllStringSubmatch(diff, -1) {
		if !slices.Contains(names, found[1]) {
			names = append(names, found[1])
		}
	}
	return names, nil
}

// flakes looks for commits that mend flaky tests, for the tests in the tree before, and for the commits from which on they were flaky.
func (m *Miner) flakes(ctx context.Context) error {
	for i := range m.log {
		c := &m.log[i]
		if !m.wants(history.Flaky, history.MadeFlaky) {
			return nil
		}
		if len(c.product)+len(c.tests) == 0 || len(c.product)+len(c.tests) > mostPaths || !c.says(aFlake...) {
			continue
		}
		if err := m.candidate(ctx, history.Flaky, c.id, func() error { return m.flake(ctx, i) }); err != nil {
			return err
		}
	}
	return nil
}

func (m *Miner) flake(ctx context.Context, at int) error {
	c := &m.log[at]
	head := history.Tree{Start: c.parent}
	units, err := m.units(ctx, &head, slices.Concat(c.tests, c.product))
	if err != nil {
		return err
	}
	if len(units) == 0 || len(units) > mostUnits {
		return dropped(noUnits)
	}
	passed, failed, order := map[string]bool{}, map[string]failure{}, map[string]bool{}
	among, err := m.touched(ctx, c)
	if err != nil {
		return err
	}
	for _, in := range stress(among) {
		if len(failed) > 0 && in.shuffle != 0 {
			break
		}
		all, err := m.runTree(ctx, &head, units, in)
		if err != nil {
			return err
		}
		for unit, o := range all {
			for test := range o.passed {
				passed[unit+" "+test] = true
			}
			for test, report := range o.failed {
				if _, ok := failed[unit+" "+test]; !ok {
					failed[unit+" "+test] = failure{unit, report}
					order[unit+" "+test] = in.shuffle != 0
				}
			}
		}
	}
	var names []string
	for name := range failed {
		if passed[name] {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return dropped("no test both passes and fails")
	}
	slices.Sort(names)
	for _, name := range names[:min(2, len(names))] {
		if err := m.flakeOf(ctx, at, failed[name], order[name]); err != nil {
			return err
		}
	}
	return nil
}

// flakeOf makes the cases of one flaky test.
func (m *Miner) flakeOf(ctx context.Context, at int, f failure, order bool) error {
	first, ok := m.at[m.log[at].parent]
	if !ok || first+earlier >= len(m.log) {
		return dropped("it is the oldest commit")
	}
	red := &m.log[first]
	var traps []history.Trap
	if order {
		traps = append(traps, history.OrderMatters)
	}
	if m.wants(history.Flaky) {
		base := &m.log[first+1+int(pick(red.id, earlier))]
		c := &history.Case{
			ID: idOf(m.Name, history.Flaky, red.id, f.report.Group, f.report.Test), Kind: history.Flaky, Fix: m.log[at].id, Failure: f.report, Traps: append(slices.Clone(traps), history.Rare),
			Trees: map[history.Role]history.Tree{history.Base: {Start: base.id, Commit: base.id}, history.Head: {Start: red.id, Commit: red.id}},
		}
		if err := m.candidate(ctx, history.Flaky, "of "+c.ID, func() error { return m.keep(ctx, c) }); err != nil {
			return err
		}
	}
	if !m.wants(history.MadeFlaky) {
		return nil
	}
	came, err := m.introduced(ctx, red.id, f)
	if err != nil {
		return err
	}
	c := &history.Case{
		ID: idOf(m.Name, history.MadeFlaky, came.id, f.report.Group, f.report.Test), Kind: history.MadeFlaky, Fix: m.log[at].id, Culprit: came.id, Failure: f.report, Traps: append(traps, history.Chance),
		Trees: map[history.Role]history.Tree{history.Base: {Start: came.parent, Commit: came.parent}, history.Head: {Start: came.id, Commit: came.id}},
	}
	return m.candidate(ctx, history.MadeFlaky, "of "+c.ID, func() error { return m.keep(ctx, c) })
}

// introduced is the commit that brought a test, or of a row of a table the row, as far as its name stands in a text.
func (m *Miner) introduced(ctx context.Context, before string, f failure) (*commit, error) {
	top, row, _ := strings.Cut(f.report.Test, "/")
	texts := []string{m.suite.declares(top)}
	if row != "" {
		row = row[strings.LastIndexByte(row, '/')+1:]
		texts = []string{`"` + strings.ReplaceAll(row, "_", " ") + `"`, `"` + row + `"`, texts[0]}
	}
	for _, text := range texts {
		out, err := m.repository.Git(ctx, "log", "--first-parent", "-m", "--format=%H", "--reverse", "-S", text, before, "--", ".")
		if err != nil {
			return nil, err
		}
		for id := range strings.FieldsSeq(out) {
			if i, ok := m.at[id]; ok {
				return &m.log[i], nil
			}
			return nil, dropped("the test came before what is looked at")
		}
	}
	return nil, dropped("no commit brought the test")
}
