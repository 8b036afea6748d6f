package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAccept_IG4_CodeOfFindings: a finding without code gets the lines around it, and never those of a file outside of the folder.
func TestAccept_IG4_CodeOfFindings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := filepath.Join(dir, "src")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"src/a.c": "1\n2\r\n3\n4\n5\n6\n7\n8\n9", "src/bin": "a\x00b\n", "secret": "secret\n", "src/wide": strings.Repeat("x", maxCodeBytes+1) + "\n",
		"src/large": strings.Repeat("x\n", maxCodeFile),
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret", filepath.Join(folder, "link")); err != nil {
		t.Skip(err)
	}
	d := &Dockets{}
	if err := d.ReadCode(folder); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, tc := range []struct {
		file  string
		line  int
		text  string
		first int
	}{
		{"a.c", 5, "2\n3\n4\n5\n6\n7\n8", 2},
		{filepath.ToSlash(filepath.Join(folder, "a.c")), 1, "1\n2\n3\n4", 1},
		{"a.c", 9, "6\n7\n8\n9", 6},
		{"a.c", 10, "", 0},
		{"a.c", 0, "", 0},
		{"../secret", 1, "", 0},
		{filepath.ToSlash(filepath.Join(dir, "secret")), 1, "", 0},
		{"link", 1, "", 0},
		{".", 1, "", 0},
		{"bin", 1, "", 0},
		{"wide", 1, "", 0},
		{"large", 1, "", 0},
		{"gone.c", 1, "", 0},
		{"https://example.com/a.c", 1, "", 0},
	} {
		if text, first := d.code(tc.file, tc.line); text != tc.text || first != tc.first {
			t.Errorf("%s:%d: %q from %d, want %q from %d", tc.file, tc.line, text, first, tc.text, tc.first)
		}
	}
}
