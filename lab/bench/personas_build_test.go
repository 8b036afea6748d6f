package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// The program that measures the personas as native code still builds: no other
// build compiles it.
func TestTheProgramBuildsWithThePersonas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	overlay := filepath.Join(dir, "overlay.json")
	if err := writeOverlay(dir, overlay); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "vet", "-tags=personas", "-overlay="+overlay, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
