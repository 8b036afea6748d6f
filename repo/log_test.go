package repo_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/repo"
)

// output runs git with an input and gives what it writes.
func output(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	cmd.Stdin = strings.NewReader(input)
	out := must.Get(cmd.Output())(t, "git", args)
	return strings.TrimSpace(string(out))
}

// TestLineOfAHostileHistory: titles are what they are, names that git quotes are left out, and the program that shall check a signature does
// not run.
func TestLineOfAHostileHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{"a.go": "1"})
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "one")
	base := output(t, dir, "", "rev-parse", "HEAD")
	must.Write(t, dir, map[string]string{"a.go": "2", "new\nline.go": "", `quo"te.go`: "", "é.go": ""})
	must.Git(t, dir, "add", ".")
	title := "fake \x01" + base + "\x02 \t title \x1b[31m"
	must.Git(t, dir, "commit", "-qm", title)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	must.Do(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755))
	must.Git(t, dir, "config", "gpg.program", program)
	must.Git(t, dir, "config", "log.showSignature", "true")
	second := output(t, dir, "", "rev-parse", "HEAD")
	signed := output(t, dir, "tree "+output(t, dir, "", "rev-parse", "HEAD^{tree}")+"\nparent "+second+"\nauthor a <a@example.com> 0 +0000\ncommitter a <a@example.com> 0 +0000\n"+
		"gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n", "hash-object", "-t", "commit", "-w", "--stdin")
	r := open(t, dir)
	first, list, err := r.Line(t.Context(), base, signed, 2)
	must.Do(t, err)
	want := []repo.Commit{
		{ID: second, Author: list[0].Author, Title: title, Paths: []string{"a.go", "é.go"}},
		{ID: signed, Author: "a", Title: "signed"},
	}
	if diff := cmp.Diff(want, list); diff != "" || first != base {
		t.Errorf("from %s: (-want +got)\n%s", first, diff)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program of the configuration ran")
	}
	if _, _, err := r.Line(t.Context(), base, signed, 1); !errors.Is(err, repo.ErrLine) || !strings.Contains(err.Error(), "more than 1 from") {
		t.Errorf("got %v", err)
	}
	check.Is(t, check.Err(repo.Bounded(r, t.Context(), nil, 10, "log")), repo.ErrTooLong)
	if _, err := repo.Bounded(r, t.Context(), nil, 1<<20, "log", base+"x"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

// TestLineOfAShallowClone says what to do.
func TestLineOfAShallowClone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Git(t, dir, "init", "-q", "-b", "main")
	for _, text := range []string{"1", "2", "3", "4"} {
		must.Write(t, dir, map[string]string{"a.go": text})
		must.Git(t, dir, "add", ".")
		must.Git(t, dir, "commit", "-qm", text)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	must.Git(t, dir, "clone", "-q", "--depth", "2", "file://"+dir, clone)
	r := open(t, clone)
	if _, _, err := r.Line(t.Context(), "HEAD~3", "HEAD", 10); !errors.Is(err, repo.ErrRevision) || !strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Errorf("got %v", err)
	}
	if _, list, err := r.Line(t.Context(), "HEAD~1", "HEAD", 10); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v", list, err)
	}
}

// TestAccept_IG1_LineOfAPullRequest: what GitHub checks out is one merge into the target, and the commits of the change are searched.
func TestAccept_IG1_LineOfAPullRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	commit := func(name string) string {
		must.Write(t, dir, map[string]string{name: name})
		must.Git(t, dir, "add", ".")
		must.Git(t, dir, "commit", "-qm", name)
		return output(t, dir, "", "rev-parse", "HEAD")
	}
	must.Git(t, dir, "init", "-q", "-b", "main")
	fork := commit("fork")
	must.Git(t, dir, "checkout", "-q", "-b", "change")
	one, two := commit("one"), commit("two")
	must.Git(t, dir, "checkout", "-q", "main")
	target := commit("target")
	must.Git(t, dir, "merge", "-q", "--no-ff", "-m", "Merge change into main", "change")
	merge := output(t, dir, "", "rev-parse", "HEAD")
	after := commit("after")
	r := open(t, dir)
	for _, tt := range []struct {
		name, base, head, first string
		want                    []string
	}{
		{"the merge alone", target, merge, fork, []string{one, two, merge}},
		{"the merge and more", target, after, target, []string{merge, after}},
		{"the change alone", fork, two, fork, []string{one, two}},
	} {
		first, list, err := r.Line(t.Context(), tt.base, tt.head, 10)
		var ids []string
		for i := range list {
			ids = append(ids, list[i].ID)
		}
		if diff := cmp.Diff(tt.want, ids); err != nil || diff != "" || first != tt.first {
			t.Errorf("%s: from %s, %v\n%s", tt.name, first, err, diff)
		}
	}
}

// TestAccept_AL3_ReplacedCommits: git replace changes neither a tree nor a line of commits.
func TestAccept_AL3_ReplacedCommits(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	green := output(t, dir, "", "rev-parse", "green")
	must.Git(t, dir, "replace", green, output(t, dir, "", "commit-tree", "-m", "evil", "main^{tree}"))
	must.Git(t, dir, "replace", output(t, dir, "", "--no-replace-objects", "rev-parse", green+":same.go"), output(t, dir, "", "rev-parse", "main:cart.go"))
	r := open(t, dir)
	base := treeAt(t, r, "green")
	if got := contents(t, base); got["cart.go"] != "green product" || got["same.go"] != "same" {
		t.Errorf("got %v", got)
	}
	must.Git(t, dir, "replace", "main", green)
	if first, list, err := r.Line(t.Context(), "green", "main", 9); err != nil || first != green || len(list) != 1 || list[0].Title != "head" {
		t.Errorf("got %s, %+v, %v", first, list, err)
	}
}

// TestAccept_AL3_AmbiguousRevisions: a name that git resolves to a tag, and the user means as a branch, is rejected with the names to choose from.
func TestAccept_AL3_AmbiguousRevisions(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	green, head := output(t, dir, "", "rev-parse", "green"), output(t, dir, "", "rev-parse", "main")
	for _, ref := range []string{"refs/remotes/origin/main", "refs/heads/same", "refs/tags/same", "refs/tags/below/main", "refs/remotes/one/HEAD"} {
		must.Git(t, dir, "update-ref", ref, head)
	}
	for _, ref := range []string{"refs/tags/main", "refs/heads/origin/main", "refs/heads/" + head, "refs/tags/" + head[:7], "refs/tags/one", "refs/heads/HEAD"} {
		must.Git(t, dir, "update-ref", ref, green)
	}
	r := open(t, dir)
	for name, choice := range map[string]string{
		"main": "refs/heads/main or refs/tags/main", "main~0": "refs/heads/main or refs/tags/main", "origin/main": "refs/heads/origin/main or refs/remotes/origin/main",
		head[:7]: "refs/tags/" + head[:7] + " or " + head, "one": "refs/remotes/one/HEAD or refs/tags/one",
	} {
		if got, err := r.Commit(t.Context(), name); !errors.Is(err, repo.ErrAmbiguous) || !strings.HasSuffix(err.Error(), ": use "+choice) {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{
		"HEAD": head, "@": head, head: head, "refs/heads/main": head, "refs/tags/main": green, "same": head, "below/main": head, "green": green, "refs/heads/main~1": green,
	} {
		check.Equal(t, must.Get(r.Commit(t.Context(), name))(t), want, name)
	}
}

// TestAccept_AL8_ChangesThatGitDoesNotTell: the tree under test has what stands in the working tree, whatever git was told to pass over, and
// a base has none of it.
func TestAccept_AL8_ChangesThatGitDoesNotTell(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(t *testing.T, dir string){
		"skip-worktree": func(t *testing.T, dir string) {
			t.Helper()
			must.Git(t, dir, "update-index", "--skip-worktree", "same.go")
		},
		"assume-unchanged": func(t *testing.T, dir string) {
			t.Helper()
			must.Git(t, dir, "update-index", "--assume-unchanged", "same.go")
		},
		"times and sizes": func(t *testing.T, dir string) {
			t.Helper()
			must.Git(t, dir, "config", "core.checkStat", "minimal")
			must.Git(t, dir, "config", "core.trustctime", "false")
			must.Git(t, dir, "update-index", "--refresh", "same.go")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t)
			must.Git(t, dir, "reset", "-q", "--hard", "main")
			file, long := filepath.Join(dir, "same.go"), time.Unix(1_000_000_000, 0)
			must.Do(t, os.Chtimes(file, long, long))
			hide(t, dir)
			// Another file in its place: git compares the time of a change by the second.
			other := filepath.Join(t.TempDir(), "other.go")
			must.Do(t, errors.Join(os.WriteFile(other, []byte("evil"), 0o644), os.Chtimes(other, long, long), os.Rename(other, file)))
			must.Equal(t, output(t, dir, "", "status", "--porcelain", "--untracked-files=no"), "", "git tells")
			r := open(t, dir)
			head := headOf(t, r)
			committed := treeAt(t, r, "main")
			if got := head.Changed(committed); !slices.Contains(got, "same.go") || head.Digest() == committed.Digest() {
				t.Errorf("changed are %v", got)
			}
			if contents(t, head)["same.go"] != "evil" || contents(t, committed)["same.go"] != "same" {
				t.Errorf("got %q and %q", contents(t, head)["same.go"], contents(t, committed)["same.go"])
			}
		})
	}
}

// TestSparseCheckout: files that are not written are those of the commit.
func TestSparseCheckout(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	must.Git(t, dir, "reset", "-q", "--hard", "main")
	must.Git(t, dir, "sparse-checkout", "set", "testdata")
	if _, err := os.Stat(filepath.Join(dir, "sub", "x.go")); err == nil {
		t.Fatal("the checkout is not sparse")
	}
	r := open(t, dir)
	for _, read := range []func() (*repo.Tree, error){
		func() (*repo.Tree, error) { return r.Head(t.Context()) },
		func() (*repo.Tree, error) { return r.At(t.Context(), "green") },
	} {
		tr := must.Get(read())(t)
		check.Equal(t, contents(t, tr)["sub/x.go"], "x")
	}
}

// TestAccept_AL7_LongTitles: of a title and an author, so much is read that an answer has room for it.
func TestAccept_AL7_LongTitles(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	title := "x" + strings.Repeat("é", 50_000)
	object := "tree " + output(t, dir, "", "rev-parse", "main^{tree}") + "\nparent " + output(t, dir, "", "rev-parse", "main") + "\nauthor " + strings.Repeat("a\xff", 5000) +
		" <a@example.com> 0 +0000\ncommitter a <a@example.com> 0 +0000\n\n" + title + "\n"
	r := open(t, dir)
	_, list, err := r.Line(t.Context(), "main", output(t, dir, object, "hash-object", "-t", "commit", "-w", "--stdin"), 1)
	must.Do(t, err)
	c := list[0]
	if c.Title != title[:199] || len(c.Author) < 100 || len(c.Author) > 200 || !utf8.ValidString(c.Author) {
		t.Errorf("%d bytes of the title %q, %d of the author %q", len(c.Title), c.Title, len(c.Author), c.Author)
	}
}
