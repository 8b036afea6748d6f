package host_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/replay"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// swapped records trials with their audits, each with a judge of the court and one of the audit of its own.
func swapped(t *testing.T, generations int) (*record.Store, []byte) {
	t.Helper()
	store := record.OpenStore(filepath.Join(t.TempDir(), "store"))
	config := benched(t, threeApart)
	config.Store = store
	judges, _ := config.Modules.(fstest.MapFS)
	plain := judges["bench.wasm"].Data
	a := openAuditor(t, config)
	look := host.AuditLooker(a, host.Watch{Modules: judges})
	files := modules(t)
	specter := files["specter.wasm"].Data
	_, data := recordBy(t, host.Config{Store: store, Modules: files}, a, func(h *host.Host, write func(*record.Trial)) {
		for i := range generations {
			stamp := fmt.Sprintf("generation %03d", i)
			files["specter.wasm"] = &fstest.MapFile{Data: stamped(specter, stamp)}
			must.Do(t, h.Swap(t.Context(), files))
			judges["bench.wasm"] = &fstest.MapFile{Data: stamped(plain, stamp)}
			look(t.Context())
			look(t.Context())
			c := dispute()
			c.ID = fmt.Sprint("dispute-", i)
			for tried := range a.AuditTrials(t.Context(), h.TryAll(t.Context(), seq(entryOf(c)), 1), "court", 1) {
				write(tried.Record)
			}
		}
	})
	return store, data
}

func trialSeq(list []*record.Trial) iter.Seq2[*record.Trial, error] {
	return func(yield func(*record.Trial, error) bool) {
		for _, one := range list {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// TestAccept_RE1_AReplayOfManyGenerationsKeepsTheModulesOfTheLast: however often modules were swapped, a replay has those of the last few generations
// loaded, and those that did not change once.
func TestAccept_RE1_AReplayOfManyGenerationsKeepsTheModulesOfTheLast(t *testing.T) {
	t.Parallel()
	generations, workers := 5, 2
	if long() {
		generations = 12
	}
	store, data := swapped(t, generations)
	header, list := trials(t, data)
	if last := list[len(list)-1]; last.Generation < generations || last.Audit.Generation < generations {
		t.Fatalf("generations %d and %d", last.Generation, last.Audit.Generation)
	}
	r := must.Get(replay.Open(header, replay.Config{Store: store, CacheDir: cacheDir}))(t)
	// A module that no pipeline names is not looked for.
	list[3].Modules = append(slices.Clone(list[3].Modules), record.Part{Name: "zzz", Digest: record.DigestOf(nil)})
	court, judging := len(list[0].Modules), len(list[0].Audit.Modules)
	// There and back: what was let go is loaded again.
	back := slices.Clone(list)
	slices.Reverse(back)
	for replayed := range r.All(t.Context(), trialSeq(slices.Concat(list, back)), nil, workers) {
		if replayed.Err != nil || replayed.Difference != nil {
			t.Errorf("%s: %+v, %v", replayed.Was.ID, replayed.Difference, replayed.Err)
		}
		// Of each generation that is kept or used one module is its own.
		most := 1 + workers + 1 // and one that is being loaded
		if courts, audits := r.Loaded(); courts >= court+most || audits >= judging+most {
			t.Errorf("%d and %d modules are loaded, of %d and %d", courts, audits, court, judging)
		}
	}
	if courts, audits := r.Loaded(); courts != court || audits != judging {
		t.Errorf("in the end %d and %d modules are loaded, of %d and %d in a generation", courts, audits, court, judging)
	}
	must.Do(t, r.Close(context.Background()))
	if courts, audits := r.Loaded(); courts != 0 || audits != 0 {
		t.Errorf("closed, it has %d and %d modules loaded", courts, audits)
	}
}

// A replay ends with its caller, wherever in the trial it is: after the call that it is at, and one more at most.
func TestAReplayEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	store, data := recordTrials(t, host.Config{}, 1, entryOf(dispute())...)
	header, list := trials(t, data)
	var cancel context.CancelFunc
	looks, last := 0, -1
	clock := func() time.Time {
		if looks++; looks == last {
			cancel()
		}
		return time.Unix(0, 0)
	}
	r := must.Get(replay.Open(header, replay.Config{Store: store, CacheDir: cacheDir, Now: clock}))(t)
	defer func() { _ = r.Close(context.Background()) }()
	again := func() error {
		var ctx context.Context
		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
		if last == 0 {
			cancel()
		}
		looks = 0
		_, _, err := r.Replay(ctx, list[0], nil)
		return err
	}
	must.Do(t, again())
	whole := looks
	for last = range whole {
		if err := again(); !errors.Is(err, context.Canceled) || looks > last+2 || last == 0 && looks > 0 || last < 2 && looks > 1 {
			t.Errorf("%v, after %d looks at the clock of %d; the caller has gone after %d", err, looks, whole, last)
		}
	}
	last = -1
	if err := again(); err != nil || looks != whole {
		t.Errorf("%v, after %d looks at the clock of %d", err, looks, whole)
	}
}
