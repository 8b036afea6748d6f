package moduledir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/moduledir"
)

// TestWhatAKilledProcessLeftIsRemoved writes the files that a killed change leaves: the next change removes them.
func TestWhatAKilledProcessLeftIsRemoved(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	dir, err := moduledir.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(content string) {
		t.Helper()
		if _, err := dir.Replace(map[string][]byte{"a": []byte(content)}); err != nil {
			t.Fatal(err)
		}
	}
	put("one")
	put("two")
	left := []string{
		filepath.Join(path, ".a.wasm.0.tmp"), filepath.Join(path, ".history", ".generation.0.tmp"),
		filepath.Join(path, ".history", "a", ".order.0.tmp"), filepath.Join(path, ".history", "a", ".left.0.tmp"),
	}
	for _, name := range left {
		if err := os.WriteFile(name, []byte("cut"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := dir.Rollback("a", ""); err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}
