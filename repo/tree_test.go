package repo_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/repo"
)

// repository has two commits, green and main, and changes on top that are not committed.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{
		"go.mod": "module m\n", "cart.go": "green product", "cart_test.go": "green test", "testdata/a": "green fixture",
		"gone.go": "green only", "same.go": "same", ".gitignore": "*.log\n", "sub/x.go": "x",
	})
	must.Do(t, os.Symlink("cart.go", filepath.Join(dir, "link.go")))
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "green")
	must.Git(t, dir, "tag", "green")
	must.Do(t, os.Remove(filepath.Join(dir, "gone.go")))
	must.Write(t, dir, map[string]string{"cart.go": "head product", "cart_test.go": "head test", "testdata/a": "head fixture"})
	must.Git(t, dir, "add", "-A")
	must.Git(t, dir, "commit", "-qm", "head")
	must.Write(t, dir, map[string]string{"cart.go": "changed product", "new.go": "untracked", "ignored.log": "ignored", "staged.go": "staged"})
	must.Git(t, dir, "add", "staged.go")
	must.Do(t, os.Chmod(filepath.Join(dir, "new.go"), 0o755))
	// Another time alone is no change.
	must.Do(t, os.Chtimes(filepath.Join(dir, "same.go"), time.Time{}, time.Unix(1_000_000_000, 0)))
	return dir
}

func open(t *testing.T, dir string) *repo.Repository {
	t.Helper()
	return must.Get(repo.Open(t.Context(), dir))(t)
}

func headOf(t *testing.T, r *repo.Repository) *repo.Tree {
	t.Helper()
	return must.Get(r.Head(t.Context()))(t)
}

func treeAt(t *testing.T, r *repo.Repository, revision string) *repo.Tree {
	t.Helper()
	return must.Get(r.At(t.Context(), revision))(t)
}

// contents writes a tree and reads it back: text by path, with marks for links and executables.
func contents(t *testing.T, tr *repo.Tree) map[string]string {
	t.Helper()
	dir := t.TempDir()
	must.Get(tr.Write(t.Context(), dir))(t)
	return folder(t, dir)
}

func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && entry.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			got[rel] = "-> " + target
			return err
		}
		text, err := os.ReadFile(path)
		info, _ := entry.Info()
		if got[rel] = string(text); info.Mode()&0o100 != 0 {
			got[rel] += " (executable)"
		}
		return err
	}))
	return got
}

func TestTreesOfRevisionsAndMixtures(t *testing.T) {
	dir := repository(t)
	before := folder(t, dir)
	r := open(t, dir)
	head := headOf(t, r)
	green := treeAt(t, r, "green")
	both := map[string]string{"go.mod": "module m\n", "same.go": "same", ".gitignore": "*.log\n", "sub/x.go": "x", "link.go": "-> cart.go"}
	product := map[bool]map[string]string{
		true:  {"cart.go": "green product", "gone.go": "green only"},
		false: {"cart.go": "changed product", "new.go": "untracked (executable)", "staged.go": "staged"},
	}
	tests := map[bool]map[string]string{
		true:  {"cart_test.go": "green test", "testdata/a": "green fixture"},
		false: {"cart_test.go": "head test", "testdata/a": "head fixture"},
	}
	for _, c := range []struct {
		name                      string
		tree                      *repo.Tree
		greenProduct, greenTested bool
	}{
		{"head", head, false, false},
		{"green", green, true, true},
		{"green product, head tests", repo.Mix(green, head), true, false},
		{"head product, green tests", repo.Mix(head, green), false, true},
	} {
		want := map[string]string{}
		for _, part := range []map[string]string{both, product[c.greenProduct], tests[c.greenTested]} {
			maps.Copy(want, part)
		}
		check.Same(t, cmp.Diff(want, contents(t, c.tree)), c.name, "(-want +got)")
	}
	if got := green.Changed(head); !slices.Equal(got, []string{"cart.go", "cart_test.go", "gone.go", "new.go", "staged.go", "testdata/a"}) {
		t.Errorf("changed: %v", got)
	}
	if green.Digest() == head.Digest() || green.Digest() != repo.Mix(green, green).Digest() {
		t.Error("digests don't name what is in the trees")
	}
	if diff := cmp.Diff(before, folder(t, dir)); diff != "" {
		t.Errorf("the checkout was changed (-before +after):\n%s", diff)
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{"a.go": "1\n2\n3\n4\n5\n6\n", "same.go": "same\n", "gone.go": "gone\n", "large.go": "0123456789012345678901234567890123456789\n"})
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "old")
	must.Do(t, os.Remove(filepath.Join(dir, "gone.go")))
	must.Write(t, dir, map[string]string{"a.go": "0\n1\n2\n4\n5\n7\n", "new.go": "1\n2\n", "large.go": "1\n"})
	r := open(t, dir)
	old, now := treeAt(t, r, "HEAD"), headOf(t, r)
	for name, want := range map[string][]repo.Edit{
		"a.go": {
			{Hunk: repo.Hunk{OldFirst: 1, NewFirst: 1, NewLines: 1}, Removed: []string{}, Added: []string{"0"}},
			{Hunk: repo.Hunk{OldFirst: 3, OldLines: 1, NewFirst: 4}, Removed: []string{"3"}, Added: []string{}},
			{Hunk: repo.Hunk{OldFirst: 6, OldLines: 1, NewFirst: 6, NewLines: 1}, Removed: []string{"6"}, Added: []string{"7"}},
		},
		"new.go":  {{Hunk: repo.Hunk{OldFirst: 1, NewFirst: 1, NewLines: 2}, Removed: []string{}, Added: []string{"1", "2"}}},
		"same.go": nil, "gone.go": nil, "nosuch.go": nil, "large.go": nil,
	} {
		got, err := repo.Edits(t.Context(), old, now, name, 40)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestRenamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{"a/old.go": "1\n2\n3\n4\n", "other.go": "5\n6\n"})
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "old")
	must.Do(t, os.RemoveAll(filepath.Join(dir, "a")))
	must.Write(t, dir, map[string]string{"b/new.go": "0\n1\n2\n3\n", "half.go": "1\n2\n", "long.go": "1\n2\n3\n4\n" + strings.Repeat("5\n", 20), "same.txt": "1\n2\n3\n4\n", "other.go": "1\n2\n3\n4\n"})
	r := open(t, dir)
	old, now := treeAt(t, r, "HEAD"), headOf(t, r)
	to, edits, err := repo.Renamed(t.Context(), old, now, "a/old.go", 40)
	if err != nil || to != "b/new.go" || len(edits) != 2 {
		t.Errorf("got %q, %v, %v", to, edits, err)
	}
	must.Write(t, dir, map[string]string{"b/new.go": "0\n1\n7\n8\n", "half.go": "9\n"})
	if to, _, err = repo.Renamed(t.Context(), old, headOf(t, open(t, dir)), "a/old.go", 40); err != nil || to != "" {
		t.Errorf("of few lines: got %q, %v", to, err)
	}
}

// TestAccept_EX5_CheckoutsOfManyKinds: a subfolder, a linked working tree, alternates, a submodule and a shallow clone either give
// the same trees, or say in one line what to do.
func TestAccept_EX5_CheckoutsOfManyKinds(t *testing.T) {
	dir := repository(t)
	want := func() map[string]string {
		r := open(t, dir)
		green := treeAt(t, r, "green")
		return contents(t, green)
	}()
	at := func(t *testing.T, folder, revision string) (*repo.Repository, *repo.Tree, error) {
		t.Helper()
		r := open(t, folder)
		tr, err := r.At(t.Context(), revision)
		return r, tr, err
	}
	same := func(t *testing.T, folder, inside string) {
		t.Helper()
		r, tr, err := at(t, folder, "green")
		must.Do(t, err)
		check.Equal(t, r.Dir(), inside)
		check.Same(t, cmp.Diff(want, contents(t, tr)), "(-want +got)")
	}
	t.Run("subfolder", func(t *testing.T) { same(t, filepath.Join(dir, "sub"), "sub") })
	t.Run("linked working tree", func(t *testing.T) {
		other := filepath.Join(t.TempDir(), "other")
		must.Git(t, dir, "worktree", "add", "-q", "--detach", other, "main")
		same(t, other, ".")
	})
	t.Run("alternates", func(t *testing.T) {
		clone := filepath.Join(t.TempDir(), "clone")
		must.Git(t, dir, "clone", "-q", "--shared", "--no-checkout", dir, clone)
		same(t, clone, ".")
	})
	t.Run("submodule", func(t *testing.T) {
		outer := t.TempDir()
		must.Git(t, outer, "init", "-q")
		must.Git(t, outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", dir, "inner")
		must.Git(t, outer, "commit", "-qm", "outer")
		same(t, filepath.Join(outer, "inner"), ".")
		_, tr, err := at(t, outer, "HEAD")
		must.Do(t, err)
		if got := contents(t, tr); got[".gitmodules"] == "" || got["inner/cart.go"] != "head product" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("shallow clone", func(t *testing.T) {
		clone := filepath.Join(t.TempDir(), "clone")
		must.Git(t, dir, "clone", "-q", "--depth", "1", "file://"+dir, clone)
		_, _, err := at(t, clone, "green")
		if !errors.Is(err, repo.ErrRevision) || !strings.Contains(err.Error(), "git fetch --deepen 50") || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("partial clone", func(t *testing.T) {
		must.Git(t, dir, "config", "uploadpack.allowFilter", "true")
		clone := filepath.Join(t.TempDir(), "clone")
		must.Git(t, dir, "clone", "-q", "--filter=blob:none", "file://"+dir, clone)
		_, tr, err := at(t, clone, "green")
		must.Do(t, err)
		if _, err := tr.Write(t.Context(), t.TempDir()); !errors.Is(err, repo.ErrIncomplete) || !strings.Contains(err.Error(), "git fetch --refetch --no-filter") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no repository", func(t *testing.T) {
		check.Is(t, check.Err(repo.Open(t.Context(), t.TempDir())), repo.ErrNoRepository)
	})
	t.Run("unknown revision", func(t *testing.T) {
		for _, revision := range []string{"nosuch", "--all", "HEAD:cart.go", ""} {
			if _, _, err := at(t, dir, revision); !errors.Is(err, repo.ErrRevision) {
				t.Errorf("%q: got %v", revision, err)
			}
		}
	})
}

// TestAccept_EX6_NothingInTheRepositoryRuns: no hook, filter or monitor of the repository's configuration is run.
func TestAccept_EX6_NothingInTheRepositoryRuns(t *testing.T) {
	dir := repository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.external", "core.pager", "core.sshCommand"} {
		must.Git(t, dir, "config", name, fmt.Sprintf("sh -c 'echo %s >> %s; cat'", name, ran))
	}
	must.Git(t, dir, "config", "filter.evil.required", "true")
	hook := filepath.Join(dir, ".git", "hooks", "post-index-change")
	must.Do(t, os.WriteFile(hook, []byte("#!/bin/sh\necho hook >> "+ran+"\n"), 0o755))
	must.Write(t, dir, map[string]string{".gitattributes": "* filter=evil diff=evil\n"})
	touched := filepath.Join(dir, "same.go")
	if err := os.WriteFile(touched, []byte("same"), 0o644); err != nil { // written again: git has to look at it
		t.Fatal(err)
	}
	r := open(t, dir)
	head := headOf(t, r)
	green := treeAt(t, r, "green")
	if contents(t, head)["cart.go"] != "changed product" || contents(t, green)["cart.go"] != "green product" {
		t.Error("the trees have other contents")
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("these were run:\n%s", text)
	}
}
