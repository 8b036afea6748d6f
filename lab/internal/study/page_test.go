package study

import (
	"os"
	"path/filepath"
	"testing"
)

// Tables take the place of what stood between their marks, as often as they
// are made; a page without their place is left alone.
func TestTablesGoBetweenTheirMarks(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n\n<!-- a -->\nold\n<!-- /a -->\n\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Write(page, []Table{{"a", "| $1 |\n"}}); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(page)
		if want := "before\n\n<!-- a -->\n\n| $1 |\n\n<!-- /a -->\n\nafter\n"; string(got) != want {
			t.Errorf("got %q", got)
		}
	}
	if err := Write(page, []Table{{"b", ""}}); err == nil {
		t.Error("a table without a place was written")
	}
}

func TestTablesAsCSV(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "tables")
	tables := []Table{
		{"the plain one", "| a | b |\n| --- | ---: |\n| x, y | `p\\|q` |\n\nA sentence.\n"},
		{"parts", "first (2):\n\n| a |\n| --- |\n| 1 |\n\nsecond:\n\n| a |\n| --- |\n| 2 |\n"},
	}
	for range 2 {
		if err := Save(folder, tables, nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"the-plain-one.csv": "a,b\n\"x, y\",`p|q`\n",
		"parts.csv":         "first (2),a\nfirst (2),1\nsecond,a\nsecond,2\n",
	} {
		if got, _ := os.ReadFile(filepath.Join(folder, name)); string(got) != want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
