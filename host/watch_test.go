package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
)

// followed is a host that follows a folder, by ticks of the test's own.
type followed struct {
	*host.Host
	dir     string
	ticks   chan time.Time
	swapped [][]host.Change
	refused []string
}

func follow(t *testing.T) *followed {
	t.Helper()
	f := &followed{dir: t.TempDir(), ticks: make(chan time.Time)}
	for name, file := range modules(t) {
		f.put(t, name, file.Data)
	}
	f.Host = open(t, host.Config{Modules: os.DirFS(f.dir)})
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Follow(context.Background(), host.Watch{
			Modules: os.DirFS(f.dir), Ticks: f.ticks,
			Swapped: func(changes []host.Change) { f.swapped = append(f.swapped, changes) },
			Refused: func(err error) { f.refused = append(f.refused, err.Error()) },
		})
	}()
	t.Cleanup(func() { close(f.ticks); <-done })
	return f
}

func (f *followed) put(t *testing.T, name string, wasm []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), wasm, 0o600); err != nil {
		t.Fatal(err)
	}
}

// look has the folder looked at, n times, to the end.
func (f *followed) look(n int) {
	for range n {
		f.ticks <- time.Time{}
	}
	// What a look did is seen when the next one begins, and one with nothing new does nothing.
	f.ticks <- time.Time{}
}

func TestAccept_PL1_AFolderIsFollowedByItsContent(t *testing.T) {
	t.Parallel()
	f := follow(t)
	specter := modules(t)["specter.wasm"].Data
	before := f.Modules(t.Context())["specter"]
	f.look(2)
	f.put(t, "specter.wasm", specter) // the same, at another time
	f.look(2)
	if len(f.swapped)+len(f.refused) > 0 {
		t.Fatalf("nothing changed: %v, %v", f.swapped, f.refused)
	}
	// A file that grows between two looks is let alone, however long it takes.
	newer := stamped(specter, "newer")
	for _, part := range []int{8, 1 << 10, len(newer) / 2, len(newer) - 1} {
		f.put(t, "specter.wasm", newer[:part])
		f.ticks <- time.Time{}
	}
	f.put(t, "specter.wasm", newer)
	f.ticks <- time.Time{}
	if now := f.Modules(t.Context())["specter"]; now != before || len(f.swapped)+len(f.refused) > 0 {
		t.Fatalf("a look at a file that was just written swapped: %s, %v, %v", now, f.swapped, f.refused)
	}
	f.look(1)
	if len(f.swapped) != 1 || len(f.swapped[0]) != 1 || len(f.refused) > 0 {
		t.Fatalf("swapped %v, refused %v", f.swapped, f.refused)
	}
	if c := f.swapped[0][0]; c.Module != "specter" || c.Before != before || c.After != f.Modules(t.Context())["specter"] || c.After == before {
		t.Errorf("%+v", c)
	}
	if got := try(t, f.Host, dispute()).Result.Modules["specter"]; got != f.swapped[0][0].After {
		t.Errorf("the next trial was held by %s", got)
	}
}

func TestAccept_PL2_WhatAFolderOffersIsRefusedOnceAndTheIncumbentsGoOn(t *testing.T) {
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
			if err := os.Remove(filepath.Join(f.dir, "specter.wasm")); err != nil {
				t.Fatal(err)
			}
		case "side":
			f.put(t, "specter.wasm", good["specter.wasm"].Data)
			f.put(t, "abyss.wasm", stamped(puppet, "a"))
			f.put(t, "bulwark.wasm", stamped(puppet, "b"))
		}
		f.look(4)
		if len(f.refused) != i+1 || !strings.Contains(f.refused[i], test.says) {
			t.Fatalf("%s: refused %q", test.file, f.refused)
		}
		if got := try(t, f.Host, dispute()).Result; got.Final != want.Final || got.Modules["specter"] != want.Modules["specter"] {
			t.Errorf("%s: the incumbents give %+v, before %+v", test.file, got.Final, want.Final)
		}
	}
	// Back to what is in force: nothing to say. Then something good is taken.
	f.put(t, "abyss.wasm", good["abyss.wasm"].Data)
	f.put(t, "bulwark.wasm", good["bulwark.wasm"].Data)
	f.look(3)
	f.put(t, "clerk.wasm", stamped(good["clerk.wasm"].Data, "newer"))
	f.look(3)
	if len(f.refused) != 3 || len(f.swapped) != 1 || f.swapped[0][0].Module != "clerk" {
		t.Errorf("swapped %v, refused %q", f.swapped, f.refused)
	}
}
