package source

import (
	"regexp"
	"slices"
)

const (
	// maxParsed bounds the files whose functions are kept.
	maxParsed = 4096
	// maxTouched bounds the functions of one change.
	maxTouched = 200
)

// parsed is parse, kept for the next who asks.
func (t *Tree) parsed(file string) *goFile {
	t.parsedMu.Lock()
	defer t.parsedMu.Unlock()
	if known, ok := t.parsedFiles[file]; ok {
		return known
	}
	g := t.parse(file)
	if len(t.parsedFiles) < maxParsed {
		t.parsedFiles[file] = g
	}
	return g
}

// defined is a line that defines a function, in the words of many languages.
var defined = regexp.MustCompile(`\b(?:func|def|function|fn|fun|sub|defp?)\s+(?:\([^)]*\)\s*)?([\pL_][\pL\d_]*)|` +
	`^\s*(?:(?:public|private|protected|internal|static|final|async|override|virtual|abstract|synchronized)\s+)+[\pL\d_<>\[\],.? ]*?\b([\pL_][\pL\d_]*)\s*\(`)

func definedIn(line string) string {
	if m := defined.FindStringSubmatch(line); m != nil {
		return m[1] + m[2]
	}
	return ""
}

// touchedNames are the functions that a change touches: those that enclose its hunks, and those that it defines or
// removes. Sorted.
func (t *Tree) touchedNames(c *Change) []string {
	t.touchedMu.Lock()
	defer t.touchedMu.Unlock()
	if known, ok := t.touchedBy[c.Path]; ok {
		return known
	}
	var names []string
	add := func(name string) {
		if name != "" && name != "init" && name != "main" && len(names) < maxTouched {
			names = append(names, name)
		}
	}
	var functions []function
	if data, err := t.read(c.Path); err == nil {
		functions = t.functionsOf(c.Path, splitLines(string(data)))
	}
	sections := t.sectionsOf(c.Path)
	for i := range c.Hunks {
		h := &c.Hunks[i]
		if !h.Code {
			continue
		}
		for _, f := range functions {
			if h.touches(f.first, f.last) && !sections.untouched(f) {
				add(f.name)
			}
		}
		for _, line := range slices.Concat(h.Removed, h.Added) {
			if name := definedIn(line); !slices.ContainsFunc(functions, func(f function) bool { return f.name == name && sections.untouched(f) }) {
				add(name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	t.touchedBy[c.Path] = names
	return names
}
