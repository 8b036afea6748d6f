package source

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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

// shown cuts a hunk to the lines around those that matter most, by their indexes, without blank lines, comments and imports.
func (t *Tree) shown(c *Change, h *Hunk, removed, added int) Shown {
	old, now := solid(h.Removed), solid(h.Added)
	n := min(len(old), max(maxShownLines/2, maxShownLines-len(now)))
	return t.cut(c, h, around(old, placeOf(h.Removed, removed), n), around(now, placeOf(h.Added, added), maxShownLines-n))
}

// plain is a hunk with all of its lines, of those that were added those around one.
func (t *Tree) plain(c *Change, h *Hunk, added int) Shown {
	n := min(len(h.Removed), max(maxShownLines/2, maxShownLines-len(h.Added)))
	return t.cut(c, h, h.Removed[:n], around(h.Added, added, maxShownLines-n))
}

// around are n lines around one of them.
func around(lines []string, at, n int) []string {
	n = min(n, len(lines))
	first := max(0, min(at-n/2, len(lines)-n))
	return lines[first : first+n]
}

func (t *Tree) cut(c *Change, h *Hunk, removed, added []string) Shown {
	var lines []string
	for _, line := range removed {
		lines = append(lines, "-"+line)
	}
	for _, line := range added {
		lines = append(lines, "+"+line)
	}
	return Shown{Line: h.NewFirst, Text: strings.Join(lines, "\n"), Commit: t.history.of(c.Path, h)}
}

var importing = regexp.MustCompile("^import\\b|^\"[^\"]*\"$")

// solid leaves out blank lines, and those that look as comments and imports.
func solid(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || strings.HasPrefix(line, "package ") || importing.MatchString(line) || strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "//go:") || strings.HasPrefix(line, "/*") || strings.HasPrefix(line, "* ")
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
			return slices.Contains(c.Named, f.name) && h.touches(f.first, f.last)
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
func (s *scope) intents(text string, frames []Frame, borne []Borne) []Intent {
	f := &finder{tree: s.tree, text: text, values: comparisons(text), frames: frames, scope: s, crash: crash.MatchString(text)}
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

// crash is what a program says that ended because of a mistake: nobody means it to.
var crash = regexp.MustCompile(`(?m)^(?:panic: (?:runtime error|reflect)|fatal error: |\[signal SIG)`)

// finder gathers intents, each kind of a file once.
type finder struct {
	tree   *Tree
	text   string
	values []comparison
	frames []Frame // of the text
	scope  *scope
	crash  bool     // the text tells of one
	names  []string // of the functions that the product's changes touch
	found  []Intent
}

func (f *finder) add(in Intent) {
	if len(f.found) < maxIntents && in.Hunk.Text != "" {
		f.found = append(f.found, in)
	}
}

// product looks for the values in a change of the product, for what it says now, for the function in its comment and in the message of
// its commit.
func (f *finder) product(c *Borne) {
	if f.crash {
		return
	}
	for _, name := range c.Named {
		// Others may be called by the test as well, but the text does not speak of them.
		if name = lastPart(name); len(name) >= leastName && speaksOf(f.text, name) && !slices.Contains(f.names, name) {
			f.names = append(f.names, name)
		}
	}
	if h, names, added, removed := f.swapped(c); h != nil {
		f.add(Intent{abi.IntentValue, c.Path, f.tree.shown(&c.Change, h, removed, added), names})
	} else if h, said, added := f.says(c); h != nil {
		f.add(Intent{abi.IntentValue, c.Path, f.tree.shown(&c.Change, h, 0, added), []string{said}})
	}
	if h, name := f.comment(c); h != nil {
		f.add(Intent{abi.IntentDocuments, c.Path, f.tree.plain(&c.Change, h, 0), []string{name}})
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

// speaksOf says whether a text names a function: as a word, or as a part of a test's name that begins with a capital letter. Names of
// files and folders do not count.
func speaksOf(text, name string) bool {
	capital := unicode.IsUpper(firstRune(name))
	for rest := text; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(rest[:i])
		rest = rest[i+len(name):]
		after := firstRune(rest)
		inWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
		switch {
		case before == '/', before == '-', after == '/', after == '-', restOfFile.MatchString(rest):
		case unicode.IsLower(after), unicode.IsDigit(after):
		case !capital && (inWord(before) || inWord(after) || after == '.' && unicode.IsLetter(firstRune(rest[1:]))):
		case unicode.IsUpper(before): // in a name as HTTPHeader
		default:
			return true
		}
	}
}

// restOfFile is how the name of a Go file may go on.
var restOfFile = regexp.MustCompile(`^[\pL\d_]*\.go\b`)

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// leastSaid is how much of a message has to stand in the code that was added.
const leastSaid = 16

var verb = regexp.MustCompile(`%[-+# 0-9.*\[\]]*[a-zA-Z%]|\\.`)

// says finds a message of the text that is one of the product's new ones: strings that only added lines have, between their verbs.
func (f *finder) says(c *Borne) (h *Hunk, said string, line int) {
	var removed []string
	for i := range c.Hunks {
		removed = append(removed, c.Hunks[i].Removed...)
	}
	for i := range c.Hunks {
		h := &c.Hunks[i]
		if !h.Code {
			continue
		}
		for line := range h.Added {
			for _, text := range literals(h.Added[line:line+1], removed) {
				for _, part := range verb.Split(text, -1) {
					if part = strings.TrimSpace(part); len(part) >= leastSaid && strings.Contains(part, " ") && strings.Contains(f.text, part) {
						return h, part, line
					}
				}
			}
		}
	}
	return nil, "", 0
}

// comment finds a hunk that rewrites the comment of a Go function that the text speaks of.
func (f *finder) comment(c *Borne) (*Hunk, string) {
	if path.Ext(c.Path) != ".go" || len(f.names) == 0 {
		return nil, ""
	}
	data, err := f.tree.read(c.Path)
	if err != nil {
		return nil, ""
	}
	lines := splitLines(string(data))
	for _, function := range f.tree.functionsOf(c.Path, lines) {
		if name := lastPart(function.name); slices.Contains(f.names, name) {
			first := function.first
			for first > 1 && first-2 < len(lines) && strings.HasPrefix(lines[first-2], "//") {
				first--
			}
			for i := range c.Hunks {
				h := &c.Hunks[i]
				if h.NewFirst < function.first && first < h.NewFirst+h.NewLines && rewritten(h) {
					return h, name
				}
			}
		}
	}
	return nil, ""
}

// leastWords is how many words of a comment have to be others, so that it is more than spelling.
const leastWords = 3

// rewritten says whether the comments of a hunk say something else than before.
func rewritten(h *Hunk) bool {
	words := func(lines []string) (list []string) {
		for _, line := range lines {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "//") {
				list = append(list, valueWord.FindAllString(strings.TrimLeft(line, "/"), maxWords)...)
			}
		}
		return list
	}
	old, now := words(h.Removed), words(h.Added)
	return len(old) > 0 && len(without(now, old)) >= leastWords
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

const (
	// maxAsked bounds the lines of a change that is read for single values, maxQuoted those of one that is read for strings.
	maxAsked  = 3
	maxQuoted = 20
)

// asked finds a hunk that changes lines of the tests in what the text reports: the line that failed, a value that was got or
// wanted, or a string that the text quotes.
func (f *finder) asked(c *Borne) (*Hunk, []string) {
	for i := range c.Hunks {
		if !c.Hunks[i].Code {
			continue
		}
		h := f.scope.within(&c.Change, &c.Hunks[i])
		if h == nil || h.OldLines == 0 || h.NewLines == 0 || max(h.OldLines, h.NewLines) > maxQuoted {
			continue
		}
		small := max(h.OldLines, h.NewLines) <= maxAsked
		for i := range f.frames {
			if p := &f.frames[i]; small && p.Path == c.Path && h.NewFirst-nearby <= p.Line && p.Line < h.NewFirst+h.NewLines+nearby {
				return h, []string{"line " + strconv.Itoa(p.Line)}
			}
		}
		for _, text := range append(literals(h.Added, h.Removed), literals(h.Removed, h.Added)...) {
			if strings.Contains(f.text, `"`+text+`"`) || len(text) >= leastTelling && strings.ContainsAny(text, " _-./:") && strings.Contains(f.text, text) {
				return h, []string{text}
			}
		}
		if !small {
			continue
		}
		old, now := plainValues(h.Removed), plainValues(h.Added)
		for _, w := range append(without(now, old), without(old, now)...) {
			if slices.ContainsFunc(f.values, func(v comparison) bool { return slices.Contains(v.got, w) || slices.Contains(v.want, w) }) {
				return h, []string{w}
			}
		}
	}
	return nil, nil
}

// document looks for the functions and values in what was added to a document.
func (f *finder) document(c *Borne) {
	if f.crash {
		return
	}
	switch strings.ToLower(path.Ext(c.Path)) {
	case ".md", ".markdown", ".rst", ".adoc", ".txt", "":
	default:
		return
	}
	for i := range c.Hunks {
		h := &c.Hunks[i]
		if line, names := f.speaksOf(h.Added); line != "" {
			f.add(Intent{abi.IntentDocuments, c.Path, f.tree.plain(&c.Change, h, slices.Index(h.Added, line)), names})
			return
		}
	}
}

var fragment = regexp.MustCompile("`([^`\n]{2,60})`")

// quoted finds code that a line of prose quotes, and that stands in the text by itself.
func (f *finder) quoted(line string) string {
	for _, m := range fragment.FindAllStringSubmatch(line, 50) {
		code := m[1]
		if len(code) < leastName && !strings.ContainsFunc(code, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			continue
		}
		for rest := f.text; ; {
			i := strings.Index(rest, code)
			if i < 0 {
				break
			}
			before, _ := utf8.DecodeLastRuneInString(rest[:i])
			rest = rest[i+len(code):]
			if !unicode.IsLetter(before) && !unicode.IsDigit(before) && !unicode.IsLetter(firstRune(rest)) && !unicode.IsDigit(firstRune(rest)) {
				return code
			}
		}
	}
	return ""
}

// speaksOf finds a line of prose that names a changed function, or a value that was got, or that quotes code of the text.
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
		if code := f.quoted(line); code != "" {
			return tidy(line), []string{code}
		}
	}
	return "", nil
}

// swapped finds a hunk that removes what was wanted and adds what was got: as words, or as strings that are parts of the values.
func (f *finder) swapped(c *Borne) (h *Hunk, names []string, added, removed int) {
	for i := range c.Hunks {
		h := &c.Hunks[i]
		if !h.Code || h.OldLines == 0 || h.NewLines == 0 {
			continue
		}
		for _, v := range f.values {
			// What stands on both sides did not change.
			if anyLine(v.got, h.Removed) < 0 && anyLine(v.want, h.Added) < 0 {
				if added, removed := anyLine(v.got, h.Added), anyLine(v.want, h.Removed); added >= 0 && removed >= 0 {
					return h, append(slices.Clone(v.got), v.want...), added, removed
				}
			}
			now, added := part(v.gotValue, v.wantValue, h.Added, h.Removed)
			old, removed := part(v.wantValue, "", h.Removed, h.Added)
			if now == "" || old == "" {
				now, added = part(v.gotValue, "", h.Added, h.Removed)
				old, removed = part(v.wantValue, v.gotValue, h.Removed, h.Added)
			}
			if now != "" && old != "" {
				return h, []string{now, old}, added, removed
			}
		}
	}
	return nil, nil, 0, 0
}

// part finds a string of some lines, which others do not have, that is part of one value and not of another, and its line.
func part(value, other string, lines, others []string) (text string, line int) {
	for i := range lines {
		for _, text := range literals(lines[i:i+1], others) {
			if strings.Contains(value, text) && (other == "" || !strings.Contains(other, text)) {
				return text, i
			}
		}
	}
	return "", 0
}
