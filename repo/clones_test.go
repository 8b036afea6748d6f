package repo_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/repo"
)

// TestAccept_EX5_Clones: clones as continuous integration has them give the same changes, or say in one line what to do.
func TestAccept_EX5_Clones(t *testing.T) {
	t.Parallel()
	git, top, dir := checkout(t)
	first := git("rev-parse", "HEAD")
	write(t, dir, map[string]string{"bank/ledger.go": strings.Replace(bank, "n < 0", "n <= 0", 1)})
	git("commit", "-qam", "second")
	git("config", "uploadpack.allowFilter", "true")
	git("config", "protocol.file.allow", "always")
	other := t.TempDir()
	url := "file://" + filepath.ToSlash(top)
	gitIn(t, other)("clone", "-q", "--depth", "1", url, "shallow")
	gitIn(t, other)("clone", "-q", "--filter=blob:none", url, "partial")
	gitIn(t, other)("clone", "-q", "--shared", top, "alternates")
	gitIn(t, other)("clone", "-q", "--no-checkout", top, "sparse")
	gitIn(t, filepath.Join(other, "sparse"))("sparse-checkout", "set", "--cone", "checkout/shop")
	gitIn(t, filepath.Join(other, "sparse"))("checkout", "-q", "main")
	gitIn(t, other)("init", "-q", "-b", "main", "super")
	gitIn(t, filepath.Join(other, "super"))("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", top, "mod")
	for _, tt := range []struct{ dir, advice string }{
		{"shallow/checkout", "run `git fetch --deepen 50`, or clone with fetch-depth: 0"},
		{"partial/checkout", "run git fetch --refetch --no-filter"},
		{"alternates/checkout", ""},
		{"sparse/checkout", ""},
		{"super/mod/checkout", ""},
	} {
		for _, since := range []string{"HEAD~1", first} {
			tree, err := repo.OpenSource(t.Context(), filepath.Join(other, tt.dir), since)
			if tt.advice != "" {
				if err == nil || !strings.Contains(err.Error(), tt.advice) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s since %s: %v", tt.dir, since, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s since %s: %v", tt.dir, since, err)
				continue
			}
			if c := tree.Changed(); len(c) != 1 || c[0].Path != "bank/ledger.go" {
				t.Errorf("%s since %s: %+v", tt.dir, since, c)
			}
			_ = tree.Close()
		}
	}
	// The programs of a submodule are its own repository's, and that it stands at another commit is one change.
	super := filepath.Join(other, "super")
	inSuper := gitIn(t, super)
	inSuper("commit", "-qm", "one")
	if c := openSource(t, super, "HEAD").Changed(); len(c) != 0 {
		t.Errorf("nothing changed, and got %+v", c)
	}
	gitIn(t, filepath.Join(super, "mod"))("checkout", "-q", first)
	inSuper("commit", "-qam", "two")
	if c := openSource(t, super, "HEAD~1").Changed(); len(c) != 1 || c[0].Path != "mod" || !c[0].Opaque {
		t.Errorf("another commit of the submodule: %+v", c)
	}
}
