package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// The committed files are those that the types of today give.
func TestGeneratedFilesAreFresh(t *testing.T) {
	t.Parallel()
	const dir = "../.."
	files := must.Get(generate(dir))(t)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./abi (%v)", name, err)
		}
		if strings.HasPrefix(name, "testdata/") && len(want) > 1_000_000 {
			t.Errorf("%s has %d bytes", name, len(want))
		}
	}
	stale, err := stale(dir, files)
	if err != nil || len(stale) > 0 {
		t.Errorf("%v are no longer generated: run go generate ./abi (%v)", stale, err)
	}
}
