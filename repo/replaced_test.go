package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/repo"
)

// TestAccept_AL3_ReplacedCommits: git replace changes neither a tree nor a line of commits.
func TestAccept_AL3_ReplacedCommits(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	green := output(t, dir, "", "rev-parse", "green")
	git(t, dir, "replace", green, output(t, dir, "", "commit-tree", "-m", "evil", "main^{tree}"))
	git(t, dir, "replace", output(t, dir, "", "--no-replace-objects", "rev-parse", green+":same.go"), output(t, dir, "", "rev-parse", "main:cart.go"))
	r := open(t, dir)
	base := treeAt(t, r, "green")
	if got := contents(t, base); got["cart.go"] != "green product" || got["same.go"] != "same" {
		t.Errorf("got %v", got)
	}
	git(t, dir, "replace", "main", green)
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
		git(t, dir, "update-ref", ref, head)
	}
	for _, ref := range []string{"refs/tags/main", "refs/heads/origin/main", "refs/heads/" + head, "refs/tags/" + head[:7], "refs/tags/one", "refs/heads/HEAD"} {
		git(t, dir, "update-ref", ref, green)
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
		if got, err := r.Commit(t.Context(), name); err != nil || got != want {
			t.Errorf("%s: got %s, %v; expected %s", name, got, err, want)
		}
	}
}

// TestAccept_AL8_ChangesThatGitDoesNotTell: the tree under test has what stands in the working tree, whatever git was told to pass over, and
// a base has none of it.
func TestAccept_AL8_ChangesThatGitDoesNotTell(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(t *testing.T, dir string){
		"skip-worktree": func(t *testing.T, dir string) { t.Helper(); git(t, dir, "update-index", "--skip-worktree", "same.go") },
		"assume-unchanged": func(t *testing.T, dir string) {
			t.Helper()
			git(t, dir, "update-index", "--assume-unchanged", "same.go")
		},
		"times and sizes": func(t *testing.T, dir string) {
			t.Helper()
			git(t, dir, "config", "core.checkStat", "minimal")
			git(t, dir, "config", "core.trustctime", "false")
			git(t, dir, "update-index", "--refresh", "same.go")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repository(t)
			git(t, dir, "reset", "-q", "--hard", "main")
			file, long := filepath.Join(dir, "same.go"), time.Unix(1_000_000_000, 0)
			if err := os.Chtimes(file, long, long); err != nil {
				t.Fatal(err)
			}
			hide(t, dir)
			// Another file in its place: git compares the time of a change by the second.
			other := filepath.Join(t.TempDir(), "other.go")
			if err := errors.Join(os.WriteFile(other, []byte("evil"), 0o644), os.Chtimes(other, long, long), os.Rename(other, file)); err != nil {
				t.Fatal(err)
			}
			if told := output(t, dir, "", "status", "--porcelain", "--untracked-files=no"); told != "" {
				t.Fatalf("git tells %s", told)
			}
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
	git(t, dir, "reset", "-q", "--hard", "main")
	git(t, dir, "sparse-checkout", "set", "testdata")
	if _, err := os.Stat(filepath.Join(dir, "sub", "x.go")); err == nil {
		t.Fatal("the checkout is not sparse")
	}
	r := open(t, dir)
	for _, read := range []func() (*repo.Tree, error){
		func() (*repo.Tree, error) { return r.Head(t.Context()) },
		func() (*repo.Tree, error) { return r.At(t.Context(), "green") },
	} {
		tr, err := read()
		if err != nil {
			t.Fatal(err)
		}
		if got := contents(t, tr)["sub/x.go"]; got != "x" {
			t.Errorf("got %q", got)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	c := list[0]
	if c.Title != title[:199] || len(c.Author) < 100 || len(c.Author) > 200 || !utf8.ValidString(c.Author) {
		t.Errorf("%d bytes of the title %q, %d of the author %q", len(c.Title), c.Title, len(c.Author), c.Author)
	}
}
