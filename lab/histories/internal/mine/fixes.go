package mine

import (
	"context"
	"hash/fnv"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// mostPaths is the most of a commit that is looked at: larger ones are seldom one fix.
const mostPaths = 25

// mostUnits is how many packages of a commit are run.
const mostUnits = 3

// fixes looks for commits that changed product and tests. What one of them was for is seen where only one half of it is there: with the
// tests alone a bug fails them, and with the product alone what they held to is no longer so.
func (m *Miner) fixes(ctx context.Context) error {
	for i := range m.log {
		c := &m.log[i]
		if len(c.product) == 0 || len(c.tests) == 0 || len(c.product)+len(c.tests) > mostPaths || !m.near(c) {
			continue
		}
		shown, held := []history.Kind{history.Regression, history.NewTest, history.RedBase}, []history.Kind{history.Stale, history.Conflict}
		if !m.wants(slices.Concat(shown, held)...) {
			return nil
		}
		d, err := m.differs(ctx, c)
		if err != nil {
			return err
		}
		for _, half := range []struct {
			kinds []history.Kind
			why   dropped // why nothing comes of it
			look  func() error
		}{
			{shown, d.added, func() error { return m.fix(ctx, shown, c) }},
			{held, d.removed, func() error { return m.heldTo(ctx, c) }},
		} {
			if !m.wants(half.kinds...) {
				continue
			}
			err := m.candidate(ctx, half.kinds[0], c.id+" halves", func() error {
				if half.why != "" {
					return half.why
				}
				return half.look()
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// declared is a declaration of Go in a line of a diff.
var declared = regexp.MustCompile(`^[+-]\s*(?:func (?:\([^)]*\) )?|type |var |const |package )?([A-Za-z_]\w*)(?:\[[^\]]*\])?(?:\(| struct| interface| =|\s+[\w*\[\].]+(?:\s+` + "`" + `|\s*$|\s*//))`)

// declaredInJava is a declaration of Java in a line of a diff.
var declaredInJava = regexp.MustCompile(`^[+-]\s*(?:(?:public|protected|private|static|final|abstract|default|class|interface|enum)\s+)+[\w<>\[\],.? ]*?(\w+)\s*(?:[({;=]|$)`)

// declaration finds the name that a line of a diff declares, in languages whose tests do not build without it.
func (m *Miner) declaration(line string) (name string, ok bool) {
	of := map[string]*regexp.Regexp{"go": declared, "surefire": declaredInJava}[m.suite.name()]
	if of == nil || heads(line) {
		return "", false
	}
	found := of.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
	if found == nil {
		return "", false
	}
	return found[1], true
}

// differing is what the diff of a commit tells of its halves: why nothing comes of one without the other; empty where that isn't clear.
type differing struct{ added, removed dropped }

// Why nothing comes of a half.
const (
	notBuilt dropped = "tests use what the other half names"
	settled  dropped = "no test held to another value"
)

// literal is a value in a line of code.
var literal = regexp.MustCompile(`["` + "`'" + `0-9]|\b(?:nil|true|false|None|True|False)\b`)

// differs reads the diff of a commit. Tests that use names which its product declares for the first time do not build without it, nor do
// tests before it that used names which it no longer declares; and where no line with a value left the tests, they hold to nothing else
// than before. It reads lines and may err, to either side.
func (m *Miner) differs(ctx context.Context, c *commit) (d differing, err error) {
	product, err := m.repository.Git(ctx, append([]string{"diff", "-U0", c.parent, c.id, "--"}, c.product...)...)
	if err != nil {
		return d, err
	}
	tests, err := m.repository.Git(ctx, append([]string{"diff", "-U0", c.parent, c.id, "--"}, c.tests...)...)
	if err != nil {
		return d, err
	}
	names := map[byte]map[string]bool{'+': {}, '-': {}}
	for line := range strings.Lines(product) {
		if name, ok := m.declaration(line); ok {
			names[line[0]][name] = true
		}
	}
	d.removed = settled
	for line := range strings.Lines(tests) {
		sign := line[0]
		if sign != '+' && sign != '-' || heads(line) {
			continue
		}
		if sign == '-' && literal.MatchString(line) && d.removed == settled {
			d.removed = ""
		}
		other := names['+'+'-'-sign]
		for _, word := range word.FindAllString(line, -1) {
			switch {
			case !names[sign][word] || other[word]:
			case sign == '+':
				d.added = notBuilt
			default:
				d.removed = notBuilt
			}
		}
	}
	return d, nil
}

// heads says whether a line of a diff is one of those that name a file.
func heads(line string) bool {
	return strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- ")
}

var word = regexp.MustCompile(`[A-Za-z_]\w*`)

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

// fix makes the cases of a commit whose tests fail without its product: up to one of each kind.
func (m *Miner) fix(ctx context.Context, kinds []history.Kind, c *commit) error {
	fixed := history.Tree{Start: c.id}
	head := history.Tree{Start: c.parent, Steps: []history.Step{{Take: c.id, Paths: c.tests}}}
	failures, broken, err := m.broken(ctx, &head, &fixed, c.tests)
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		if !m.wants(kind) {
			continue
		}
		f := failures[pick(c.id+string(kind), uint32(len(failures)))]
		base, head := fixed, head
		switch kind {
		case history.Regression:
			head = history.Tree{Start: c.id, Steps: []history.Step{{Take: c.parent, Paths: c.product}}}
		case history.NewTest:
			base = history.Tree{Start: c.parent}
		case history.RedBase: // the bug was there some commits before, too
			base = history.Tree{Start: m.before(c), Steps: head.Steps}
		}
		one := &history.Case{
			ID: idOf(m.Name, kind, c.id, f.report.Group, f.report.Test), Kind: kind, Fix: c.id, Failure: f.report,
			Trees: map[history.Role]history.Tree{history.Base: base, history.Head: head},
		}
		if manyRows(broken[f.unit], f.report.Test) {
			one.Traps = append(one.Traps, history.ManyRows)
		}
		if err := m.keepOf(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// heldTo makes the cases of a commit whose product fails the tests as they were before it: tests that were not changed with it are stale,
// and where they came shortly before, the change and they may have been made beside each other.
func (m *Miner) heldTo(ctx context.Context, c *commit) error {
	before := history.Tree{Start: c.parent}
	head := history.Tree{Start: c.parent, Steps: []history.Step{{Take: c.id, Paths: c.product}}}
	failures, broken, err := m.broken(ctx, &head, &before, c.tests)
	if err != nil {
		return err
	}
	f := failures[pick(c.id+string(history.Stale), uint32(len(failures)))]
	stale := &history.Case{
		ID: idOf(m.Name, history.Stale, c.id, f.report.Group, f.report.Test), Kind: history.Stale, Fix: c.id, Failure: f.report,
		Trees: map[history.Role]history.Tree{history.Base: before, history.Head: head},
	}
	if manyRows(broken[f.unit], f.report.Test) {
		stale.Traps = append(stale.Traps, history.ManyRows)
	}
	if err := m.keepOf(ctx, stale); err != nil {
		return err
	}
	if !m.wants(history.Conflict) {
		return nil
	}
	f = failures[pick(c.id+string(history.Conflict), uint32(len(failures)))]
	came, err := m.introduced(ctx, c.parent, f)
	if err != nil {
		return nil //nolint:nilerr // the test is older than what is looked at: there is no such case
	}
	return m.keepOf(ctx, &history.Case{
		ID: idOf(m.Name, history.Conflict, c.id, f.report.Group, f.report.Test), Kind: history.Conflict, Fix: c.id, Culprit: c.id, Failure: f.report,
		Trees: map[history.Role]history.Tree{
			history.Base:   {Start: came.parent},
			history.Head:   {Start: came.parent, Steps: []history.Step{{Pick: c.id, Paths: c.product}}},
			history.Target: before,
			history.Merge:  head,
		},
	})
}

// keepOf makes the trees of a case and keeps it, if cases of its kind are wanted and its fix has made none of them.
func (m *Miner) keepOf(ctx context.Context, c *history.Case) error {
	if !m.wants(c.Kind) || slices.ContainsFunc(m.found.Cases, func(o history.Case) bool { return o.Kind == c.Kind && o.Fix == c.Fix && !o.Planted }) {
		return nil
	}
	return m.candidate(ctx, c.Kind, "of "+c.ID, func() error {
		for role, t := range c.Trees {
			var err error
			if t.Commit, err = m.repository.Make(ctx, &t); err != nil {
				return dropped(string(role) + " can't be made")
			}
			c.Trees[role] = t
		}
		return m.keep(ctx, c)
	})
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

// manyRows says whether a test is one of a few failing rows of very many: a subtest of Go, or a test of pytest with parameters.
func manyRows(o *outcome, test string) bool {
	at := strings.IndexAny(test, "/[")
	if at < 0 {
		return false
	}
	table, rows, failed := test[:at+1], 0, 0
	for name := range o.passed {
		if strings.HasPrefix(name, table) {
			rows++
		}
	}
	for name := range o.failed {
		if strings.HasPrefix(name, table) {
			rows, failed = rows+1, failed+1
		}
	}
	return rows >= many && failed*tenth <= rows
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
