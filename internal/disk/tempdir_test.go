package disk_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// childVariable has the test's process make a folder and wait to be killed.
const childVariable = "TEMPDIR_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		d, err := disk.TempDir("test")
		if err != nil {
			panic(err)
		}
		fmt.Fprint(os.Stdout, d.Path)
		_, _ = os.Stdin.Read(make([]byte, 1)) // select {} would be a deadlock, which ends the process before it is killed
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestAccept_FX2_FoldersOfAKilledProcessAreRemoved kills a process that has a folder. Those of living processes, and of other kinds, stay.
func TestAccept_FX2_FoldersOfAKilledProcessAreRemoved(t *testing.T) {
	if !disk.KeepsOpen {
		t.Skip("this system removes no folder with an open file")
	}
	t.Setenv("TMPDIR", t.TempDir())
	killed := kill(t)
	other := must.Get(disk.TempDir("other"))(t)
	exists(t, killed, true)
	mine := must.Get(disk.TempDir("test"))(t)
	exists(t, killed, false)
	second := must.Get(disk.TempDir("test"))(t)
	for _, d := range []*disk.Dir{other, mine, second} {
		exists(t, d.Path, true)
		must.Do(t, d.Remove())
		exists(t, d.Path, false)
	}
}

// kill starts a process that makes a folder, and kills it.
func kill(t *testing.T) (path string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=1")
	if _, err := cmd.StdinPipe(); err != nil { // held open, so that the process waits
		t.Fatal(err)
	}
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	text := make([]byte, 4096)
	n := must.Get(out.Read(text))(t)
	must.Do(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the process was not killed: %v", err)
	}
	return string(text[:n])
}

// TestHammer makes folders concurrently: none takes that of another for a left one.
func TestHammer(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				d, err := disk.TempDir("test")
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(d.Path, "file"), nil, 0o600); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(filepath.Join(d.Path, "file")); err != nil {
					t.Error(err)
				}
				if err := d.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func exists(t *testing.T, path string, want bool) {
	t.Helper()
	if _, err := os.Stat(path); (err == nil) != want {
		t.Errorf("%s: %v", path, err)
	}
}

// TestAccept_FZ9_AReadOnlyTemporaryFolder: where nothing can be written to the system's folder, the user's cache folder has the temporary
// ones; where neither can be written to, the error names both and what to do.
func TestAccept_FZ9_AReadOnlyTemporaryFolder(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(cache, "none"))
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	d := must.Get(disk.TempDir("test"))(t)
	if rel, err := filepath.Rel(cache, d.Path); err != nil || !filepath.IsLocal(rel) {
		t.Errorf("it is %s", d.Path)
	}
	exists(t, d.Path, true)
	must.Do(t, d.Remove())
	file := filepath.Join(cache, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	t.Setenv("XDG_CACHE_HOME", file)
	t.Setenv("HOME", file)
	if _, err := disk.TempDir("test"); err == nil || !strings.Contains(err.Error(), "none") || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Errorf("got %v", err)
	}
}
