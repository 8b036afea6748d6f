package source

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

const (
	maxTestNames  = 50
	maxTestFiles  = 50
	maxIndexBytes = 64 << 20
	maxWords      = 100_000
)

// failing are the tests that a text tells of.
type failing struct {
	files []string // sorted: of the tests, or without any of the code that failed
	names []string // of the tests, as far as the text has them
	// subject is the whole name of the test that the first line of the text says to fail, and class that of what it stands in.
	subject, class string
}

func (f *failing) folders() []string {
	var dirs []string
	for _, file := range f.files {
		if dir := path.Dir(file); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// testName is what a test's function is called where its framework goes by names.
var testName = regexp.MustCompile(`\b(?:Test|Fuzz|Example|Benchmark)[\pL\d_]*|\btest_[\pL\d_]+`)

// failing finds the tests: the test files among the frames, else the files that define a test of a name in the text, else
// the product's files among the frames.
func (t *Tree) failing(text string, frames []Frame) failing {
	f := failing{}
	f.subject, f.class = subjectOf(text)
	for _, name := range testName.FindAllString(text, maxPlaces) {
		if len(f.names) < maxTestNames && !slices.Contains(f.names, name) {
			f.names = append(f.names, name)
		}
	}
	for _, kind := range []abi.SourceKind{abi.SourceTest, abi.SourceProduct} {
		for i := range frames {
			if frames[i].Role == kind && len(f.files) < maxTestFiles && !slices.Contains(f.files, frames[i].Path) {
				f.files = append(f.files, frames[i].Path)
			}
		}
		switch {
		case kind != abi.SourceTest:
		case len(f.files) == 0:
			f.files = t.definitions(f.names, text)
		case !t.define(f.files, f.names): // only helpers are named, and the tests stand beside them
			folders := f.folders()
			for _, file := range t.definitions(f.names, text) {
				if slices.Contains(folders, path.Dir(file)) && len(f.files) < maxTestFiles {
					f.files = append(f.files, file)
				}
			}
		}
		if len(f.files) > 0 {
			break
		}
	}
	slices.Sort(f.files)
	return f
}

// subjectOf reads the subject of a case: NAME fails, or NAME fails in CLASS.
func subjectOf(text string) (name, class string) {
	line, _, _ := strings.Cut(text, "\n")
	if i := strings.LastIndex(line, " fails"); i > 0 {
		class, _, _ = strings.Cut(strings.TrimPrefix(line[i+len(" fails"):], " in "), ",")
		return line[:i], class
	}
	return "", ""
}

var definition = regexp.MustCompile(`(?m)^(?:func|[ \t]*(?:async )?def)[ \t]+((?:Test|Fuzz|Example|Benchmark|test_)[\pL\d_]*)[ \t]*\(`)

// indexTests lists the files that define a test, by its name. It reads at most 64 MiB of test files.
func (t *Tree) indexTests() map[string][]string {
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

// definitions are the files that define the tests. A name that several files have is that of the one whose folder the
// text names.
func (t *Tree) definitions(names []string, text string) []string {
	var files []string
	for _, name := range names {
		candidates := t.testIndex()[name]
		file := ""
		if len(candidates) == 1 {
			file = candidates[0]
		} else if len(candidates) > 1 {
			file = named(slices.Clone(candidates), text)
		}
		if file != "" && len(files) < maxTestFiles && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// define says whether some of the files define some of the tests.
func (t *Tree) define(files, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(t.testIndex()[name], func(file string) bool { return slices.Contains(files, file) })
	})
}

var word = regexp.MustCompile(`[\pL_][\pL\d_]{2,}`)

// wordsOf are the words of the text, and of the bodies of the failing tests where the language is known.
func (t *Tree) wordsOf(text string, tests failing) map[string]bool {
	words := map[string]bool{}
	add := func(s string) {
		for _, w := range word.FindAllString(s, maxWords) {
			words[w] = true
		}
	}
	add(text)
	for _, file := range tests.files {
		data, err := t.read(file)
		if err != nil {
			continue
		}
		lines := splitLines(string(data))
		for _, f := range t.functionsOf(file, lines) {
			if slices.Contains(tests.names, f.name) {
				add(strings.Join(lines[min(f.first, len(lines))-1:min(f.last, len(lines))], "\n"))
			}
		}
	}
	return words
}

// functionsOf are the functions of a file: as they stand there where the language is known, else from each line that defines one to
// the next.
func (t *Tree) functionsOf(file string, lines []string) []function {
	if g := t.parse(file); g.name != "" || len(g.functions) > 0 {
		return g.functions
	}
	var list []function
	for i, line := range lines {
		if name := definedIn(line); name != "" {
			list = append(list, function{name: name, first: i + 1, last: len(lines)})
			if n := len(list); n > 1 {
				list[n-2].last = i
			}
		}
	}
	return list
}
