package host_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
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
	check.Equal(t, try(t, f.Host, dispute()).Result.Modules["specter"], f.swapped[0][0].After, "the next trial was held by")
	must.Get(f.store.Get(record.Digest(f.swapped[0][0].After)))(t, "a replay could not have the newer module")
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
	check.Equal(t, swaps, 1, "swaps")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	h.Follow(ended, host.Watch{Modules: files, Ticks: make(chan time.Time)})
}

// followedAuditor is an Auditor that looks at a folder when the test says so.
type followedAuditor struct {
	*host.Auditor
	dir      string
	look     func(context.Context)
	swapped  [][]host.Change
	rejected []string
}

func followAudits(t *testing.T, config host.AuditConfig) *followedAuditor {
	t.Helper()
	f := &followedAuditor{dir: t.TempDir()}
	for _, name := range []string{"tracer", "scribe", "assayer", "rhetor", "warden"} {
		f.put(t, name, modules(t)[name+".wasm"].Data)
	}
	config.Modules = os.DirFS(f.dir)
	f.Auditor = openAuditor(t, config)
	f.look = host.AuditLooker(f.Auditor, host.Watch{
		Modules:  os.DirFS(f.dir),
		Swapped:  func(changes []host.Change) { f.swapped = append(f.swapped, changes) },
		Rejected: func(err error) { f.rejected = append(f.rejected, err.Error()) },
	})
	return f
}

func (f *followedAuditor) put(t *testing.T, name string, wasm []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(f.dir, name+".wasm"), wasm, 0o600))
}

// An audit that goes on while the folder changes ends with the modules that it
// began with; the next one has the newer ones, which the store has, too.
func TestAccept_PL1_AnAuditKeepsTheModulesThatItBeganWith(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var mu sync.Mutex
	called := map[string]map[string]bool{} // digests by module
	store := record.OpenStore(t.TempDir())
	f := followAudits(t, host.AuditConfig{Store: store, Observe: func(r host.CallRecord) {
		mu.Lock()
		if called[r.Module] == nil {
			called[r.Module] = map[string]bool{}
		}
		called[r.Module][r.Digest] = true
		mu.Unlock()
		once.Do(func() { close(begun); <-goOn })
	}})
	before := f.Modules(t.Context())
	outcome := make(chan *audit.Outcome)
	go func() {
		o, err := f.Audit(context.Background(), ruling())
		if err != nil {
			t.Error(err)
		}
		outcome <- o
	}()
	<-begun
	for _, name := range slices.Sorted(maps.Keys(before)) {
		f.put(t, name, stamped(modules(t)[name+".wasm"].Data, "newer"))
	}
	f.look(t.Context())
	f.look(t.Context())
	after := f.Modules(t.Context())
	close(goOn)
	if len(f.swapped) != 1 || len(f.swapped[0]) != len(before) || len(f.rejected) > 0 {
		t.Fatalf("swapped %v, rejected %v", f.swapped, f.rejected)
	}
	if o := <-outcome; o == nil || !maps.Equal(o.Modules, before) || len(o.Errors) > 0 {
		t.Errorf("%+v, want the modules %v", o, before)
	}
	for name, digests := range called {
		if len(digests) != 1 || !digests[before[name]] {
			t.Errorf("%s: calls of %v in an audit that began with %s", name, digests, before[name])
		}
	}
	if o := judged(t, f.Auditor, ruling()); !maps.Equal(o.Modules, after) || maps.Equal(before, after) {
		t.Errorf("the next audit had %v, want %v", o.Modules, after)
	}
	for name, digest := range after {
		must.Get(store.Get(record.Digest(digest)))(t, name, "not kept")
	}
}

// What breaks the contract, can't judge what the rubric asks, or is gone is rejected once, as a whole, and those before stay in use.
func TestAccept_PL2_AnAuditsModulesAreRejectedOnceAndTheIncumbentsGoOn(t *testing.T) {
	t.Parallel()
	f := followAudits(t, host.AuditConfig{})
	want := judged(t, f.Auditor, ruling())
	good := modules(t)
	f.put(t, "scribe", stamped(good["scribe.wasm"].Data, "newer")) // is taken only with the others
	for i, test := range []struct {
		wasm []byte // nil: none
		says string
	}{
		{good["warden.wasm"].Data[:1000], "not_wasm"},
		{good["rhetor.wasm"].Data, "does not judge the criterion security"},
		{good["specter.wasm"].Data, "does not serve judge calls"},
		{nil, "missing_module"},
	} {
		if test.wasm == nil {
			must.Do(t, os.Remove(filepath.Join(f.dir, "warden.wasm")))
		} else {
			f.put(t, "warden", test.wasm)
		}
		for range 4 {
			f.look(t.Context())
		}
		if len(f.rejected) != i+1 || !strings.Contains(f.rejected[i], test.says) {
			t.Fatalf("%s: rejected %q", test.says, f.rejected)
		}
		if o := judged(t, f.Auditor, ruling()); encoded(o) != encoded(want) || !maps.Equal(o.Modules, want.Modules) {
			t.Errorf("%s: the incumbents audit otherwise", test.says)
		}
	}
	f.put(t, "warden", good["warden.wasm"].Data)
	f.look(t.Context())
	f.look(t.Context())
	if len(f.swapped) != 1 || len(f.swapped[0]) != 1 || f.swapped[0][0].Module != "scribe" || len(f.rejected) != 4 {
		t.Errorf("swapped %v, rejected %q", f.swapped, f.rejected)
	}
}
