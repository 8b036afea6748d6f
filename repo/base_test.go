package repo_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/repo"
)

// TestFindBase: the base of a change in every place where one is made.
func TestFindBase(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	git(t, top, "init", "-q", "-b", "main")
	commit := func(name string) string {
		write(t, top, map[string]string{name + ".go": "package " + name + "\n"})
		git(t, top, "add", ".")
		git(t, top, "commit", "-qm", name)
		return output(t, top, "", "rev-parse", "HEAD")
	}
	variables := map[string]string{}
	find := func(dir string) (repo.Base, error) {
		r, err := repo.Open(t.Context(), dir)
		if err != nil {
			return repo.Base{}, err
		}
		return r.FindBase(t.Context(), func(name string) string { return variables[name] })
	}
	check := func(what, dir, commit, why string) {
		t.Helper()
		base, err := find(dir)
		if err != nil || base.Commit != commit || !strings.HasPrefix(base.Why, why) {
			t.Errorf("%s: %+v, %v; expected %.12s, %s", what, base, err, commit, why)
		}
	}
	one := commit("one")
	if _, err := find(top); !errors.Is(err, repo.ErrNoBase) || !strings.Contains(err.Error(), "first commit") {
		t.Errorf("of the first commit: %v", err)
	}
	two := commit("two")
	check("a commit on the default branch", top, one, "the commit before HEAD")
	write(t, top, map[string]string{"two.go": "package two\n\nvar x = 1\n"})
	check("uncommitted changes there", top, two, "HEAD, since there are changes that are not committed")
	git(t, top, "checkout", "-q", "two.go")

	git(t, top, "checkout", "-q", "-b", "topic")
	topic := commit("three")
	check("a branch", top, two, "merge base of HEAD and main")
	write(t, top, map[string]string{"three.go": "package three\n\nvar x = 1\n"})
	check("a branch with uncommitted changes", top, two, "merge base of HEAD and main")
	git(t, top, "checkout", "-q", "three.go")
	git(t, top, "checkout", "-q", "-b", "stacked")
	commit("four")
	git(t, top, "branch", "-q", "--set-upstream-to", "topic")
	check("a branch on a branch", top, topic, "merge base of HEAD and topic")

	// What a server has: a clone with the branches of its remote, and the merge that GitHub checks out.
	git(t, top, "checkout", "-q", "main")
	tip := commit("five")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, filepath.Dir(clone), "clone", "-q", top, "clone")
	git(t, clone, "checkout", "-q", "--detach", tip)
	git(t, clone, "merge", "-q", "--no-edit", "origin/topic")
	variables["GITHUB_BASE_REF"] = "main"
	check("GitHub", clone, tip, "merge base of HEAD and origin/main (GITHUB_BASE_REF)")
	git(t, clone, "checkout", "-q", "--detach", "origin/stacked")
	variables["GITHUB_BASE_REF"] = "topic"
	check("GitHub, another target", clone, topic, "merge base of HEAD and origin/topic (GITHUB_BASE_REF)")
	variables["GITHUB_BASE_REF"] = "gone"
	if _, err := find(clone); !errors.Is(err, repo.ErrNoBase) || !strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Errorf("a target that is not there: %v", err)
	}
	clear(variables)
	variables["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = two
	check("GitLab", clone, two, "merge base of HEAD and "+two[:12]+" (CI_MERGE_REQUEST_DIFF_BASE_SHA)")
	clear(variables)
	variables["TRAVIS_BRANCH"], variables["TRAVIS_PULL_REQUEST"] = "topic", "false"
	check("no pull request, and a HEAD that is no branch", clone, two, "merge base of HEAD and origin/main")
	variables["TRAVIS_PULL_REQUEST"] = "7"
	check("Travis", clone, topic, "merge base of HEAD and origin/topic (TRAVIS_BRANCH)")
	clear(variables)

	shallow := filepath.Join(t.TempDir(), "shallow")
	git(t, filepath.Dir(shallow), "clone", "-q", "--depth", "1", "--no-single-branch", "--branch", "stacked", "file://"+filepath.ToSlash(top), "shallow")
	if _, err := find(shallow); !errors.Is(err, repo.ErrNoBase) || !strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Errorf("a shallow clone: %v", err)
	}
	if _, err := find(t.TempDir()); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("no repository: %v", err)
	}
}

// TestFileAt: a file of a revision is what was committed; what is no regular file, or too large, is not read.
func TestFileAt(t *testing.T) {
	t.Parallel()
	r := open(t, repository(t))
	if got, err := r.FileAt(t.Context(), "green", "cart.go", 13); err != nil || string(got) != "green product" {
		t.Errorf("got %q, %v", got, err)
	}
	for name, want := range map[string]error{"cart.go": repo.ErrTooLarge, "link.go": fs.ErrNotExist, "sub": fs.ErrNotExist, "none.go": fs.ErrNotExist, "../x": fs.ErrNotExist} {
		if got, err := r.FileAt(t.Context(), "green", name, 12); !errors.Is(err, want) {
			t.Errorf("%s: got %q, %v; want %v", name, got, err, want)
		}
	}
	if _, err := r.FileAt(t.Context(), "nosuch", "cart.go", 12); !errors.Is(err, repo.ErrRevision) {
		t.Errorf("got %v", err)
	}
}
