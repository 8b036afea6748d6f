package source

import (
	"path"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

const (
	maxShownLines = 6
	maxIntents    = 8
	leastName     = 4 // of a function that is looked for in prose
)

// Shown is a hunk as people see it: at most six lines, and the commit that made it if it is known.
type Shown struct {
	Line   int
	Text   string
	Commit *Commit
}

// Intent is something that tells that a change was meant.
type Intent struct {
	Kind  abi.IntentKind
	Path  string // of the file; empty for messages
	Hunk  Shown
	Names []string
}

// shown cuts a hunk to the lines around those that matter most.
func (t *Tree) shown(c *Change, h *Hunk, removed, added int) Shown {
	old, now := solid(h.Removed), solid(h.Added)
	n := min(len(old), max(maxShownLines/2, maxShownLines-len(now)))
	var b strings.Builder
	write := func(sign string, lines []string, around, n int) {
		first := max(0, min(around-n/2, len(lines)-n))
		for _, line := range lines[first:min(first+n, len(lines))] {
			b.WriteString(sign + line + "\n")
		}
	}
	write("-", old, placeOf(h.Removed, removed), n)
	write("+", now, placeOf(h.Added, added), maxShownLines-n)
	return Shown{Line: h.NewFirst, Text: strings.TrimSuffix(b.String(), "\n"), Commit: t.history.of(c.Path, h)}
}

// solid leaves out blank lines and those that look as comments.
func solid(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "//go:") || strings.HasPrefix(line, "/*") || strings.HasPrefix(line, "* ")
	})
}

// placeOf is where line i stands among the lines that are not blank.
func placeOf(lines []string, i int) int { return len(solid(lines[:max(0, min(i, len(lines)))])) }

// nearest is the hunk of a change that is shown: of what the text names the first, else of code.
func (t *Tree) nearest(c *Borne) *Shown {
	var functions []function
	if data, err := t.read(c.Path); err == nil && len(c.Named) > 0 {
		functions = t.functionsOf(c.Path, splitLines(string(data)))
	}
	var best *Hunk
	for i := range c.Hunks {
		h := &c.Hunks[i]
		if !h.Code || len(solid(h.Removed))+len(solid(h.Added)) == 0 {
			continue
		}
		named := slices.ContainsFunc(functions, func(f function) bool {
			return slices.Contains(c.Named, f.name) && h.NewFirst <= f.last && f.first <= h.NewFirst+max(h.NewLines, 1)-1
		})
		if named || best == nil {
			best = h
		}
		if named {
			break
		}
	}
	if best == nil {
		return nil
	}
	s := t.shown(&c.Change, best, 0, 0)
	return &s
}

// intents looks for what tells that the changes which bear on the tests were meant.
func (t *Tree) intents(text string, borne []Borne) []Intent {
	f := &finder{tree: t, text: text, values: comparisons(text)}
	for i := range borne {
		if c := &borne[i]; c.Role == abi.SourceProduct && c.Code() && (c.Reach == abi.ReachPackage || c.Reach == abi.ReachImported) {
			f.product(c)
		}
	}
	for i := range borne {
		switch c := &borne[i]; {
		case (c.Role == abi.SourceTest || c.Role == abi.SourceFixture) && c.Code():
			f.tests(c)
		case c.Role == abi.SourceOther:
			f.document(c)
		}
	}
	return f.found
}

// finder gathers intents, each kind of a file once.
type finder struct {
	tree   *Tree
	text   string
	values []comparison
	names  []string // of the functions that the product's changes touch
	found  []Intent
}

func (f *finder) add(in Intent) {
	if len(f.found) < maxIntents && in.Hunk.Text != "" {
		f.found = append(f.found, in)
	}
}

// product looks for the values in a change of the product, and for the function in the message of its commit.
func (f *finder) product(c *Borne) {
	for _, name := range c.Named {
		if name = lastPart(name); len(name) >= leastName && !slices.Contains(f.names, name) {
			f.names = append(f.names, name)
		}
	}
	if h, names, added, removed := f.swapped(c); h != nil {
		f.add(Intent{abi.IntentValue, c.Path, f.tree.shown(&c.Change, h, removed, added), names})
	}
	for i := range c.Hunks {
		commit := f.tree.history.of(c.Path, &c.Hunks[i])
		if commit == nil || !c.Hunks[i].Code || slices.ContainsFunc(f.found, func(in Intent) bool {
			return in.Kind == abi.IntentMessage && in.Hunk.Commit.Hash == commit.Hash
		}) {
			continue
		}
		if line, names := f.speaksOf(splitLines(commit.Message)); line != "" {
			f.add(Intent{abi.IntentMessage, "", Shown{Text: line, Commit: commit}, names})
		}
	}
}

// tests looks for a change of tests from the wanted value to the one that was got, or the other way round.
func (f *finder) tests(c *Borne) {
	if h, names, added, removed := f.swapped(c); h != nil {
		f.add(Intent{abi.IntentTests, c.Path, f.tree.shown(&c.Change, h, removed, added), names})
	}
	if c.Reach != abi.ReachPackage && c.Reach != abi.ReachImported {
		return
	}
	if h, names := f.asked(c); h != nil {
		f.add(Intent{abi.IntentExpectation, c.Path, f.tree.shown(&c.Change, h, 0, 0), names})
	}
}

// maxAsked bounds the lines of a change that is read for single words.
const maxAsked = 3

// asked finds a hunk that changes lines of the tests in what the text reports: a value that it got or wanted, or a string that
// it quotes.
func (f *finder) asked(c *Borne) (*Hunk, []string) {
	for i := range c.Hunks {
		h := &c.Hunks[i]
		if !h.Code || h.OldLines == 0 || h.NewLines == 0 {
			continue
		}
		for _, text := range append(literals(h.Added, h.Removed), literals(h.Removed, h.Added)...) {
			if strings.Contains(f.text, `"`+text+`"`) || len(text) >= leastTelling && strings.ContainsAny(text, " _-./:") && strings.Contains(f.text, text) {
				return h, []string{text}
			}
		}
		if h.OldLines > maxAsked || h.NewLines > maxAsked {
			continue
		}
		old, now := valueWords(strings.Join(h.Removed, "\n")), valueWords(strings.Join(h.Added, "\n"))
		for _, w := range append(without(now, old), without(old, now)...) {
			for _, v := range f.values {
				if slices.Contains(v.got, w) || slices.Contains(v.want, w) {
					return h, []string{w}
				}
			}
		}
	}
	return nil, nil
}

// document looks for the functions and values in what was added to a document.
func (f *finder) document(c *Borne) {
	switch strings.ToLower(path.Ext(c.Path)) {
	case ".md", ".markdown", ".rst", ".adoc", ".txt", "":
	default:
		return
	}
	for i := range c.Hunks {
		h := &c.Hunks[i]
		if line, names := f.speaksOf(h.Added); line != "" {
			f.add(Intent{abi.IntentDocuments, c.Path, f.tree.shown(&c.Change, h, 0, slices.Index(h.Added, line)), names})
			return
		}
	}
}

// speaksOf finds a line of prose that names a changed function, or a value that was got.
func (f *finder) speaksOf(lines []string) (line string, names []string) {
	for _, line := range lines {
		for _, name := range f.names {
			if standIn([]string{name}, line) {
				return tidy(line), []string{name}
			}
		}
		for _, v := range f.values {
			if got := telling(v.got); len(got) > 1 && standIn(got, line) {
				return tidy(line), got
			}
		}
	}
	return "", nil
}

// swapped finds a hunk that removes what was wanted and adds what was got. Where the words tell little, both must stand there;
// else either is enough, as a string that is part of one value and not of the other.
func (f *finder) swapped(c *Borne) (h *Hunk, names []string, added, removed int) {
	for i := range c.Hunks {
		h := &c.Hunks[i]
		if !h.Code || h.OldLines == 0 || h.NewLines == 0 {
			continue
		}
		for _, v := range f.values {
			added, removed := anyLine(v.got, h.Added), anyLine(v.want, h.Removed)
			// What stands on both sides did not change.
			if anyLine(v.got, h.Removed) >= 0 {
				added = -1
			}
			if anyLine(v.want, h.Added) >= 0 {
				removed = -1
			}
			if added >= 0 && removed >= 0 || added >= 0 && len(telling(v.got)) > 0 || removed >= 0 && len(telling(v.want)) > 0 {
				return h, append(slices.Clone(v.got), v.want...), added, removed
			}
			for _, text := range literals(h.Added, h.Removed) {
				if strings.Contains(v.gotValue, text) && !strings.Contains(v.wantValue, text) {
					return h, []string{text}, slices.IndexFunc(h.Added, func(line string) bool { return strings.Contains(line, text) }), 0
				}
			}
			for _, text := range literals(h.Removed, h.Added) {
				if strings.Contains(v.wantValue, text) && !strings.Contains(v.gotValue, text) {
					return h, []string{text}, 0, slices.IndexFunc(h.Removed, func(line string) bool { return strings.Contains(line, text) })
				}
			}
		}
	}
	return nil, nil, 0, 0
}
