package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
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
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-overlay", hideModules(t, dir), "-o", bin, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tour := filepath.Join(repositoryRoot(t), "examples", "dockets", "tour.jsonl")
	const want = "shadowcourt: the modules are not built into this program: run `make plugins` and build it again\n"
	for _, args := range [][]string{{"version"}, {"plugin", "list"}, {"plugin", "inspect", "clerk"}, {"try", tour}} {
		cmd := exec.CommandContext(t.Context(), bin, args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != cli.ExitFailed || stderr.String() != want {
			t.Errorf("%v: exit code %d, stderr %q, want 1 and %q", args, code, stderr.String(), want)
		}
	}
	for _, args := range [][]string{{"lint", "defect-court"}, {"graph", "defect-court"}, {"schema"}} {
		if out, err := exec.CommandContext(t.Context(), bin, args...).CombinedOutput(); err != nil {
			t.Errorf("%v needs no modules: %v\n%s", args, err, out)
		}
	}
}

// hideModules writes an overlay for the go command in which there are no modules.
func hideModules(t *testing.T, dir string) string {
	t.Helper()
	archive := filepath.Join(repositoryRoot(t), "host", "bundle", "dist", bundle.Archive)
	replace := map[string]string{archive: ""}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "overlay.json")
}
