package study

import (
	"io"
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
		if err := Write(page, []Table{{"a", "| $1 |\n"}}, io.Discard); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(page)
		if want := "before\n\n<!-- a -->\n\n| $1 |\n\n<!-- /a -->\n\nafter\n"; string(got) != want {
			t.Errorf("got %q", got)
		}
	}
	if err := Write(page, []Table{{"b", ""}}, io.Discard); err == nil {
		t.Error("a table without a place was written")
	}
}
