package tree_test

import (
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
