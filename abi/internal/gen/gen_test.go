package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// The committed codecs are those that the types of today give.
func TestGeneratedFilesAreFresh(t *testing.T) {
	t.Parallel()
	const dir = "../.."
	m, err := model.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	files, err := render(m)
	if err != nil {
		t.Fatal(err)
	}
	there, err := generated(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range there {
		if files[name] == nil {
			t.Errorf("%s is no longer generated: run go generate ./abi", name)
		}
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./abi", name)
		}
	}
}
