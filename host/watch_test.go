package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// followed is a host that looks at a folder when the test says so.
type followed struct {
	*host.Host
	dir      string
	store    *record.Store
	once     func(context.Context)
	swapped  [][]host.Change
	rejected []string
}

func follow(t *testing.T) *followed {
	t.Helper()
	f := &followed{dir: t.TempDir(), store: record.OpenStore(t.TempDir())}
	for name, file := range modules(t) {
		f.put(t, name, file.Data)
	}
	f.Host = open(t, host.Config{Modules: os.DirFS(f.dir), Store: f.store})
	f.once = host.Looker(f.Host, host.Watch{
		Modules:  os.DirFS(f.dir),
		Swapped:  func(changes []host.Change) { f.swapped = append(f.swapped, changes) },
		Rejected: func(err error) { f.rejected = append(f.rejected, err.Error()) },
	})
	return f
}

func (f *followed) put(t *testing.T, name string, wasm []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(f.dir, name), wasm, 0o600))
}

// look has the folder looked at n times.
func (f *followed) look(t *testing.T, n int) {
	t.Helper()
	for range n {
		f.once(t.Context())
	}
}

func TestAccept_PL1_AFolderIsFollowedByItsContent(t *testing.T) {
	t.Parallel()
	f := follow(t)
	specter := modules(t)["specter.wasm"].Data
	before := f.Modules(t.Context())["specter"]
	f.look(t, 2)
	f.put(t, "specter.wasm", specter) // the same, at another time
	f.look(t, 2)
	if len(f.swapped)+len(f.rejected) > 0 {
		t.Fatalf("nothing changed: %v, %v", f.swapped, f.rejected)
	}
	// A file that grows between two looks is let alone, however long it takes.
	newer := stamped(specter, "newer")
	for _, part := range []int{8, 1 << 10, len(newer) / 2, len(newer) - 1} {
		f.put(t, "specter.wasm", newer[:part])
		f.look(t, 1)
	}
	f.put(t, "specter.wasm", newer)
	f.look(t, 1)
	if now := f.Modules(t.Context())["specter"]; now != before || len(f.swapped)+len(f.rejected) > 0 {
		t.Fatalf("a look at a file that was just written swapped: %s, %v, %v", now, f.swapped, f.rejected)
	}
	f.look(t, 1)
	if len(f.swapped) != 1 || len(f.swapped[0]) != 1 || len(f.rejected) > 0 {
		t.Fatalf("swapped %v, rejected %v", f.swapped, f.rejected)
	}
	if c := f.swapped[0][0]; c.Module != "specter" || c.Before != before || c.After != f.Modules(t.Context())["specter"] || c.After == before {
		t.Errorf("%+v", c)
	}
	if got := try(t, f.Host, dispute()).Result.Modules["specter"]; got != f.swapped[0][0].After {
		t.Errorf("the next trial was held by %s", got)
	}
	if !f.store.Has(record.Digest(f.swapped[0][0].After)) {
		t.Error("a replay could not have the newer module: it is not in the store")
	}
}

func TestAccept_PL2_WhatAFolderOffersIsRejectedOnceAndTheIncumbentsGoOn(t *testing.T) {
	t.Parallel()
	f := follow(t)
	want := try(t, f.Host, dispute()).Result
	good := modules(t)
	for i, test := range []struct{ file, says string }{
		{"cut", "not_wasm"}, {"gone", "missing_module"}, {"side", "sides_not_apart"},
	} {
		switch test.file {
		case "cut":
			f.put(t, "specter.wasm", good["specter.wasm"].Data[:1000])
		case "gone":
			must.Do(t, os.Remove(filepath.Join(f.dir, "specter.wasm")))
		case "side":
			f.put(t, "specter.wasm", good["specter.wasm"].Data)
			f.put(t, "abyss.wasm", stamped(puppet, "a"))
			f.put(t, "bulwark.wasm", stamped(puppet, "b"))
		}
		f.look(t, 4)
		if len(f.rejected) != i+1 || !strings.Contains(f.rejected[i], test.says) {
			t.Fatalf("%s: rejected %q", test.file, f.rejected)
		}
		if got := try(t, f.Host, dispute()).Result; got.Final != want.Final || got.Modules["specter"] != want.Modules["specter"] {
			t.Errorf("%s: the incumbents give %+v, before %+v", test.file, got.Final, want.Final)
		}
	}
	// Back to what is in force: nothing to say. Then something good is taken.
	f.put(t, "abyss.wasm", good["abyss.wasm"].Data)
	f.put(t, "bulwark.wasm", good["bulwark.wasm"].Data)
	f.look(t, 3)
	f.put(t, "clerk.wasm", stamped(good["clerk.wasm"].Data, "newer"))
	f.look(t, 3)
	if len(f.rejected) != 3 || len(f.swapped) != 1 || f.swapped[0][0].Module != "clerk" {
		t.Errorf("swapped %v, rejected %q", f.swapped, f.rejected)
	}
}

// Follow looks at every tick, and ends with the ticks or the context.
func TestFollowEndsWithTheTicksOrTheContext(t *testing.T) {
	t.Parallel()
	files := modules(t)
	h := open(t, host.Config{Modules: files})
	newer := modules(t)
	newer["specter.wasm"].Data = stamped(newer["specter.wasm"].Data, "newer")
	ticks := make(chan time.Time, 3)
	for range cap(ticks) {
		ticks <- time.Time{}
	}
	close(ticks)
	swaps := 0
	h.Follow(t.Context(), host.Watch{Modules: newer, Ticks: ticks, Swapped: func([]host.Change) { swaps++ }})
	if swaps != 1 {
		t.Errorf("%d swaps", swaps)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	h.Follow(ended, host.Watch{Modules: files, Ticks: make(chan time.Time)})
}
