package host_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

var builtForger = sync.OnceValues(func() ([]byte, error) { return buildGuest("./testdata/forger") })

// forger is the module of testdata/forger.
func forger(t *testing.T) []byte {
	t.Helper()
	return must.Get(builtForger())(t)
}

// labelled gives the cases of an example docket.
func labelled(t *testing.T, name string) []docket.Entry {
	t.Helper()
	in := must.Get(os.Open(filepath.Join("..", "examples", "dockets", name)))(t)
	defer func() { _ = in.Close() }()
	var reader docket.Reader
	var all []docket.Entry
	for entry, err := range reader.JSONL(name, in) {
		must.Do(t, err)
		all = append(all, entry)
	}
	return all
}

// right counts the cases that a court answers right, with the forger in the place of a persona's module.
func right(t *testing.T, entries []docket.Entry, p *abi.Profile, files fstest.MapFS, persona, colour, does string) int {
	t.Helper()
	h := open(t, host.Config{
		Pipeline: shipped(t, "colour: "+colour+"\n", "colour: "+does+"\n", "module: "+persona+"\n", "module: forger\n"), Modules: files, Profile: p,
	})
	n := 0
	for i := range entries {
		outcome := try(t, h, entries[i].Case)
		if outcome.Result.Error != nil {
			t.Fatalf("%s: %v", outcome.Result.ID, outcome.Result.Error) // what breaks the contract shows nothing
		}
		if outcome.Result.Final.Classification == entries[i].Truth.Classification {
			n++
		}
	}
	return n
}

// A hostile persona costs no more than one that does nothing.
func TestAccept_FZ1_NoPersonaForgesTheStatementsOfOthers(t *testing.T) {
	t.Parallel()
	files := modules(t)
	files["forger.wasm"] = &fstest.MapFile{Data: forger(t)}
	demo, err := module.LoadProfile(filepath.Join("..", "examples", "dockets", "demo.yaml")) // fitted on go-fit-1
	must.Do(t, err)
	type heard struct {
		docket  string
		profile *abi.Profile
	}
	whole := tier.Whole("host/internal/court", "plugins")
	dockets := []heard{{"go-test-1.jsonl", demo}}
	if whole {
		banking := must.Get(measure.Fit(t.Context(), labelled(t, "banking-1.jsonl"), measure.FitConfig{Name: "banking", Seed: 1, Workers: 2}))(t)
		dockets = append(dockets, heard{"banking-2.jsonl", banking.Profile})
	}
	for _, d := range dockets {
		entries := labelled(t, d.docket)
		hostile := []string{"forge", "shout", "quote", "everything"}
		if !whole {
			entries, hostile = entries[:100], hostile[3:]
		}
		most := 2 * len(entries) / 100
		for _, p := range []struct{ name, colour string }{{"challenger", "Scarlet"}, {"abyss", "Sapphire"}, {"bulwark", "Iron"}} {
			t.Run(d.docket+" "+p.name, func(t *testing.T) {
				t.Parallel()
				idle := right(t, entries, d.profile, files, p.name, p.colour, "idle")
				for _, does := range hostile {
					got := right(t, entries, d.profile, files, p.name, p.colour, does)
					t.Logf("%s: %d right, %d with an idle persona, of %d", does, got, idle, len(entries))
					if got < idle-most {
						t.Errorf("%s: %d right, %d with an idle persona", does, got, idle)
					}
				}
			})
		}
	}
}
