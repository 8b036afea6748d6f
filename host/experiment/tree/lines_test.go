package tree_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/experiment/tree"
)

func TestLines(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "config", "diff.noprefix", "true")
	write(t, dir, map[string]string{"a.go": "1\n2\n3\n4\n5\n6\n", "same.go": "same\n", "gone.go": "gone\n", "large.go": "0123456789012345678901234567890123456789\n", "-- x": "-- 1\n"})
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "old")
	write(t, dir, map[string]string{"a.go": "0\n1\n2\n4\n5\n+++ now/7\n", "new.go": "1\n2\n", "large.go": "1\n", "-- x": "-- 2\n"})
	r, err := tree.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	old, err := r.At(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	now, err := r.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.Lines(t.Context(), old, now, []string{"a.go", "same.go", "new.go", "large.go", "nosuch.go", "-- x"}, 40, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]tree.Hunk{
		"a.go": {
			{First: 1, Count: 1, Added: []string{"0"}},
			{First: 3, Count: 0, Removed: []string{"3"}},
			{First: 6, Count: 1, Added: []string{"+++ now/7"}, Removed: []string{"6"}},
		},
		"new.go":   {{First: 1, Count: 2, Added: []string{"1", "2"}}},
		"large.go": {{First: 1, Count: 1, Added: []string{"1"}}},
		"-- x":     {{First: 1, Count: 1, Added: []string{"-- 2"}, Removed: []string{"-- 1"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
