package sandbox

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// cached compiles the small module in a fresh cache and gives the files.
func cached(t *testing.T) (dir string, wasm []byte, files []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "cache")
	wasm = small(echoBody).Bytes()
	closed(t, load(t, open(t, Config{CacheDir: dir}), wasm))
	return dir, wasm, cacheFiles(t, dir)
}

func cacheFiles(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	return files
}

// again loads the module with the cache as it is now, calls it, and gives the
// log.
func again(t *testing.T, dir string, wasm []byte) string {
	t.Helper()
	var log bytes.Buffer
	e := open(t, Config{CacheDir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	m := load(t, e, wasm)
	if got := call(t, m, "echo"); string(got) != "echo" {
		t.Errorf("got %q", got)
	}
	closed(t, m)
	return log.String()
}

// closed closes a module, so that the next load of it in this process does not
// share what was compiled already.
func closed(t *testing.T, m *Module) {
	t.Helper()
	must.Do(t, m.Close(t.Context()))
}

func TestCompiledModulesAreKept(t *testing.T) {
	t.Parallel()
	dir, wasm, _ := cached(t)
	unmetered := func() {
		for _, metering := range []Metering{MeterNone, MeterRuntime} {
			closed(t, load(t, open(t, Config{CacheDir: dir, Metering: metering}), wasm))
		}
	}
	unmetered()
	files := cacheFiles(t, dir)
	if len(files) != 3*3 {
		t.Fatalf("files %v, want for each way of metering the rewritten and the compiled module, and their seal", files)
	}
	before := map[string]fs.FileInfo{}
	for _, f := range files {
		info := must.Get(os.Stat(f))(t)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %04o", f, info.Mode().Perm())
		}
		before[f] = info
	}
	if log := again(t, dir, wasm); log != "" {
		t.Errorf("the log has %s", log)
	}
	unmetered()
	for f, was := range before {
		if is, err := os.Stat(f); err != nil || !os.SameFile(was, is) || !is.ModTime().Equal(was.ModTime()) {
			t.Errorf("%s was written again: %v", f, err)
		}
	}
}

// Whatever happens to a file of the cache, the module is compiled again and
// the cache is good afterwards.
func TestDamagedCacheIsHarmless(t *testing.T) {
	t.Parallel()
	damages := map[string]func([]byte) []byte{
		"emptied":       func([]byte) []byte { return nil },
		"cut":           func(b []byte) []byte { return b[:len(b)/2] },
		"first byte":    func(b []byte) []byte { b[0] ^= 1; return b },
		"function list": func(b []byte) []byte { b[min(18, len(b)-1)] ^= 0xff; return b },
		"last byte":     func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"extended":      func(b []byte) []byte { return append(b, 0) },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range 3 { // the seal, the rewritten module, the compiled one
				dir, wasm, files := cached(t)
				b := must.Get(os.ReadFile(files[i]))(t)
				must.Do(t, os.WriteFile(files[i], damage(b), 0o600))
				if log := again(t, dir, wasm); !strings.Contains(log, "compile cache entry dropped") {
					t.Errorf("%s: log %q", filepath.Base(files[i]), log)
				}
				if log := again(t, dir, wasm); log != "" {
					t.Errorf("%s: the cache was not mended: %s", filepath.Base(files[i]), log)
				}
			}
		})
	}
}

func TestUnwritableCacheEntryIsHarmless(t *testing.T) {
	t.Parallel()
	dir, wasm, files := cached(t)
	for _, f := range files {
		must.Do(t, os.Remove(f))
	}
	// A file where wazero wants its directory.
	blocked := filepath.Dir(files[len(files)-1])
	must.Do(t, os.RemoveAll(blocked))
	must.Do(t, os.WriteFile(blocked, nil, 0o600))
	again(t, dir, wasm)
}

func TestCacheDirectoryMustBePrivate(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	must.Do(t, os.Chmod(shared, 0o777))
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	for dir, want := range map[string]string{shared: "others may write to it (mode 0777)", file: "not a directory"} {
		if _, err := New(context.Background(), Config{CacheDir: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", dir, err, want)
		}
	}
	fresh := filepath.Join(t.TempDir(), "a", "b")
	open(t, Config{CacheDir: fresh})
	if info, err := os.Stat(fresh); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}
