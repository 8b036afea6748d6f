package source

import (
	"regexp"
	"slices"
)

// maxTouched bounds the functions of one change.
const maxTouched = 200

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
	return t.touchedBy.of(c.Path, func() []string {
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
		return slices.Compact(names)
	})
}
