package isolate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
)

// TestAccept_EX6_AViewHidesTheCheckout: a program sees a tree in the place of the checkout, with what is kept of that, and changes
// neither, whatever links the tree has.
func TestAccept_EX6_AViewHidesTheCheckout(t *testing.T) {
	if !isolate.CanView() {
		t.Skip("the system allows no user namespaces")
	}
	for _, write := range []bool{false, true} {
		checkout, scratch, outside := t.TempDir(), t.TempDir(), t.TempDir()
		tree := filepath.Join(t.TempDir(), "tree")
		if write {
			tree = filepath.Join(scratch, "tree")
		}
		for name, text := range map[string]string{
			filepath.Join(checkout, "product"): "new", filepath.Join(checkout, "secret"): "hidden", filepath.Join(checkout, "modules", "a"): "kept",
			filepath.Join(checkout, "version"): "7", filepath.Join(checkout, "link", "b"): "kept", filepath.Join(tree, "product"): "old",
			filepath.Join(outside, "file"): "untouched",
		} {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(outside, filepath.Join(tree, "link")); err != nil {
			t.Fatal(err)
		}
		r := shell(t, isolate.Namespaces, `cat product modules/a version; cat secret; ls link 2>&1
			echo report >report; echo x >product; echo x >modules/a; echo x >modules/b; echo x >version; echo x >`+outside+`/file; true`, func(c *isolate.Command) {
			c.Scratch, c.Dir = scratch, checkout
			c.Views = []isolate.View{{At: checkout, From: tree, Keep: []string{"modules", "version", "link", "none"}, Write: write}}
		})
		if got := string(r.Output); !strings.HasPrefix(got, "oldkept7cat: secret") || strings.Contains(got, "hidden") || r.ExitCode != 0 {
			t.Errorf("write %v: it saw %q", write, got)
		}
		written := isolate.Written(scratch, 0)
		if write {
			written = tree
		}
		for name, want := range map[string]string{
			filepath.Join(checkout, "product"): "new", filepath.Join(checkout, "modules", "a"): "kept", filepath.Join(checkout, "version"): "7",
			filepath.Join(outside, "file"): "untouched", filepath.Join(written, "report"): "report\n",
		} {
			if got, err := os.ReadFile(name); string(got) != want {
				t.Errorf("write %v: %s has %q, %v", write, name, got, err)
			}
		}
		if got, err := os.ReadFile(filepath.Join(tree, "product")); (string(got) == "old") == write {
			t.Errorf("write %v: the tree has %q, %v", write, got, err)
		}
		if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
			t.Errorf("write %v: beside the tree there are %v, %v", write, entries, err)
		}
	}
}
