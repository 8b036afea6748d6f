package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

func TestSchemasAreUpToDate(t *testing.T) {
	t.Parallel()
	m, err := model.Load("")
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(m)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "schema", "json")
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./abi/... (%v)", name, err)
		}
	}
	there, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(there) != len(files) {
		t.Errorf("%d files are there, %d are generated", len(there), len(files))
	}
}
