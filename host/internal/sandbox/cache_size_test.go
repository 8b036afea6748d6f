package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

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

// A new entry makes room for itself: those that were used longest ago go, of
// whatever version, and nothing else in the directory.
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
