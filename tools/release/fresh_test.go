package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// TestAccept_BL1_AFreshCloneBuildsBeforeAnyMake does what a new contributor does, on the files that a clone would have: no built module,
// nothing that is ignored. The go command compiles only the packages that differ without them.
func TestAccept_BL1_AFreshCloneBuildsBeforeAnyMake(t *testing.T) {
	t.Parallel()
	tier.Long(t, "go.mod", "host/bundle", "Makefile")
	root := must.Get(filepath.Abs(filepath.Join("..", "..")))(t)
	overlay := hideIgnored(t, root)
	if out, err := offline(root, "build", overlay, "./...").CombinedOutput(); err != nil {
		t.Fatalf("go build ./...: %v\n%s", err, out)
	}

	// Without modules, tests that need them fail, and say in one sentence what to do.
	out, err := offline(root, "test", overlay, "-vet=off", "-ldflags=-w", "./host").CombinedOutput()
	if err == nil {
		t.Fatalf("go test passed without modules:\n%s", out)
	}
	check.Equal(t, strings.Count(string(out), bundle.ErrNotBuilt.Error()), 1, "the sentence", bundle.ErrNotBuilt, "stands", "times", out)
	if bytes.Contains(out, []byte("panic:")) || bytes.Count(out, []byte("\n")) > 4 {
		t.Errorf("more than one clear sentence:\n%s", out)
	}
}

// offline runs go without the network: what is needed is in the module cache since this test was built.
func offline(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	// Flags such as -trimpath stay, so that the build cache has the dependencies.
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=readonly")
	return cmd
}

// hideIgnored gives the flag of the go command that hides the files that git ignores: they are in no clone.
func hideIgnored(t *testing.T, root string) string {
	t.Helper()
	git := exec.Command("git", "ls-files", "-z", "--others", "--ignored", "--exclude-standard")
	git.Dir = root
	files := must.Get(git.Output())(t, "this test needs git and a checkout")
	hidden := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		hidden[filepath.Join(root, name)] = ""
	}
	if _, ok := hidden[filepath.Join(root, "host", "bundle", "dist", bundle.Archive)]; !ok {
		t.Fatalf("git does not ignore %s", bundle.Archive)
	}
	text := must.Get(json.Marshal(map[string]any{"Replace": hidden}))(t)
	file := filepath.Join(t.TempDir(), "overlay.json")
	must.Do(t, os.WriteFile(file, text, 0o600))
	return "-overlay=" + file
}

// freshClone gives a folder with the files as they stand in the work tree and
// are not ignored, as a clone would have them once all of it is committed.
func freshClone(t *testing.T) string {
	t.Helper()
	root := must.Get(filepath.Abs(filepath.Join("..", "..")))(t)
	git := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	git.Dir = root
	files := must.Get(git.Output())(t, "this test needs git and a checkout")
	clone := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted in the work tree
		}
		must.Do(t, err)
		target := filepath.Join(clone, name)
		must.Do(t, os.MkdirAll(filepath.Dir(target), 0o755))
		must.Do(t, os.WriteFile(target, content, 0o644))
	}
	return clone
}
