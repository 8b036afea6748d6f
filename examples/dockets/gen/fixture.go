package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// fixtures finds the data files of tests; each can be cut in half, lose a line or have its digits changed.
func fixtures(root string) (sites, error) {
	found := sites{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || !isFixture(rel) {
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

func isFixture(rel string) bool {
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

func addFixture(found sites, rel, text string) {
	add := func(operator string, start, end int, with string) {
		line := 1 + strings.Count(text[:start], "\n")
		found[operator] = append(found[operator], site{
			file: rel, line: line, operator: operator, start: start, end: end, text: with,
		})
	}
	add("cut fixture", len(text)/2, len(text), "")
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		add("drop line of fixture", 0, end+1, "")
	}
	if i := strings.IndexAny(text, "0123456789"); i >= 0 {
		add("change fixture", i, i+1, "7")
	}
}
