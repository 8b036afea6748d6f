package source

import (
	"path"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/internal/testcode"
)

// section is a declaration or a block of a test file, with the decorators and annotations that belong to it.
type section struct {
	key, name   string // the key tells sections of one file apart, with what stands around them
	first, last int
	// same: the other revision has it with the same code, wherever it stands there.
	same bool
}

// sections are those of a test file that changed, now and in the revision. Lines that a diff shows as added or removed may belong to a
// neighbour: a section has changed only if its own code differs.
type sections struct{ now, old []section }

// sectionsOf compares the sections of a changed test file, once; nil for files that did not change and those that can't be parted.
func (t *Tree) sectionsOf(file string) *sections {
	old, changed := t.oldTests[file]
	if !changed {
		return nil
	}
	return t.sections.of(file, func() *sections {
		now, err := t.read(file)
		if err != nil {
			return nil
		}
		p := &sections{now: sectionsIn(file, now), old: sectionsIn(file, old)}
		if len(p.now) == 0 {
			return nil
		}
		p.compare(file, splitLines(string(now)), splitLines(string(old)))
		return p
	})
}

func sectionsIn(file string, text []byte) []section {
	var list []section
	seen := map[string]int{}
	add := func(key, name string, first, last int) {
		seen[key]++
		list = append(list, section{key: strings.Repeat("\x00", seen[key]-1) + key, name: name, first: first, last: last})
	}
	if path.Ext(file) == ".go" {
		for _, d := range declarations(file, text) {
			add(d.receiver+" "+strings.Join(d.names, " "), lastPart(d.names[0]), d.first, d.last)
		}
		return list
	}
	if code := testcode.Parse(file, text); code != nil {
		for i := range code.Blocks {
			if b := &code.Blocks[i]; b.Callable {
				names := []string{b.Name}
				for k := b.Parent; k >= 0; k = code.Blocks[k].Parent {
					names = append(names, code.Blocks[k].Name)
				}
				add(strings.Join(names, " in "), b.Name, b.First, b.Last)
			}
		}
	}
	return list
}

func (p *sections) compare(file string, now, old []string) {
	for i := range p.now {
		a := &p.now[i]
		for j := range p.old {
			b := &p.old[j]
			if a.key == b.key && sameCode(file, strings.Join(now[a.first-1:min(a.last, len(now))], "\n"), strings.Join(old[b.first-1:min(b.last, len(old))], "\n")) {
				a.same, b.same = true, true
			}
		}
	}
}

// sameCode says whether two sections of a file are the same but for comments and formatting.
func sameCode(file, a, b string) bool {
	if a == b {
		return true
	}
	before, ok := tokensOf(file, []byte(a))
	after, also := tokensOf(file, []byte(b))
	return ok && also && sameText(before, after)
}

// at is the innermost section at a line.
func (p *sections) at(line int) *section {
	var best *section
	for i := range p.now {
		if q := &p.now[i]; q.first <= line && line <= q.last && (best == nil || q.first >= best.first) {
			best = q
		}
	}
	return best
}

// untouched says whether a function of the file, at these lines, is what it was in the revision.
func (p *sections) untouched(f function) bool {
	return p != nil && slices.ContainsFunc(p.now, func(q section) bool {
		return q.same && f.first <= q.last && q.first <= f.last && lastPart(f.name) == q.name
	})
}

// lineSet are lines of a file, by their numbers.
type lineSet map[int]bool

func (l lineSet) add(first, last int) {
	for ; first <= last; first++ {
		l[first] = true
	}
}

// usedLines are the lines of what the failing tests use and what differs, now and in the revision.
type usedLines struct{ now, old lineSet }

// within cuts a hunk to the lines of what the failing tests use; nil if none of it is there. Where that is not known, it is the hunk.
func (s *scope) within(c *Change, h *Hunk) *Hunk {
	used := s.usedLines(c.Path)
	if used == nil {
		if s.uses.hunk(s.tree, c.Path, h) {
			return h
		}
		return nil
	}
	cut := *h
	cut.Removed, cut.Added, cut.OldLines, cut.NewLines = nil, nil, 0, 0
	for i, line := range h.Removed {
		if used.old[h.OldFirst+i] {
			cut.Removed = append(cut.Removed, line)
		}
	}
	for i, line := range h.Added {
		if used.now[h.NewFirst+i] {
			if cut.Added == nil {
				cut.NewFirst = h.NewFirst + i
			}
			cut.Added = append(cut.Added, line)
		}
	}
	cut.OldLines, cut.NewLines = len(cut.Removed), len(cut.Added)
	if cut.OldLines+cut.NewLines == 0 {
		return nil
	}
	return &cut
}

// usedLines gives nil where it is not known what the tests use of a file.
func (s *scope) usedLines(file string) *usedLines {
	return s.used.of(file, func() *usedLines { return s.usedOf(file) })
}

func (s *scope) usedOf(file string) *usedLines {
	p := s.tree.sectionsOf(file)
	if p == nil {
		return nil
	}
	used := &usedLines{lineSet{}, lineSet{}}
	if path.Ext(file) == ".go" {
		if s.uses == nil {
			return nil
		}
		keys := map[string]bool{}
		for _, q := range p.now {
			if keys[q.key] = s.uses[file][q.first]; keys[q.key] && !q.same {
				used.now.add(q.first, q.last)
			}
		}
		for _, q := range p.old {
			if keys[q.key] && !q.same {
				used.old.add(q.first, q.last)
			}
		}
		return used
	}
	found := s.tree.located(file, &s.tests)
	if found == nil {
		return nil
	}
	now := found.now.Uses(found.index)
	var old []testcode.Piece
	if found.before >= 0 {
		old = found.old.Uses(found.before)
	}
	for _, side := range []struct {
		of, other []testcode.Piece
		to        lineSet
	}{{now, old, used.now}, {old, now, used.old}} {
		for _, piece := range side.of {
			if slices.ContainsFunc(side.other, func(q testcode.Piece) bool { return q.Name == piece.Name && sameCode(file, q.Text, piece.Text) }) {
				continue
			}
			for _, line := range piece.Lines {
				side.to[line] = true
			}
		}
	}
	return used
}

// locatedTest is a failing test in the blocks of its file, now and in the revision.
type locatedTest struct {
	name          string
	now, old      *testcode.File
	index, before int // of its blocks; before is -1 where the revision does not have it
}

// located finds a failing test in a file of another language than Go.
func (t *Tree) located(file string, tests *failing) *locatedTest {
	data, err := t.read(file)
	if err != nil || !slices.Contains(tests.files, file) {
		return nil
	}
	now := testcode.Parse(file, data)
	if now == nil {
		return nil
	}
	for _, name := range append([]string{tests.subject}, tests.names...) {
		index, _, ok := now.Find(tests.class, name)
		if name == "" || !ok {
			continue
		}
		l := &locatedTest{name: now.Blocks[index].Name, now: now, index: index, before: -1}
		if old, ok := t.oldTests[file]; ok {
			l.old = testcode.Parse(file, old)
			if before, _, ok := l.old.Find(tests.class, name); ok {
				l.before = before
			} else if before, _, ok := l.old.Find(tests.class, l.name); ok { // the rows had other names
				l.before = before
			}
		}
		return l
	}
	return nil
}

// ownTest is the failing test of a file in another language than Go: new or changed by its own code.
func (t *Tree) ownTest(file string, tests *failing) (Test, bool) {
	l := t.located(file, tests)
	if l == nil {
		return Test{}, false
	}
	test := Test{Name: l.name, Path: file}
	if t.change(file) == nil || l.old == nil {
		return test, true
	}
	if l.before < 0 {
		test.Changed = true
		test.New = !t.elsewhereBefore(file, tests, l.name)
		return test, true
	}
	test.Changed = !sameCode(file, l.now.Uses(l.index)[0].Text, l.old.Uses(l.before)[0].Text)
	return test, true
}

// elsewhereBefore says whether the revision has a test in another file of the same folder, from which it was moved.
func (t *Tree) elsewhereBefore(file string, tests *failing, name string) bool {
	for other, old := range t.oldTests {
		if path.Dir(other) != path.Dir(file) || other == file {
			continue
		}
		if code := testcode.Parse(other, old); code != nil {
			for _, wanted := range []string{tests.subject, name} {
				if _, _, ok := code.Find(tests.class, wanted); ok {
					return true
				}
			}
		}
	}
	return false
}
