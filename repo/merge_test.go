package repo_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/repo"
)

// merge merges the working tree of a checkout into a revision.
func merge(t *testing.T, dir, target string) (*repo.Tree, error) {
	t.Helper()
	r := open(t, dir)
	head := headOf(t, r)
	return r.Merge(t.Context(), t.TempDir(), target, "HEAD", head)
}

// diverged is a checkout whose target has a commit of its own beside the one of head, and whose changes are not all committed.
func diverged(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{
		"both.go": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "gone.go": "gone\n", "same.go": "same\n", "file": "a file\n", `odd "name" ü.go`: "odd\n", "moved.go": "a\nb\nc\nd\ne\nf\n",
	})
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "first")
	must.Git(t, dir, "checkout", "-q", "-b", "target")
	must.Write(t, dir, map[string]string{"both.go": "one\n2\n3\n4\n5\n6\n7\n8\n9\n", "target.go": "target\n", "moved.go": "a\nb\nc\nd\ne\nF\n"})
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "of the target")
	must.Git(t, dir, "checkout", "-q", "main")
	must.Write(t, dir, map[string]string{"head.go": "head\n", "new/other.go": "other\n"})
	must.Git(t, dir, "mv", "moved.go", "new/moved.go")
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "of head")
	must.Do(t, errors.Join(os.Remove(filepath.Join(dir, "gone.go")), os.Remove(filepath.Join(dir, "file")), os.Symlink("same.go", filepath.Join(dir, "link"))))
	must.Write(t, dir, map[string]string{"both.go": "1\n2\n3\n4\n5\n6\n7\n8\nnine\n", "file/inside": "now a folder\n", `odd "name" ü.go`: "odd, changed\n", "untracked.go": "untracked\n"})
	return dir
}

func TestMerge(t *testing.T) {
	dir := diverged(t)
	before := folder(t, filepath.Join(dir, ".git"))
	merged := must.Get(merge(t, dir, "target"))(t)
	want := map[string]string{
		"both.go": "one\n2\n3\n4\n5\n6\n7\n8\nnine\n", "same.go": "same\n", "file/inside": "now a folder\n", `odd "name" ü.go`: "odd, changed\n", "target.go": "target\n",
		"head.go": "head\n", "new/other.go": "other\n", "untracked.go": "untracked\n", "link": "-> same.go", "new/moved.go": "a\nb\nc\nd\ne\nF\n",
	}
	check.Same(t, cmp.Diff(want, contents(t, merged)), "(-want +got)")
	after := folder(t, filepath.Join(dir, ".git"))
	maps.DeleteFunc(after, func(name, text string) bool { return before[name] == text })
	if len(after) > 0 {
		t.Errorf("the repository was changed: %v", after)
	}
	check.Is(t, check.Err(merge(t, dir, "nosuch")), repo.ErrRevision)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := open(t, dir)
	if _, err := r.Merge(ctx, t.TempDir(), "target", "HEAD", merged); err == nil {
		t.Error("a canceled merge was made")
	}
}

func TestMergeOfOtherCheckouts(t *testing.T) {
	dir := diverged(t)
	t.Run("linked working tree, and a target that has head", func(t *testing.T) {
		other := filepath.Join(t.TempDir(), "other")
		must.Git(t, dir, "worktree", "add", "-q", "--detach", other, "target~1")
		merged := must.Get(merge(t, other, "target"))(t)
		check.Equal(t, contents(t, merged)["both.go"], "one\n2\n3\n4\n5\n6\n7\n8\n9\n")
	})
	t.Run("submodule", func(t *testing.T) {
		outer := t.TempDir()
		must.Git(t, outer, "init", "-q")
		must.Git(t, outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", dir, "inner")
		must.Git(t, outer, "commit", "-qm", "outer")
		must.Git(t, outer, "branch", "target")
		must.Write(t, outer, map[string]string{"new.go": "new\n"})
		merged := must.Get(merge(t, outer, "target"))(t)
		if got := contents(t, merged); got["new.go"] != "new\n" || got["inner/same.go"] != "same\n" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("shallow clone", func(t *testing.T) {
		clone := filepath.Join(t.TempDir(), "clone")
		must.Git(t, dir, "clone", "-q", "--depth", "1", "--no-single-branch", "file://"+dir, clone)
		if _, err := merge(t, clone, "origin/target"); err == nil || !strings.Contains(err.Error(), "git fetch --deepen 50") || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	})
}

func TestMergeConflict(t *testing.T) {
	dir := diverged(t)
	must.Write(t, dir, map[string]string{"both.go": "eins\n2\n3\n4\n5\n6\n7\n8\n9\n", "target.go": "another\n"})
	if _, err := merge(t, dir, "target"); !errors.Is(err, repo.ErrConflict) || err.Error() != "they conflict in both.go and 1 more" {
		t.Errorf("got %v", err)
	}
}

// TestAccept_EX6_AMergeKeepsToItsFolder: a target that puts a link in the place of a folder has nothing written through it.
func TestAccept_EX6_AMergeKeepsToItsFolder(t *testing.T) {
	dir, outside := diverged(t), t.TempDir()
	must.Git(t, dir, "stash", "-q", "-u")
	must.Git(t, dir, "checkout", "-q", "target")
	must.Do(t, os.Symlink(outside, filepath.Join(dir, "new")))
	must.Git(t, dir, "add", "-A")
	must.Git(t, dir, "commit", "-qm", "a link")
	must.Git(t, dir, "checkout", "-q", "main")
	merged, err := merge(t, dir, "target")
	if err == nil {
		contents(t, merged)
	} else if !errors.Is(err, repo.ErrConflict) {
		t.Error(err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestAccept_EX6_NothingRunsInAMerge: no merge driver, hook or filter of the repository is run.
func TestAccept_EX6_NothingRunsInAMerge(t *testing.T) {
	dir := diverged(t)
	ran := filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"merge.evil.driver", "filter.evil.clean", "filter.evil.smudge", "core.fsmonitor"} {
		must.Git(t, dir, "config", name, "sh -c 'echo "+name+" >> "+ran+"'")
	}
	must.Git(t, dir, "config", "merge.default", "evil")
	must.Write(t, dir, map[string]string{".gitattributes": "* merge=evil filter=evil\n", ".git/info/attributes": "* merge=evil filter=evil\n"})
	for _, hook := range []string{"reference-transaction", "post-merge", "pre-merge-commit"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, ".git", "hooks", hook), []byte("#!/bin/sh\necho "+hook+" >> "+ran+"\n"), 0o755))
	}
	merged := must.Get(merge(t, dir, "target"))(t)
	check.Equal(t, contents(t, merged)["both.go"], "one\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("these were run:\n%s", text)
	}
}
