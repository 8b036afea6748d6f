package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/bundle"
)

// TestAccept_BL1_AFreshCloneBuildsBeforeAnyMake does what a new contributor
// does, on what git would hand out: no built module, nothing that is ignored.
func TestAccept_BL1_AFreshCloneBuildsBeforeAnyMake(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the whole repository a second time")
	}
	clone := freshClone(t)
	for _, command := range []string{"build", "vet"} {
		if out, err := offline(clone, command, "./...").CombinedOutput(); err != nil {
			t.Fatalf("go %s ./...: %v\n%s", command, err, out)
		}
	}

	// Without modules, tests that need them fail, and say in one sentence what to do.
	out, err := offline(clone, "test", "./host").CombinedOutput()
	if err == nil {
		t.Fatalf("go test passed without modules:\n%s", out)
	}
	if got := strings.Count(string(out), bundle.ErrNotBuilt.Error()); got != 1 {
		t.Errorf("the sentence %q stands there %d times, want once:\n%s", bundle.ErrNotBuilt, got, out)
	}
	if bytes.Contains(out, []byte("panic:")) || bytes.Count(out, []byte("\n")) > 4 {
		t.Errorf("more than one clear sentence:\n%s", out)
	}
}

// offline runs go in the clone without the network: what is needed is in
// the module cache since this test was built.
func offline(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly")
	return cmd
}

// freshClone gives a folder with the files as they stand in the work tree and
// are not ignored, as a clone would have them once all of it is committed.
func freshClone(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	git := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	git.Dir = root
	files, err := git.Output()
	if err != nil {
		t.Fatalf("this test needs git and a checkout: %v", err)
	}
	clone := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted in the work tree
		}
		if err != nil {
			t.Fatal(err)
		}
		target := filepath.Join(clone, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return clone
}
