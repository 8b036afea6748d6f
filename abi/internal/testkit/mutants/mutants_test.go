package mutants_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	_ "github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/internal/testkit/mutants"
	_ "github.com/shadowcourt/shadowcourt/abi/testkit/vectors" // the runner's vectors: when they change, no cached result stands
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func TestAccept_FR10_RemovingAnyCheckFailsAVector(t *testing.T) {
	t.Parallel()
	rewritten := must.Get(mutants.Rewrite("../../.."))(t)
	if len(rewritten.Sites) < 300 {
		t.Fatalf("only %d checks were found", len(rewritten.Sites))
	}
	for _, n := range survive(t, rewritten) {
		t.Errorf("no vector notices when this check is off: %s", rewritten.Sites[n-1].Name)
	}
}

// survive builds the runner over the rewritten decoder and runs it.
func survive(t *testing.T, rewritten *mutants.Rewritten) []int {
	t.Helper()
	abiDir := must.Get(filepath.Abs("../../.."))(t)
	dir := t.TempDir()
	replace := map[string]string{}
	for name, content := range rewritten.Files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(content), 0o600))
		replace[filepath.Join(abiDir, filepath.FromSlash(name))] = file
	}
	overlay := must.Get(json.Marshal(map[string]map[string]string{"Replace": replace}))(t)
	overlayFile := filepath.Join(dir, "overlay.json")
	must.Do(t, os.WriteFile(overlayFile, overlay, 0o600))
	sites := must.Get(json.Marshal(rewritten.Sites))(t)
	cmd := exec.CommandContext(t.Context(), "go", "run", "-tags", "mutants", "-overlay", overlayFile, "./runner")
	cmd.Stdin = bytes.NewReader(sites)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("runner: %v\n%s", err, stderr.String())
	}
	var out []int
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("runner gives %q: %v", stdout.String(), err)
	}
	return out
}
