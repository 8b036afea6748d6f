package shadowcourt

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// RATIONALE.md keeps the large decisions. A local one is a comment beside its code.
func TestRationaleIsShort(t *testing.T) {
	t.Parallel()
	const mostWords, mostHeadings = 6_000, 25
	data := must.Get(os.ReadFile("RATIONALE.md"))(t)
	if words := len(strings.Fields(string(data))); words > mostWords {
		t.Errorf("RATIONALE.md has %d words, more than %d", words, mostWords)
	}
	headings := regexp.MustCompile(`(?m)^#+ .*$`).FindAllString(string(data), -1)
	if len(headings) > mostHeadings {
		t.Errorf("RATIONALE.md has %d headings, more than %d", len(headings), mostHeadings)
	}
	for _, heading := range headings {
		if strings.HasSuffix(heading, "?") {
			t.Errorf("RATIONALE.md: the heading %q is a question, not a noun phrase", heading)
		}
	}
}

// Every clause of the contract that pages and sources cite, such as §4.1, is in SPEC.md.
func TestCitedClausesExist(t *testing.T) {
	t.Parallel()
	clauses := map[string]bool{}
	spec := must.Get(os.ReadFile("abi/SPEC.md"))(t)
	for _, declared := range regexp.MustCompile(`(?m)\*\*§([\d.]+)\*\*|^## (\d+)\. `).FindAllStringSubmatch(string(spec), -1) {
		clauses[declared[1]+declared[2]] = true
	}
	cited, sources := regexp.MustCompile(`§(\d+(?:\.\d+)?)`), []string{".go", ".md", ".rs", ".c", ".h", ".ts", ".tmpl"}
	found := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || path == "out" || path == "bin" || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case entry.IsDir() || !slices.Contains(sources, filepath.Ext(path)):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, clause := range cited.FindAllStringSubmatch(string(data), -1) {
			if found++; !clauses[clause[1]] {
				t.Errorf("%s cites §%s, which the contract does not have", path, clause[1])
			}
		}
		return nil
	})
	must.Do(t, err)
	if found < 300 {
		t.Errorf("only %d citations were found", found)
	}
}
