package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestSwapScripts runs testdata/swap/*.txtar, which have the commands of
// [TestScripts] and $PUPPET, a module that plays any persona and knows nothing.
func TestSwapScripts(t *testing.T) {
	t.Parallel()
	puppet := buildPuppet(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "swap"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", repositoryRoot(t))
			e.Setenv("PUPPET", puppet)
			e.Vars = append(e.Vars, userEnv(t)...)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "lines": lines, "oneline": oneLine},
	})
}

// buildPuppet builds the module that the tests of package host use, and gives
// its file. It has a manifest.
func buildPuppet(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "puppet.wasm")
	dir := filepath.Join(repositoryRoot(t), "host", "testdata", "puppet")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", file, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	annotate := exec.CommandContext(t.Context(), "shadowcourt", "plugin", "annotate", file, "--manifest", filepath.Join(dir, "manifest.yaml"))
	for _, cmd := range []*exec.Cmd{build, annotate} {
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatal(errors.Join(err, errors.New(string(text))))
		}
	}
	return file
}
