package mutate

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Fixtures finds the data files of a package's tests. Each can be cut, emptied, lose a line, have two lines exchanged or
// its digits or letters changed.
func Fixtures(folder string) (Sites, error) {
	found := Sites{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil || !IsFixture(rel) {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && len(text) > 1 {
			addFixture(found, rel, string(text))
		}
		return err
	})
	return found, err
}

// IsFixture says whether a file, by its path below a package, is data of its tests.
func IsFixture(rel string) bool {
	if strings.HasSuffix(rel, ".go") {
		return false
	}
	for part := range strings.SplitSeq(filepath.Dir(rel), string(filepath.Separator)) {
		if part == "testdata" || part == "fixtures" || part == "static" || part == "test" {
			return true
		}
	}
	return false
}

func addFixture(found Sites, rel, text string) {
	add := func(operator string, start, end int, with string) {
		line := 1 + strings.Count(text[:start], "\n")
		found[operator] = append(found[operator], Site{
			File: rel, Line: line, Operator: operator, Start: start, End: end, Text: with,
		})
	}
	add("empty fixture", 0, len(text), "")
	add("cut fixture", len(text)/2, len(text), "")
	for _, from := range []int{0, len(text) / 3, 2 * len(text) / 3} {
		start := from + strings.IndexByte(text[from:], '\n') + 1
		end := start + strings.IndexByte(text[start:], '\n') + 1
		if end > start {
			add("drop line of fixture", start, end, "")
			if next := end + strings.IndexByte(text[end:], '\n') + 1; next > end {
				add("swap lines of fixture", start, next, text[end:next]+text[start:end])
			}
		}
		if i := strings.IndexAny(text[from:], "012345689"); i >= 0 {
			add("change fixture", from+i, from+i+1, "7")
		}
		if i := strings.IndexAny(text[from:], "aeiou"); i >= 0 {
			add("change fixture", from+i, from+i+1, "y")
		}
	}
}
