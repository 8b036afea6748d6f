package host_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// A few swaps under load: no trial fails, and none mixes modules of two
// generations. Run it with the race detector.
func TestHammerSwapsWhileTrialsGoOn(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{})
	plain := modules(t)
	other := modules(t)
	for name, file := range plain { // the same code, so the same verdicts, with other digests
		relabelled, err := relabel(file.Data)
		if err != nil {
			t.Fatal(err)
		}
		other[name] = &fstest.MapFile{Data: relabelled}
	}
	want := try(t, h, dispute()).Result
	trials, swaps := 40, 6
	if raceEnabled {
		trials, swaps = 12, 3
	}
	var wait sync.WaitGroup
	results := make([]*docket.Trial, trials)
	for w := range 4 {
		wait.Go(func() {
			for i := w; i < trials; i += 4 {
				trial, err := h.Try(context.Background(), dispute())
				if err != nil {
					t.Error(err)
					return
				}
				results[i] = trial
			}
		})
	}
	for i := range swaps {
		files := other
		if i%2 == 1 {
			files = plain
		}
		if err := h.Swap(context.Background(), files); err != nil {
			t.Error(err)
		}
	}
	wait.Wait()
	generations := make(map[string]string)
	for _, trial := range results {
		if trial == nil {
			continue
		}
		got := trial.Result
		if got.Final != want.Final {
			t.Errorf("%+v, want %+v", got.Final, want.Final)
		}
		if clerk, known := generations[got.Modules["challenger"]]; known && clerk != got.Modules["clerk"] {
			t.Error("a trial mixes generations")
		}
		generations[got.Modules["challenger"]] = got.Modules["clerk"]
		for _, call := range trial.Passes[0].Calls {
			if call.Persona != "" && call.Module != got.Modules[call.Persona] {
				t.Errorf("%s was played by %s, the result names %s", call.Persona, call.Module, got.Modules[call.Persona])
			}
		}
	}
}

// relabel gives a module with one more version in its manifest.
func relabel(wasm []byte) ([]byte, error) {
	info, err := host.Inspect(wasm)
	if err != nil {
		return nil, err
	}
	m := info.Manifest
	text := "name: " + m.Name + "\nversion: 9.9.9\nabi: \"" + m.ABI + "\"\n" +
		"calls: " + flow(m.Calls) + "\nfamilies: " + flow(m.Families) + "\nedges: " + flow(m.Edges) + "\ncriteria: []\ncapabilities: []\n"
	return host.Annotate(wasm, m.Name, []byte(text))
}

func flow[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return "[" + strings.Join(words, ", ") + "]"
}
