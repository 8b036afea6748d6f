package source

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Test is a test that a text tells of.
type Test struct {
	Name, Path string
	// New: the revision does not have it. Changed: its own code differs from the revision's.
	New, Changed bool
}

// tests says of the failing tests that are found whether they are new and whether they changed; with subtests as the text
// names them first.
func (t *Tree) tests(text string, f failing) []Test {
	var list []Test
	for _, file := range f.files {
		if test, ok := t.ownTest(file, &f); ok {
			list = append(list, test)
		}
	}
	for _, name := range f.names {
		for _, file := range f.files {
			if !slices.Contains(t.testIndex()[name], file) || slices.ContainsFunc(list, func(other Test) bool { return other.Path == file && other.Name == name }) {
				continue
			}
			test := Test{Name: name, Path: file}
			if c := t.change(file); c != nil {
				test.New = !t.definedBefore(name, file) || t.newSubtest(c, subtest(text, name))
				test.Changed = slices.Contains(t.touchedNames(c), name)
			}
			list = append(list, test)
			break
		}
	}
	return list
}

func (t *Tree) change(file string) *Change {
	i, found := slices.BinarySearchFunc(t.changes, file, func(c Change, file string) int { return strings.Compare(c.Path, file) })
	if !found {
		return nil
	}
	return &t.changes[i]
}

// definedBefore says whether the revision has a test: in the file, or in another one of its folder from which it was moved.
func (t *Tree) definedBefore(name, file string) bool {
	for other, old := range t.oldTests {
		if path.Dir(other) != path.Dir(file) {
			continue
		}
		for _, m := range definition.FindAllSubmatch(old, -1) {
			if string(m[1]) == name {
				return true
			}
		}
	}
	return false
}

// subtest is the last part of the name of the first subtest of a test in a text.
func subtest(text, name string) string {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return ""
		}
		at += i + len(name)
		rest := text[at:]
		if end := strings.IndexAny(rest, " \t\r\n"); end >= 0 {
			rest = rest[:end]
		}
		if strings.HasPrefix(rest, "/") {
			return strings.TrimRight(rest[strings.LastIndexByte(rest, '/')+1:], ":,;)")
		}
		if rest == "" && at > 0 && i == 0 || !strings.HasPrefix(rest, "/") {
			return ""
		}
	}
}

// newSubtest says whether a subtest has its name from a string that the changed file has and its revision has not. Where a string is
// in the place of another one, a row of a table was changed, and the test is the old one.
func (t *Tree) newSubtest(c *Change, name string) bool {
	if name == "" || c.Role != abi.SourceTest {
		return false
	}
	data, err := t.read(c.Path)
	if err != nil || !hasLiteral(string(data), name) || hasLiteral(string(t.oldTests[c.Path]), name) {
		return false
	}
	return !slices.ContainsFunc(c.Hunks, func(h Hunk) bool {
		return hasLiteral(strings.Join(h.Added, "\n"), name) && len(literals(h.Removed, h.Added)) > 0
	})
}

// hasLiteral says whether a text has a string that is the name of a subtest, in which white space is written as _.
func hasLiteral(text, name string) bool {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '`' || r == '\'':
			return '"'
		case unicode.IsSpace(r):
			return '_'
		}
		return r
	}, text)
	return strings.Contains(text, `"`+name+`"`)
}
