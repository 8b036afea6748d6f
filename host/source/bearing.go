package source

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

// Bearing says how the changes bear on the tests that a text tells of.
type Bearing struct {
	// Located: the tests, or without any the code that failed, stand in the tree.
	Located bool
	// Changes are all of [Tree.Changed], those that bear on the tests first.
	Changes []Borne
	Tests   []Test
	Intents []Intent
}

// Borne is a change with what it has to do with the tests.
type Borne struct {
	Change
	Reach abi.SourceReach
	// Distance is the number of imports between the tests and the file; 0 for their own package, and where it is not known.
	Distance int
	// Named are functions, at most 8, that the change touches and that the text or the body of a failing test names.
	Named []string
	// Hunk is the change that is nearest to what the text names, of those that bear on the tests.
	Hunk *Shown
}

// Compares says whether the tree was opened with a revision to compare with.
func (t *Tree) Compares() bool { return t.compares }

// Bearing finds the tests that a text tells of, by its frames or else by the names of tests, and says of
// each change how near it is to them. In Go that follows the imports within the modules of the tree, through at most
// 2,000 packages; elsewhere, where files stand, what they are called and what the tests' own lines import. The same text
// has the same answer.
func (t *Tree) Bearing(text string, frames []Frame) Bearing {
	if len(text) > maxLogBytes {
		text = text[len(text)-maxLogBytes:]
	}
	tests := t.failing(text, frames)
	if len(t.changes) == 0 {
		return Bearing{Located: len(tests.files) > 0}
	}
	g := t.goModules()
	b := Bearing{Located: len(tests.files) > 0, Changes: make([]Borne, len(t.changes)), Tests: t.tests(text, tests)}
	var packages []string
	for _, dir := range tests.folders() {
		if g.isPackage(dir) {
			packages = append(packages, dir)
		}
	}
	s := &scope{tree: t, modules: g, tests: tests, language: len(packages) > 0}
	s.distance, s.whole = g.distances(packages)
	s.plain = t.plainTests(tests)
	s.uses = s.usesOf()
	words := t.wordsOf(text, tests)
	for i := range t.changes {
		c := &t.changes[i]
		borne := Borne{Change: *c}
		borne.Reach, borne.Distance = s.reach(c)
		if borne.Reach == abi.ReachPackage || borne.Reach == abi.ReachImported {
			borne.Named = named8(t.touchedNames(c), words)
			for _, test := range b.Tests { // a title is no word
				if test.Path == c.Path && test.Changed && !slices.Contains(borne.Named, test.Name) {
					borne.Named = append([]string{test.Name}, borne.Named[:min(len(borne.Named), maxNamed-1)]...)
				}
			}
			borne.Hunk = t.nearest(&borne)
		}
		b.Changes[i] = borne
	}
	slices.SortStableFunc(b.Changes, func(x, y Borne) int {
		return cmp.Or(cmp.Compare(rank(x.Reach), rank(y.Reach)), cmp.Compare(x.Distance, y.Distance), cmp.Compare(x.Path, y.Path))
	})
	b.Intents = s.intents(text, frames, b.Changes)
	return b
}

func rank(r abi.SourceReach) int {
	return slices.Index([]abi.SourceReach{
		abi.ReachPackage, abi.ReachImported, abi.ReachDependencies, abi.ReachUnknown, abi.ReachNone,
	}, r)
}

// scope is what the tests of a text reach.
type scope struct {
	tree     *Tree
	modules  *goModules
	tests    failing
	language bool // some tests are Go's, so that their imports are known
	distance map[string]int
	whole    bool
	plain    []plainTest
	uses     uses // nil where it is not known what the tests use
	used     memo[*usedLines]
}

// reach says how near a change is.
func (s *scope) reach(c *Change) (abi.SourceReach, int) {
	switch {
	case !c.Code():
		return abi.ReachNone, 0
	case len(s.tests.files) == 0:
		return abi.ReachUnknown, 0
	case s.unused(c):
		return abi.ReachNone, 0
	case slices.Contains(s.tests.files, c.Path):
		return abi.ReachPackage, 0
	case sourcefile.IsDependencies(c.Path), sourcefile.IsBuild(c.Path) && s.builds():
		return s.dependencies(c), 0
	case c.Role == abi.SourceOther:
		return abi.ReachNone, 0
	}
	best, distance := abi.ReachNone, 0
	if s.language {
		best, distance = s.imported(c)
	}
	for i := range s.plain {
		if reach := s.plain[i].reach(c); rank(reach) < rank(best) {
			best, distance = reach, 0
		}
	}
	return best, distance
}

// builds says whether files such as a Makefile may decide how the tests are built and run: the go command reads none.
func (s *scope) builds() bool { return !s.language || len(s.plain) > 0 }

// unused says whether a change lies in a Go package that the tests reach, or in their own file, and touches nothing that they use there.
func (s *scope) unused(c *Change) bool {
	if path.Ext(c.Path) != ".go" && s.usedLines(c.Path) != nil {
		return !slices.ContainsFunc(c.Hunks, func(h Hunk) bool { return h.Code && s.within(c, &h) != nil })
	}
	_, reached := s.distance[path.Dir(c.Path)]
	return s.uses != nil && reached && path.Ext(c.Path) == ".go" && c.Role != abi.SourceFixture && !s.uses.touches(s.tree, c)
}

// dependencies: those of a folder that the tests lie in. Tests that import nothing but the tree and the standard library have
// none, unless the version of the language changes.
func (s *scope) dependencies(c *Change) abi.SourceReach {
	if s.language && s.whole && len(s.plain) == 0 && !s.modules.importsOthers(s.distance) && !changesLanguage(c) {
		return abi.ReachNone
	}
	for _, dir := range s.tests.folders() {
		if under(dir, path.Dir(c.Path)) {
			return abi.ReachDependencies
		}
	}
	return abi.ReachNone
}

// imported is the reach by the imports of Go's packages.
func (s *scope) imported(c *Change) (abi.SourceReach, int) {
	dir := path.Dir(c.Path)
	isGo := path.Ext(c.Path) == ".go"
	if isOtherLanguage(c.Path) {
		return abi.ReachUnknown, 0
	}
	if sourcefile.Installed(c.Path) { // vendored
		return s.dependencies(c), 0
	}
	if !isGo || c.Role == abi.SourceFixture { // data belongs to the package above it
		for dir != "." && !s.modules.isPackage(dir) {
			dir = path.Dir(dir)
		}
	}
	n, reached := s.distance[dir]
	switch {
	case reached && n == 0:
		return abi.ReachPackage, 0
	case c.Role == abi.SourceTest && isGo, c.Role == abi.SourceFixture:
		return abi.ReachNone, 0 // tests and data of others
	case reached:
		return abi.ReachImported, n
	case isGo && s.whole && s.modules.moduleOf(dir) != nil:
		return abi.ReachNone, 0
	}
	return abi.ReachUnknown, 0
}

// changesLanguage says whether a change of go.mod is about more than the versions of modules.
func changesLanguage(c *Change) bool {
	for _, h := range c.Hunks {
		for _, line := range slices.Concat(h.Removed, h.Added) {
			switch first, _, _ := strings.Cut(strings.TrimSpace(line), " "); first {
			case "go", "toolchain", "godebug", "replace", "module":
				return true
			}
		}
	}
	return c.Opaque
}

// isOtherLanguage says whether a file is a program that no Go package embeds as its data.
func isOtherLanguage(name string) bool {
	switch path.Ext(name) {
	case ".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".java", ".kt", ".scala", ".groovy", ".rb", ".rs", ".cs", ".php", ".swift", ".ex", ".exs":
		return true
	}
	return false
}

// maxNamed bounds the functions that a change is said to touch.
const maxNamed = 8

// named8 are the first 8 names that are among the words, of each last part one.
func named8(names []string, words map[string]bool) []string {
	var out []string
	seen := map[string]bool{}
	for _, name := range names {
		if last := lastPart(name); len(out) < maxNamed && words[last] && !seen[last] {
			seen[last] = true
			out = append(out, name)
		}
	}
	return out
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
