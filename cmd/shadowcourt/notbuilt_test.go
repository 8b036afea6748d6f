package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// TestWithoutModulesOneSentence builds the command as a fresh clone has it,
// with no modules to embed.
func TestWithoutModulesOneSentence(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/bundle")
	dir := t.TempDir()
	bin := filepath.Join(dir, "shadowcourt")
	if s := execute(t, "", nil, "go", "build", "-ldflags=-w", "-overlay", hideModules(t, dir), "-o", bin, "."); s.code != 0 {
		t.Fatal(s)
	}
	const want = "shadowcourt: the modules are not built into this program: run `make plugins` and build it again\n"
	for _, args := range [][]string{{bin, "version"}, {bin, "plugin", "inspect", "clerk"}, {bin, "try", example(t, "tour.jsonl")}} {
		if s := execute(t, "", nil, args...); s.code != cli.ExitFailed || s.errors != want {
			t.Errorf("%v: %v, want %q", args, s, want)
		}
	}
	for _, args := range [][]string{{bin, "lint", "defect-court"}, {bin, "graph", "defect-court"}, {bin, "schema"}} {
		execute(t, "", nil, args...).wants(t, 0)
	}
}

// hideModules writes an overlay for the go command in which there are no modules.
func hideModules(t *testing.T, dir string) string {
	t.Helper()
	archive := filepath.Join(repositoryRoot(t), "host", "bundle", "dist", bundle.Archive)
	replace := map[string]string{archive: ""}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{"overlay.json": string(text)})
	return filepath.Join(dir, "overlay.json")
}
