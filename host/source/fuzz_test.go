package source_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/source"
)

// Files of the source are others' work: whatever they hold, a tree over them is opened, and
// what a log names in it is found or not.
func FuzzTree(f *testing.F) {
	f.Add("module m\n\nreplace m => ../m\n", "package a\n\nimport \"m/b\"\n\nfunc TestA(t *testing.T) { b.F() }\n", "import pytest\ndef test_a(): pass\n", "a/a_test.go:5 TestA b_test.py:2")
	f.Add("module \"\n", "package a\nfunc (", "\x00", "a_test.go:1")
	f.Add("module m\nrequire m v0\n", "//line x.go:1\npackage a\nfunc F[T any]() {}\n", "def test_é():", "--- FAIL: TestA/b")
	f.Fuzz(func(t *testing.T, module, test, other, log string) {
		dir := t.TempDir()
		for name, text := range map[string]string{"go.mod": module, "a/a_test.go": test, "b/b.go": test, "b_test.py": other} {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tree, err := source.Open(t.Context(), dir, "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tree.Close() }()
		frames := tree.Frames(log)
		for _, frame := range frames {
			if !fs.ValidPath(frame.Path) || frame.Line < 1 {
				t.Errorf("%+v", frame)
			}
		}
		tree.Tests(log, frames)
	})
}
