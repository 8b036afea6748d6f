package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

// The page of the study has a place for every table.
func TestThePageHasItsMarks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "light-study.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := study.Write(page, (&lightStudy{}).tables(), io.Discard); err != nil {
		t.Error(err)
	}
}
