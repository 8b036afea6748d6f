package commits_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/culprit/commits"
	"github.com/shadowcourt/shadowcourt/repo"
)

func TestAccept_AL7_HunkOfACommitIsOfTheCodeUnderTest(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit("begin", "cart/cart.go", "package cart\n\n// Total adds.\nfunc Total(a, b int) int {\n\treturn a + b\n}\n")
	r.write("README.md", "text\n")
	r.write("cart/cart_test.go", "package cart\n\nvar x = 1\n")
	r.commit("subtract", "cart/cart.go", "package cart\n\n// Total subtracts.\nfunc Total(a, b int) int {\n\treturn a - b\n}\n")
	r.commit("say so", "README.md", "more\n")
	line, err := commits.Open(t.Context(), commits.Config{Source: r.dir, Base: "HEAD~2"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = line.Close() }()
	c := &abi.Case{ID: "m/cart.TestTotal", Group: "m/cart"}
	for commit, want := range []struct {
		path string
		hunk repo.Edit
	}{
		{"cart/cart.go", repo.Edit{Hunk: repo.Hunk{OldFirst: 5, NewFirst: 5, OldLines: 1, NewLines: 1}, Removed: []string{"\treturn a + b"}, Added: []string{"\treturn a - b"}}},
		{"README.md", repo.Edit{Hunk: repo.Hunk{OldFirst: 1, NewFirst: 1, OldLines: 1, NewLines: 1}, Removed: []string{"text"}, Added: []string{"more"}}},
	} {
		path, hunk, err := line.Hunk(t.Context(), c, commit)
		if err != nil || path != want.path {
			t.Errorf("commit %d: %q, %v", commit, path, err)
		}
		if diff := cmp.Diff(want.hunk, hunk); diff != "" {
			t.Errorf("commit %d: %s", commit, diff)
		}
	}
}
