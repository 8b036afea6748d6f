package sandbox

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	expect "github.com/shadowcourt/shadowcourt/internal/testkit/check"
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

// again loads the module with the cache as it is now, calls it, and gives the log.
func again(t *testing.T, dir string, wasm []byte) string {
	t.Helper()
	var log bytes.Buffer
	e := open(t, Config{CacheDir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	m := load(t, e, wasm)
	expect.Equal(t, string(call(t, m, "echo")), "echo")
	closed(t, m)
	return log.String()
}

// closed closes a module, so that the next load of it in this process does not share what was compiled already.
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
	must.Len(t, files, 3*2, "files", "for each way of metering the stub and the machine code")
	before := map[string]fs.FileInfo{}
	for _, f := range files {
		info := must.Get(os.Stat(f))(t)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %04o", f, info.Mode().Perm())
		}
		before[f] = info
	}
	expect.Equal(t, again(t, dir, wasm), "", "the log")
	unmetered()
	for f, was := range before {
		if is, err := os.Stat(f); err != nil || !os.SameFile(was, is) || !is.ModTime().Equal(was.ModTime()) {
			t.Errorf("%s was written again: %v", f, err)
		}
	}
}

// Whatever happens to a file of the cache, the module is compiled again and the cache is good afterwards.
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
			for i := range 2 { // the stub, the machine code
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
		expect.Fails(t, expect.Err(New(context.Background(), Config{CacheDir: dir})), want, dir)
	}
	fresh := filepath.Join(t.TempDir(), "a", "b")
	open(t, Config{CacheDir: fresh})
	expect.Equal(t, must.Get(os.Stat(fresh))(t).Mode().Perm(), 0o700)
}

func entryOf(t *testing.T, dir, name string, bytes int, used time.Time) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.Do(t, os.MkdirAll(path, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(path, "code"), make([]byte, bytes), 0o600))
	must.Do(t, os.Chtimes(path, used, used))
	return path
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A new entry makes room for itself: those that were used longest ago go, of whatever version, and nothing else in the directory.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	dir := filepath.Join(t.TempDir(), "cache")
	wasm := small(echoBody).Bytes()
	oldest := entryOf(t, dir, "v1-x/"+strings.Repeat("ab", 32), 4<<20, now.Add(-3*time.Hour))
	older := entryOf(t, dir, cacheVersion()+"/"+strings.Repeat("cd", 32)+"-1", 4<<20, now.Add(-2*time.Hour))
	young := entryOf(t, dir, cacheVersion()+"/"+strings.Repeat("ef", 32)+"-1", 4<<20, now.Add(-time.Hour))
	foreign := entryOf(t, dir, "v1-x/pictures", 64<<20, now.Add(-1000*time.Hour))
	e := open(t, Config{CacheDir: dir, CacheBytes: 6 << 20, Now: func() time.Time { return now }})
	expect.Equal(t, string(call(t, load(t, e, wasm), "echo")), "echo")
	if there(oldest) || there(older) || !there(young) || !there(foreign) {
		t.Errorf("oldest %v, older %v, young %v, foreign %v", there(oldest), there(older), there(young), there(foreign))
	}
	use, err := MeasureCache(dir)
	if err != nil || use.Entries != 2 || use.Bytes > 6<<20 {
		t.Errorf("%+v, %v", use, err)
	}
	other := small(append([]byte{0x01}, echoBody...)).Bytes()
	closed(t, load(t, open(t, Config{CacheDir: dir, CacheBytes: 1}), other))
	expect.Equal(t, must.Get(MeasureCache(dir))(t).Entries, 1, "the one used last does not stay")
}

// Engines that load and prune at the same time, as processes do, in a cache that holds one entry: each load gives a module that is right.
func TestPruningDisturbsNoLoad(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for k := range 6 {
				wasm := small(append(bytes.Repeat([]byte{0x01}, (i+k)%3), echoBody...)).Bytes()
				e := open(t, Config{CacheDir: dir, CacheBytes: 1})
				m := load(t, e, wasm)
				expect.Equal(t, string(call(t, m, "echo")), "echo")
				closed(t, m)
			}
		})
	}
	wait.Wait()
}

func TestClearCache(t *testing.T) {
	t.Parallel()
	now := time.Now()
	dir := filepath.Join(t.TempDir(), "cache")
	expect.Equal(t, must.Get(ClearCache(dir))(t), (CacheUse{}), "no cache")
	compiled := func() { closed(t, load(t, open(t, Config{CacheDir: dir}), small(echoBody).Bytes())) }
	compiled()
	foreign := entryOf(t, dir, "v1-x/pictures", 7, now)
	entryOf(t, dir, "v1-x/"+strings.Repeat("ab", 32), 7, now)
	use, err := ClearCache(dir)
	if err != nil || use.Entries != 2 || use.Bytes < 14 {
		t.Errorf("%+v, %v", use, err)
	}
	if use, err := MeasureCache(dir); err != nil || use != (CacheUse{}) || !there(foreign) {
		t.Errorf("left: %+v, %v, foreign %v", use, err, there(foreign))
	}
	compiled() // again
}

// An entry may be as it was written, and wazero may find nothing in it all the same: on another processor it looks for another
// name. Then it compiles the stub, which traps at every call.
func TestAStubIsNotRunInPlaceOfItsModule(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(machineCode string) error{
		"other name": func(file string) error {
			return os.Rename(file, strings.TrimRight(file, "0123456789abcdef")+strings.Repeat("0", 64))
		},
		"no file":     os.Remove,
		"other file":  func(file string) error { return os.WriteFile(filepath.Join(filepath.Dir(file), "more"), nil, 0o600) },
		"other magic": func(file string) error { return os.WriteFile(file, []byte("not wazero's"), 0o600) },
		"other version": func(file string) error { // wazero writes the file again
			code, err := os.ReadFile(file)
			if err == nil {
				code[7] ^= 1
				err = os.WriteFile(file, code, 0o600)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, wasm, files := cached(t)
			entry := filepath.Dir(files[0])
			stub := must.Get(readStub(entry, files[1]))(t)
			must.Do(t, change(files[1]))
			if changed, _, err := machineCode(entry); err == nil {
				must.Do(t, writeStub(entry, changed, stub)) // with its checksum
			}
			expect.Contains(t, again(t, dir, wasm), "compile cache entry dropped", "log")
			expect.Equal(t, again(t, dir, wasm), "", "the cache was not mended")
		})
	}
}

// A module that comes out of the cache does the same for the same fuel.
func TestModulesOfTheCacheAreTheSame(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	limits := Limits{WallClock: time.Minute}
	var want string
	for i := range 2 {
		m := load(t, open(t, Config{CacheDir: dir, Limits: limits}), goGuest(t))
		got := must.Get(account(m, accounted))(t)
		if i == 0 {
			want = got
		}
		expect.Equal(t, got, want, "out of the cache", "before")
	}
}
