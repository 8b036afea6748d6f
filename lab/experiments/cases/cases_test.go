package cases

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/semver"
)

// TestPairsAreNew: each module is there once, with a newer release behind an older one, and profiles were never fitted on it.
func TestPairsAreNew(t *testing.T) {
	t.Parallel()
	known, err := os.ReadFile(filepath.Join("..", "..", "dockets", "modules.go"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range Pairs() {
		if seen[p.Module] || strings.Contains(string(known), `"`+p.Module+`"`) {
			t.Errorf("%s is there already", p.Module)
		}
		seen[p.Module] = true
		if semver.Compare(p.Older, p.Newer) >= 0 || semver.Major(p.Older) != semver.Major(p.Newer) {
			t.Errorf("%+v is no pair of releases", p)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d modules", len(seen))
	}
}

func write(t *testing.T, name, text string) *tree {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tree{folder: folder, product: []string{name}}
}

// TestOlderCode: what changed goes back function by function, and behind that as a whole file.
func TestOlderCode(t *testing.T) {
	t.Parallel()
	const kept, newTwo = "package p\n\nfunc one() int { return 1 }\n\n", "func (t *T) two() int { return 2 }\n"
	const oldTwo = "func (t *T) two() int { return 3 }\n"
	older, newer := write(t, "p.go", kept+oldTwo), write(t, "p.go", kept+newTwo+"\nfunc three() {}\n")
	sites, err := olderCode(older, newer, func(t *tree) []string { return t.product }, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sites {
		undo, err := s.Apply(newer.folder)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(filepath.Join(newer.folder, "p.go"))
		got = append(got, s.Operator, string(text))
		if err := undo(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"older function *T.two", kept + oldTwo + "\nfunc three() {}\n", "older file", kept + oldTwo}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSound: a test counts only if the untouched releases pass it.
func TestSound(t *testing.T) {
	t.Parallel()
	tests := func(names ...string) map[string]bool {
		set := map[string]bool{}
		for _, n := range names {
			set[n] = true
		}
		return set
	}
	g := &generator{
		was: &result{passed: tests("both", "dropped"), failed: tests("fixed")}, is: &result{passed: tests("both", "new", "fixed"), failed: tests("broken")},
	}
	all := []string{"both", "dropped", "new", "fixed", "broken"}
	for cause, want := range map[Cause][]string{Product: {"both", "new"}, Stale: {"both", "dropped"}} {
		got := slices.DeleteFunc(slices.Clone(all), func(test string) bool { return !g.sound(cause, test) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", cause, diff)
		}
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	got := variables(map[string]string{"HOME": "/h", "TZ": "UTC"}, map[string]string{"HOME": "", "TZ": "Asia/Kathmandu", "LC_ALL": "C"})
	if diff := cmp.Diff([]string{"LC_ALL=C", "TZ=Asia/Kathmandu"}, got); diff != "" {
		t.Error(diff)
	}
}
