package repo

import (
	"path"
	"regexp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

const (
	maxTests      = 50
	maxIndexBytes = 64 << 20
)

// Test is a test that a text tells of.
type Test struct {
	Name, Path string
	// New: the revision does not have it. Changed: its own code differs from the revision's.
	New, Changed bool
}

var (
	// testName is what a test's function is called where its framework goes by names.
	testName   = regexp.MustCompile(`\b(?:Test|Fuzz|Example|Benchmark)[\pL\d_]*|\btest_[\pL\d_]+`)
	definition = regexp.MustCompile(`(?m)^(?:func|[ \t]*(?:async )?def)[ \t]+((?:Test|Fuzz|Example|Benchmark|test_)[\pL\d_]*)[ \t]*\(`)
)

// Tests finds the tests that a text tells of: those of the tree in whose functions its frames lie, else those whose names stand in it.
func (t *Source) Tests(text string, frames []Frame) []Test {
	var list []Test
	add := func(name, file string, f function) {
		if len(list) == maxTests || slices.ContainsFunc(list, func(other Test) bool { return other.Path == file && other.Name == name }) {
			return
		}
		changed := t.Touches(Frame{Path: file, Line: f.first, FirstLine: f.first, LastLine: f.last})
		added := slices.ContainsFunc(t.touched[file], func(h Hunk) bool { return h.NewFirst <= f.first && f.last < h.NewFirst+h.NewLines })
		list = append(list, Test{Name: name, Path: file, New: changed && added && !t.definedBefore(name, file), Changed: changed})
	}
	byName := func(file string) bool { return path.Ext(file) == ".go" || path.Ext(file) == ".py" }
	for i := range frames {
		if at := &frames[i]; at.Role == abi.SourceTest && at.FirstLine > 0 {
			for _, f := range t.parse(at.Path).functions {
				if f.first == at.FirstLine && (!byName(at.Path) || testName.MatchString(f.name)) {
					add(f.name, at.Path, f)
				}
			}
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, name := range testName.FindAllString(text, maxPlaces) {
		if file := t.definitionOf(name, text); file != "" {
			for _, f := range t.parse(file).functions {
				if f.name == name {
					add(name, file, f)
				}
			}
		}
	}
	return list
}

// definedBefore says whether the revision has a test: in the file, or in another one of its folder from which it was moved.
func (t *Source) definedBefore(name, file string) bool {
	for other, old := range t.oldTests {
		if path.Dir(other) == path.Dir(file) && slices.ContainsFunc(definition.FindAllSubmatch(old, -1), func(m [][]byte) bool { return string(m[1]) == name }) {
			return true
		}
	}
	return false
}

// indexTests lists the files that define a test, by its name. It reads at most 64 MiB of test files.
func (t *Source) indexTests() map[string][]string {
	index, room := map[string][]string{}, maxIndexBytes
	for _, name := range t.files {
		if ext := path.Ext(name); ext != ".go" && ext != ".py" || sourcefile.KindOf(name) != abi.SourceTest {
			continue
		}
		data, err := t.read(name)
		if room -= len(data); err != nil || room < 0 {
			continue
		}
		for _, m := range definition.FindAllSubmatch(data, -1) {
			test := string(m[1])
			if list := index[test]; len(list) == 0 || list[len(list)-1] != name {
				index[test] = append(list, name)
			}
		}
	}
	return index
}

// definitionOf is the file that defines a test; of several the one whose folder the text names, and empty for none.
func (t *Source) definitionOf(name, text string) string {
	switch candidates := t.testIndex()[name]; len(candidates) {
	case 0:
		return ""
	case 1:
		return candidates[0]
	default:
		return named(slices.Clone(candidates), text)
	}
}
