// Package testcode finds the code of single tests in the files of languages whose tests are not read by their own parser: functions
// with their decorators and annotations, classes, and calls such as describe and it. It goes by brackets, indentation and names.
//
// All functions are pure. They read any text, and give nothing for what they can't read.
package testcode

import (
	"regexp"
	"slices"
	"strings"
)

// maxBlocks bounds the blocks of a file.
const maxBlocks = 10_000

// Block is a part of a file that has a name: a function or a class with its decorators, a variable, or a call that defines a
// test or a group of tests.
type Block struct {
	Name        string // of a function, a class or a variable; the title of a call
	First, Last int    // lines, from 1
	// Parent is the index of the block around it, -1 at the top.
	Parent int
	// Test: what a framework runs as a test, or as a group of tests. Hook: what it runs around them.
	Test, Hook bool
	// Callable: a function or a test, in which code runs.
	Callable bool

	title *regexp.Regexp // what a call's tests may be called, where the title has places for values
}

// File is a file that was read.
type File struct {
	Blocks   []Block // by their first lines
	lines    []string
	language *language
}

// Parse reads a file. It gives nil for a language that it does not know.
func Parse(name string, text []byte) *File {
	l := languageOf(name)
	if l == nil || l.blocks == nil {
		return nil
	}
	valid := strings.ToValidUTF8(string(text), "\uFFFD")
	f := &File{lines: strings.Split(valid, "\n"), language: l}
	l.blocks(f, newScan(valid, l))
	slices.SortStableFunc(f.Blocks, func(a, b Block) int {
		if a.First != b.First {
			return a.First - b.First
		}
		return b.Last - a.Last
	})
	f.nest()
	return f
}

func (f *File) add(b Block) {
	if b.Last >= b.First && len(f.Blocks) < maxBlocks {
		f.Blocks = append(f.Blocks, b)
	}
}

// nest finds the block around each.
func (f *File) nest() {
	var around []int
	for i := range f.Blocks {
		for len(around) > 0 && f.Blocks[around[len(around)-1]].Last < f.Blocks[i].First {
			around = around[:len(around)-1]
		}
		f.Blocks[i].Parent = -1
		if len(around) > 0 {
			f.Blocks[i].Parent = around[len(around)-1]
		}
		around = append(around, i)
	}
}

// Find finds the code of a test that a report names by its class and its name, which may be that of a row of a parametrized test.
// rows match the names of all rows of the same code.
func (f *File) Find(class, name string) (index int, rows *regexp.Regexp, ok bool) {
	index, rows = f.language.find(f, class, name)
	return index, rows, index >= 0
}

// bareName is the name of a function in the name of a row: test_sum[1-2], adds(int)[1], test_sum (i=1).
func bareName(name string) string {
	if i := strings.IndexAny(name, "[({ "); i > 0 {
		return name[:i]
	}
	return name
}

// findFunction finds a function by its name, best in the innermost class that the report names.
func findFunction(f *File, class, name string) (int, *regexp.Regexp) {
	parts := strings.FieldsFunc(class, func(r rune) bool { return strings.ContainsRune(".$:/", r) })
	best, found := -1, ""
	for _, wanted := range []string{name, bareName(name)} {
		for i := range f.Blocks {
			b := &f.Blocks[i]
			if b.Name != wanted || !b.Callable {
				continue
			}
			inner := b.Parent >= 0 && len(parts) > 0 && f.Blocks[b.Parent].Name == parts[len(parts)-1]
			if best < 0 || inner {
				best, found = i, wanted
			}
		}
		if best >= 0 {
			break
		}
	}
	if best < 0 {
		return -1, nil
	}
	return best, regexp.MustCompile(`^` + regexp.QuoteMeta(found) + `(?:[\[({ ](?s:.*))?$`)
}

// findTitle finds a call by the titles of the groups around it and its own, as a report joins them.
func findTitle(f *File, class, name string) (int, *regexp.Regexp) {
	best := -1
	for i := range f.Blocks {
		b := &f.Blocks[i]
		if b.title == nil || !b.Callable {
			continue
		}
		full := f.titles(i)
		if full.MatchString(name) || full.MatchString(class+" "+name) {
			return i, full
		}
		if best < 0 && b.title.MatchString(name) { // the report has other titles around it
			best = i
		}
	}
	if best < 0 {
		return -1, nil
	}
	return best, f.titles(best)
}

// titles match what a report calls the tests of a call, with the titles of all groups around it.
func (f *File) titles(i int) *regexp.Regexp {
	var parts []string
	for ; i >= 0; i = f.Blocks[i].Parent {
		if t := f.Blocks[i].title; t != nil {
			parts = append(parts, strings.TrimSuffix(strings.TrimPrefix(t.String(), "^"), "$"))
		}
	}
	slices.Reverse(parts)
	return regexp.MustCompile("^" + strings.Join(parts, "(?: > | )") + "$") // vitest writes the >
}

// place is where a title has a value: %i, $name, ${name}.
var place = regexp.MustCompile(`%[sdifjop#$%]|\$\{[^}]*\}|\$#?[\pL_#][\w.]*`)

func titleOf(title string) *regexp.Regexp {
	var b strings.Builder
	at := 0
	for _, m := range place.FindAllStringIndex(title, -1) {
		b.WriteString(regexp.QuoteMeta(title[at:m[0]]) + ".*")
		at = m[1]
	}
	return regexp.MustCompile("^" + b.String() + regexp.QuoteMeta(title[at:]) + "$")
}
