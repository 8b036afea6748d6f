package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
)

// at opens an engine on a cache at some time, and closes it.
func at(t *testing.T, dir string, now time.Time, wasm ...[]byte) {
	t.Helper()
	e := open(t, Config{CacheDir: dir, Now: func() time.Time { return now }})
	for _, w := range wasm {
		m := load(t, e, w)
		if got := call(t, m, "echo"); string(got) != "echo" {
			t.Errorf("got %q", got)
		}
		closed(t, m)
	}
}

// kept are the directories below the cache's that hold entries, and foreign
// things, by version and the beginning of their name.
func kept(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range paths {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		version, entry := filepath.Split(rel)
		names = append(names, strings.Replace(version, cacheVersion(), "now", 1)+entry[:min(4, len(entry))])
	}
	slices.Sort(names)
	return names
}

func TestEntriesThatNobodyUsesAreRemoved(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	start := time.Now()
	dir := filepath.Join(t.TempDir(), "cache")
	one, other := small(echoBody), small(append([]byte{0x01}, echoBody...))
	at(t, dir, start, one.Bytes(), other.Bytes())
	var ours []string
	for _, name := range kept(t, dir) {
		ours = append(ours, strings.TrimPrefix(name, "now/"))
	}
	foreign := []string{"v1-old-linux-amd64/" + strings.Repeat("ab", 32), "v0-older/" + strings.Repeat("cd", 32), "v0-older/readme", "pictures/" + strings.Repeat("ef", 32)}
	for _, name := range foreign {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, start, start); err != nil {
			t.Fatal(err)
		}
	}
	all := []string{"now/" + ours[0], "now/" + ours[1], "pictures/efef", "v0-older/cdcd", "v0-older/read", "v1-old-linux-amd64/abab"}
	young := []string{"now/" + ours[0], "now/" + ours[1], "pictures/efef", "v0-older/read"}
	for _, step := range []struct {
		name string
		at   time.Duration
		use  []byte
		want []string
	}{
		{"young ones stay", 6 * day, one.Bytes(), all},
		{"other versions go after a week", 8 * day, nil, young},
		{"what was used stays", 35 * day, nil, nil},
		{"what was not goes after a month", 37 * day, nil, []string{"pictures/efef", "v0-older/read"}},
	} {
		at(t, dir, start.Add(step.at), func() [][]byte {
			if step.use == nil {
				return nil
			}
			return [][]byte{step.use}
		}()...)
		got := kept(t, dir)
		if step.want == nil { // the one that was used on the sixth day
			if len(got) != 3 || !strings.HasPrefix(got[0], "now/") {
				t.Errorf("%s: %v", step.name, got)
			}
			continue
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "v1-old-linux-amd64")); err == nil {
		t.Error("the empty directory of another version is left")
	}
	at(t, dir, start.Add(38*day), one.Bytes()) // it is compiled again
}

// What a killed process left is no use to anybody; what is young may be another process's, which is just making it.
func TestIncompleteEntriesAreRemoved(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	now := time.Now()
	at(t, dir, now)
	entry := (&compileCache{dir: filepath.Join(dir, cacheVersion())}).entry(Digest{1}, instrument.Options{}, MeterFuel)
	left, err := entry.begin()
	if err != nil {
		t.Fatal(err)
	}
	young, err := entry.begin()
	if err != nil {
		t.Fatal(err)
	}
	later := now.Add(25 * time.Hour)
	if err := os.Chtimes(young.dir, later, later); err != nil {
		t.Fatal(err)
	}
	at(t, dir, later)
	if _, err := os.Stat(left.dir); err == nil {
		t.Error("an incomplete entry is left after a day")
	}
	if _, err := os.Stat(young.dir); err != nil {
		t.Error("an incomplete entry is removed at once")
	}
}

// The directory is looked through once a day.
func TestPruningIsRare(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	now := time.Now()
	at(t, dir, now)
	old := filepath.Join(dir, "v1-x", strings.Repeat("ab", 32))
	if err := os.MkdirAll(old, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, now.Add(-1000*time.Hour), now.Add(-1000*time.Hour)); err != nil {
		t.Fatal(err)
	}
	at(t, dir, now.Add(23*time.Hour))
	if _, err := os.Stat(old); err != nil {
		t.Error("pruned again on the same day")
	}
	at(t, dir, now.Add(25*time.Hour))
	if _, err := os.Stat(old); err == nil {
		t.Error("not pruned on the next day")
	}
}

// Engines that prune and load at the same time, as processes do: each load
// gives a module that is right.
func TestPruningDisturbsNoLoad(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	start := time.Now()
	wasm := small(echoBody).Bytes()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for k := range 6 { // each comes a month after the last one, and finds all entries old
				at(t, dir, start.Add(time.Duration(8*k+i)*31*24*time.Hour), wasm)
			}
		})
	}
	wait.Wait()
}
