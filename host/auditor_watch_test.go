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

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

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
		if _, err := store.Get(record.Digest(digest)); err != nil {
			t.Errorf("%s is not kept: %v", name, err)
		}
	}
}

// What breaks the contract, can't judge what the rubric asks, or is gone is
// rejected once, as a whole, and those before stay in use.
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
