package tree_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/experiment/tree"
)

// TestAccept_AL3_ReplacedCommits: git replace changes neither a tree nor a line of commits.
func TestAccept_AL3_ReplacedCommits(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	green := output(t, dir, "", "rev-parse", "green")
	git(t, dir, "replace", green, output(t, dir, "", "commit-tree", "-m", "evil", "main^{tree}"))
	git(t, dir, "replace", output(t, dir, "", "--no-replace-objects", "rev-parse", green+":same.go"), output(t, dir, "", "rev-parse", "main:cart.go"))
	r, err := tree.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	base, err := r.At(t.Context(), "green")
	if err != nil {
		t.Fatal(err)
	}
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
	r, err := tree.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, choice := range map[string]string{
		"main": "refs/heads/main or refs/tags/main", "main~0": "refs/heads/main or refs/tags/main", "origin/main": "refs/heads/origin/main or refs/remotes/origin/main",
		head[:7]: "refs/tags/" + head[:7] + " or " + head, "one": "refs/remotes/one/HEAD or refs/tags/one",
	} {
		if got, err := r.Commit(t.Context(), name); !errors.Is(err, tree.ErrAmbiguous) || !strings.HasSuffix(err.Error(), ": use "+choice) {
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
