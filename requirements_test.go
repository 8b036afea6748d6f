package shadowcourt

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	requirement = regexp.MustCompile(`(?m)^\| ([A-Z]+[0-9]+) \| (open|superseded|) ?\|`)
	shownByTest = regexp.MustCompile(`func TestAccept_([A-Z]+[0-9]+(?:_[A-Z]+[0-9]+)*)_`)
	shownByFile = regexp.MustCompile(`^accept_([a-z]+[0-9]+)_.*\.txtar$`)
)

// requirements gives the state of each row of docs/requirements.md: open, superseded, or empty.
func requirements(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("docs", "requirements.md"))
	if err != nil {
		t.Fatal(err)
	}
	states := make(map[string]string)
	for _, m := range requirement.FindAllStringSubmatch(string(text), -1) {
		if _, ok := states[m[1]]; ok {
			t.Errorf("docs/requirements.md has two rows %s", m[1])
		}
		states[m[1]] = m[2]
	}
	return states
}

// shown gives the places that name each ID: tests of every build tag, and scripts.
func shown(t *testing.T) map[string][]string {
	t.Helper()
	places := make(map[string][]string)
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (path == ".git" || path == "out" || path == "bin"):
			return filepath.SkipDir
		case strings.HasPrefix(e.Name(), "accept_") && strings.HasSuffix(path, ".txtar"):
			m := shownByFile.FindStringSubmatch(e.Name())
			if m == nil {
				t.Errorf("%s names no row of docs/requirements.md", path)
				return nil
			}
			id := strings.ToUpper(m[1])
			places[id] = append(places[id], path)
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range shownByTest.FindAllSubmatch(text, -1) {
				for id := range strings.SplitSeq(string(m[1]), "_") {
					places[id] = append(places[id], path)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return places
}

func TestAccept_HS5_RequirementsAndTestsAgree(t *testing.T) {
	t.Parallel()
	states, places := requirements(t), shown(t)
	if len(states) < 150 {
		t.Fatalf("docs/requirements.md has %d rows", len(states))
	}
	for _, id := range slices.Sorted(maps.Keys(states)) {
		switch n := len(places[id]); states[id] {
		case "":
			if n == 0 {
				t.Errorf("no test shows %s", id)
			}
		case "superseded":
			if n > 0 {
				t.Errorf("%s is superseded, and %v still show it", id, places[id])
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(places)) {
		if _, ok := states[id]; !ok {
			t.Errorf("docs/requirements.md has no row %s of %v", id, places[id])
		}
	}
}
