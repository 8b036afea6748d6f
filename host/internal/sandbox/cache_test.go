package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
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
	if got := call(t, m, "echo"); string(got) != "echo" {
		t.Errorf("got %q", got)
	}
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
	if got := call(t, load(t, e, wasm), "echo"); string(got) != "echo" {
		t.Errorf("got %q", got)
	}
	if there(oldest) || there(older) || !there(young) || !there(foreign) {
		t.Errorf("oldest %v, older %v, young %v, foreign %v", there(oldest), there(older), there(young), there(foreign))
	}
	use, err := MeasureCache(dir)
	if err != nil || use.Entries != 2 || use.Bytes > 6<<20 {
		t.Errorf("%+v, %v", use, err)
	}
	other := small(append([]byte{0x01}, echoBody...)).Bytes()
	closed(t, load(t, open(t, Config{CacheDir: dir, CacheBytes: 1}), other))
	if use, err := MeasureCache(dir); err != nil || use.Entries != 1 {
		t.Errorf("the one used last does not stay: %+v, %v", use, err)
	}
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
				if got := call(t, m, "echo"); string(got) != "echo" {
					t.Errorf("got %q", got)
				}
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
	if use, err := ClearCache(dir); err != nil || use != (CacheUse{}) {
		t.Errorf("no cache: %+v, %v", use, err)
	}
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

// An entry may be as it was sealed, and wazero may find nothing in it all the same: on another processor it looks for another
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, wasm, files := cached(t)
			machineCode := files[2]
			must.Do(t, change(machineCode))
			made := &cacheEntry{filepath.Dir(files[0])}
			must.Do(t, os.Remove(files[0]))
			moved := &cacheEntry{filepath.Join(t.TempDir(), "moved")}
			must.Do(t, os.Rename(made.dir, moved.dir))
			if err := made.place(moved); err != nil { // seals it anew
				t.Fatal(err)
			}
			log := again(t, dir, wasm)
			if dropped := strings.Contains(log, "compile cache entry dropped"); dropped == (name == "other file") {
				t.Errorf("log %q", log)
			}
			if log := again(t, dir, wasm); log != "" {
				t.Errorf("the cache was not mended: %s", log)
			}
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
		if got != want {
			t.Errorf("out of the cache:\n%s\nbefore:\n%s", got, want)
		}
	}
}

// A faulty entry that counts a million globals or segments takes no more memory than 20 times its bytes.
func TestFaultyEntriesTakeLittleMemory(t *testing.T) { //nolint:paralleltest // it measures what is allocated
	const size = 1 << 20
	for _, before := range []int{4, 5} { // globals, segments
		data := append(binary.AppendUvarint(make([]byte, before), size/2), bytes.Repeat([]byte{0xff}, size)...) // no number ends
		var was, is runtime.MemStats
		runtime.ReadMemStats(&was)
		_, err := decodeProgram(data)
		runtime.ReadMemStats(&is)
		if took := is.TotalAlloc - was.TotalAlloc; err == nil || took > 20*size {
			t.Errorf("behind %d bytes: %v, %d bytes were allocated for %d", before, err, took, len(data))
		}
	}
}

// FuzzProgram: no bytes panic; what is read is written and read again as the same.
func FuzzProgram(f *testing.F) {
	data, globals := small(echoBody), small(echoBody)
	data.Data, globals.Globals = []byte("data"), 3
	for _, m := range []wasmtest.Module{data, globals} {
		file := must.Get(wasmfile.Parse(m.Bytes()))(f)
		p := must.Get(instrument.Rewrite(file, instrument.Options{Fuel: true, MaxTableEntries: 10}))(f)
		f.Add(encodeProgram(p))
	}
	f.Add([]byte{0, 0, 0, 1, 1, 1, 'g', 0x7f, 1, 4, 1, 'd', 0})
	f.Add([]byte{0, 0, 0, 2, 0, 0, 0})          // neither restorable nor not
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0xff, 2, 0}) // no type of a value
	f.Add([]byte{0, 0, 0, 0, 0xff, 0xff, 3})    // more globals than bytes
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := decodeProgram(data)
		if err != nil {
			return
		}
		if held := len(p.Globals) + len(p.Segments) + len(p.Wasm); held > len(data) {
			t.Fatalf("%d things of %d bytes", held, len(data))
		}
		encoded := encodeProgram(p)
		again, err := decodeProgram(encoded)
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("%v: %+v is read again as %+v", err, p, again)
		}
		if len(encoded) > len(data) {
			t.Fatalf("%d bytes were read, %d are written", len(data), len(encoded))
		}
	})
}
