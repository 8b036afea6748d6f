package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// holding is a provider on loopback. From the time that a file says "hold" it keeps everybody waiting; when as many wait as it wants, it
// writes "all" into the file, and answers a second after somebody wrote "measured".
type holding struct {
	wanted  int64
	file    string
	holds   atomic.Bool
	waiting atomic.Int64
	release chan struct{}
}

func (p *holding) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if !p.holds.Load() && p.says("hold") {
		p.holds.Store(true)
	}
	if p.holds.Load() {
		if p.waiting.Add(1) == p.wanted {
			go p.whenMeasured()
		}
		select {
		case <-p.release:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, `{"choices": [{"finish_reason": "stop", "message": {"content": "{\"findings\": [], \"probabilities\": {\"pb001\": 1, \"ab001\": 0, \"si001\": 0, \"nd001\": 0}}"}}], "usage": {"prompt_tokens": 500, "completion_tokens": 40}}`)
}

func (p *holding) says(word string) bool {
	said, _ := os.ReadFile(p.file)
	return string(said) == word
}

func (p *holding) whenMeasured() {
	_ = os.WriteFile(p.file, []byte("all"), 0o600)
	for !p.says("measured") {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(time.Second) // of which no trial's limit may know
	close(p.release)
}

// uncertainCases are real failures of Go tests that come before the court.
func uncertainCases(t *testing.T) []docket.Entry {
	t.Helper()
	file := must.Get(os.Open(filepath.Join("..", "examples", "dockets", "go-test-1.jsonl")))(t)
	defer func() { _ = file.Close() }()
	var entries []docket.Entry
	var reader docket.Reader
	for e, err := range reader.JSONL("go-test-1.jsonl", file) {
		must.Do(t, err)
		if l := e.Case.Light; l != nil && l.Confidence >= 0.5 && l.Confidence < 0.85 {
			entries = append(entries, e)
		}
	}
	return entries
}

// again gives so many entries, the same ones again and again under other ids.
func again(entries []docket.Entry, n int) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		for i := range n {
			e := entries[i%len(entries)]
			e.Case.ID = fmt.Sprintf("%s/%d", e.Case.ID, i)
			if !yield(e, nil) {
				return
			}
		}
	}
}

// A thousand trials that wait for a model at the same time hold at most 300 MB more than the host held before: none holds a processor or
// the memory of a module. What they waited is counted apart. The provider has a process of its own, whose memory does not count.
func TestAccept_LL7_AThousandTrialsWaitForAModel(t *testing.T) {
	tier.Long(t, "host/model", "host/internal/court")
	const trials, limit = 1000, 300 << 20
	if os.Getenv("SHADOWCOURT_TEST_CHILD") == "" {
		t.Parallel()
		provider := &holding{wanted: trials, file: filepath.Join(t.TempDir(), "state"), release: make(chan struct{})}
		server := httptest.NewServer(provider)
		t.Cleanup(server.Close)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAccept_LL7_AThousandTrialsWaitForAModel$", "-test.v")
		cmd.Env = append(os.Environ(), "SHADOWCOURT_TEST_CHILD="+server.URL, "SHADOWCOURT_TEST_STATE="+provider.file)
		out, err := cmd.CombinedOutput()
		if t.Logf("%s", out); err != nil {
			t.Fatal(err)
		}
		return
	}
	state := os.Getenv("SHADOWCOURT_TEST_STATE")
	def := llm(t, pipelines.LLMDiscovery, "prompts/reader.md", "# system\nYou read.\n# settings\nsamples: 1\n# discover\n{labels}\n{documents}\n")
	definition := must.Get(model.Parse("models.yaml", fmt.Appendf(nil, "providers:\n  here: {api: openai, url: %q, retries: 0, timeout: 1h, concurrency: 1024}\n"+
		"models:\n  reader: {provider: here, model: held, context_tokens: 16000, answer_tokens: 1200}\n", os.Getenv("SHADOWCOURT_TEST_CHILD"))))(t)
	set := must.Get(model.Open(model.Config{Definition: definition}))(t)
	defer func() { _ = set.Close() }()
	h := must.Get(host.Open(t.Context(), host.Config{Pipeline: def, Models: set, CacheDir: cacheDir}))(t)
	defer func() { _ = h.Close(context.Background()) }()
	entries := uncertainCases(t)
	var asking []docket.Entry // of others the prosecution is so sure that nobody reads them
	for tried := range h.TryAll(t.Context(), again(entries, 100), 8) {
		must.Do(t, tried.Err)
		if len(tried.Trial.Result.Completions) == 1 {
			asking = append(asking, tried.Entry)
		}
	}
	if len(asking) < 20 {
		t.Fatalf("%d of 100 cases ask", len(asking))
	}
	debug.FreeOSMemory()
	before := resident(t)
	measured := make(chan [2]int64, 1)
	began := time.Now()
	must.Do(t, os.WriteFile(state, []byte("hold"), 0o600))
	go func() {
		for {
			if said, _ := os.ReadFile(state); string(said) == "all" {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		all := resident(t)
		debug.FreeOSMemory()
		measured <- [2]int64{all, resident(t)}
		_ = os.WriteFile(state, []byte("measured"), 0o600)
	}()
	n := 0
	var peak [2]int64
	results := h.TryAll(t.Context(), again(asking, trials), trials)
	for tried := range results {
		must.Do(t, tried.Err)
		if n == 0 {
			peak = <-measured
			t.Logf("%d trials wait after %.1f s", trials, time.Since(began).Seconds())
		}
		n++
		r := &tried.Trial.Result
		if len(r.Completions) != 1 || r.Completions[0].Outcome != "answered" || r.Error != nil || len(r.Fallbacks) > 0 {
			data, _ := json.Marshal(r)
			t.Fatalf("%s", data)
		}
		if r.Timings.ModelMicros < time.Second.Microseconds() || r.Timings.ModelMicros > r.Timings.TotalMicros {
			t.Errorf("%s: waited %d of %d us for the model", r.ID, r.Timings.ModelMicros, r.Timings.TotalMicros)
		}
		if said := r.Verdict; said == nil || strings.TrimSpace(said.Reasoning) == "" {
			t.Errorf("%s: no verdict", r.ID)
		}
	}
	t.Logf("resident: %d MB before, %d MB with %d trials that wait, %d MB of it held", before>>20, peak[0]>>20, trials, peak[1]>>20)
	if n != trials || peak[0]-before > limit {
		t.Errorf("%d of %d trials; while they wait, %d MB are resident on top, want at most %d", n, trials, (peak[0]-before)>>20, limit>>20)
	}
}
