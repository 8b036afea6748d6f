package shadowcourt

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var (
	requirement = regexp.MustCompile(`^([A-Z]+[0-9]+)(?: (open|superseded)(?: .*)?)?$`)
	shownByTest = regexp.MustCompile(`func TestAccept_([A-Z]+[0-9]+(?:_[A-Z]+[0-9]+)*)_`)
	shownByFile = regexp.MustCompile(`^accept_([a-z]+[0-9]+)_.*\.txtar$`)
)

// requirements gives the state of each row of testdata/requirements.txt: open, superseded, or empty.
func requirements(t *testing.T) map[string]string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("testdata", "requirements.txt")))(t)
	states := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' {
			continue
		}
		m := requirement.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("testdata/requirements.txt: %q is neither an ID nor an ID with a state", line)
			continue
		}
		if _, ok := states[m[1]]; ok {
			t.Errorf("testdata/requirements.txt has two rows %s", m[1])
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
				t.Errorf("%s names no row of testdata/requirements.txt", path)
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
	must.Do(t, err)
	return places
}

func TestAccept_HS5_RequirementsAndTestsAgree(t *testing.T) {
	t.Parallel()
	states, places := requirements(t), shown(t)
	if len(states) < 150 {
		t.Fatalf("testdata/requirements.txt has %d rows", len(states))
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
			t.Errorf("testdata/requirements.txt has no row %s of %v", id, places[id])
		}
	}
}

var (
	makeList   = regexp.MustCompile(`(?m)^(?:LONG \?=|MEASURED :=)((?:.*\\\n)*.*)$`)
	makeTarget = regexp.MustCompile(`(?m)^([a-z0-9-]+):.*\n((?:\t.*\n)+)`)
	buildTags  = regexp.MustCompile(`(?m)^//go:build (.*)$`)
	variable   = regexp.MustCompile(`"(SHADOWCOURT_[A-Z_]+)"`)
)

var (
	// platforms are tags that nobody sets.
	platforms = strings.Fields("aix darwin linux race solaris unix wasip1 wasm windows")
	// ownVariables are set by the tests themselves, or narrow what a target runs.
	ownVariables = regexp.MustCompile(`^SHADOWCOURT_(TEST_\w+|BOMB|FUEL_ZOO_ONLY|SECRET)$`)
)

// TestAccept_HX4_EveryTestIsInATier: `make test` runs the quick tier, and `make test-long` all other tests: those of package tier, which
// tools/longtests finds, and those that a build tag or a variable leaves out, which a target of its list runs.
func TestAccept_HX4_EveryTestIsInATier(t *testing.T) {
	t.Parallel()
	makefile := must.Get(os.ReadFile("Makefile"))(t)
	var listed []string
	for _, list := range makeList.FindAllSubmatch(makefile, -1) {
		listed = append(listed, strings.Fields(strings.ReplaceAll(string(list[1]), "\\", ""))...)
	}
	recipes := map[string]string{}
	for _, target := range makeTarget.FindAllSubmatch(makefile, -1) {
		recipes[string(target[1])] = string(target[2])
	}
	runs := func(tests func(recipe string) bool) bool {
		return slices.ContainsFunc(listed, func(target string) bool { return tests(recipes[target]) })
	}
	for _, target := range listed {
		if !regexp.MustCompile(`\$\((GO\) test|TEST\))`).MatchString(recipes[target]) {
			t.Errorf("the target %s runs no test", target)
		}
	}
	inTests, inProgram, sources := map[string]string{}, map[string]bool{}, os.DirFS(".")
	err := fs.WalkDir(sources, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e.IsDir() && slices.Contains([]string{".git", "out", "bin", "lab"}, name) {
				return fs.SkipDir
			}
			return err
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(sources, name)
		if err != nil {
			return err
		}
		test := strings.HasSuffix(name, "_test.go")
		for _, m := range variable.FindAllSubmatch(text, -1) {
			if test {
				inTests[string(m[1])] = name
			} else {
				inProgram[string(m[1])] = true
			}
		}
		if tags := buildTags.FindSubmatch(text); test && tags != nil {
			for tag := range strings.FieldsFuncSeq(string(tags[1]), func(r rune) bool { return strings.ContainsRune(" !&|()", r) }) {
				if !slices.Contains(platforms, tag) && !runs(func(recipe string) bool { return tagged(recipe, tag, path.Dir(name)) }) {
					t.Errorf("no target of the long tier runs %s with the tag %s", name, tag)
				}
			}
		}
		return nil
	})
	must.Do(t, err)
	for name, file := range inTests {
		if !inProgram[name] && !ownVariables.MatchString(name) && !runs(func(recipe string) bool { return strings.Contains(recipe, name+"=") }) {
			t.Errorf("%s: no target of the long tier sets %s", file, name)
		}
	}
}

// tagged says whether a line of a recipe tests a folder with a tag.
func tagged(recipe, tag, folder string) bool {
	for line := range strings.Lines(strings.ReplaceAll(recipe, "\\\n", " ")) {
		words := strings.Fields(line)
		if i := slices.Index(words, "-tags"); i < 0 || words[i+1] != tag {
			continue
		}
		for _, word := range words {
			top, tree := strings.CutSuffix(word, "/...")
			if top == "./"+folder || tree && strings.HasPrefix("./"+folder+"/", top+"/") {
				return true
			}
		}
	}
	return false
}
