//go:build llm

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// llmCases is how many cases are tried with each pipeline.
func llmCases(t *testing.T) int {
	t.Helper()
	n := 50
	if text := os.Getenv("SHADOWCOURT_LLM_CASES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 2 {
			t.Fatalf("SHADOWCOURT_LLM_CASES=%s: use a number from 2", text)
		}
	}
	return n
}

// uncertainCases writes real failures of Go tests that come before the court into a docket: every seventh, of as many modules as there are.
func uncertainCases(t *testing.T, name string, n int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repositoryRoot(t), "examples", "dockets", "go-test-1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var chosen bytes.Buffer
	seen, written := 0, 0
	for line := range bytes.Lines(data) {
		var c struct {
			Light *struct{ Confidence float64 } `json:"light"`
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if c.Light == nil || c.Light.Confidence < 0.5 || c.Light.Confidence >= 0.85 {
			continue
		}
		if seen%7 == 0 && written < n {
			chosen.Write(line)
			written++
		}
		seen++
	}
	if written < n {
		t.Fatalf("the docket has %d of %d cases", written, n)
	}
	if err := os.WriteFile(name, chosen.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// smallPipelines copies the shipped pipelines with settings for a small model on a processor: fewer samples, rounds and tokens. The prompts
// stay as they are.
func smallPipelines(t *testing.T, dir string) {
	t.Helper()
	settings := []struct {
		pattern *regexp.Regexp
		with    string
	}{
		{regexp.MustCompile(`(?m)^samples: \d+$`), "samples: 1"},
		{regexp.MustCompile(`(?m)^answer_tokens: \d+$`), "answer_tokens: 128"},
		{regexp.MustCompile(`(?m)^document_tokens: \d+$`), "document_tokens: 80"},
		{regexp.MustCompile(`(?m)^    rounds: \d+$`), "    rounds: 1"},
	}
	for _, pattern := range []string{"llm-*.yaml", "prompts/*.md"} {
		names, err := fs.Glob(pipelines.FS, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(pipelines.FS, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range settings {
				text = s.pattern.ReplaceAll(text, []byte(s.with))
			}
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// writeModels writes a models.yaml in which names of a pipeline are the small model. The judge gets its schema in the prompt, and the
// others a grammar.
func writeModels(t *testing.T, name string, names []servedName, more string) {
	t.Helper()
	providers, models := "providers:\n", "models:\n"
	for _, n := range names {
		schemas := "json_object"
		if n.name == "specter" {
			schemas = "prompt"
		}
		providers += fmt.Sprintf("  at-%s: {api: openai, url: %q, timeout: 10m, concurrency: %d, retries: 0}\n", n.name, n.url, n.servers)
		models += fmt.Sprintf("  %s: {provider: at-%s, model: smollm2-135m, context_tokens: 2048, answer_tokens: 128, schemas: %s, price: {input: 0.1, output: 0.4}}\n", n.name, n.name, schemas)
	}
	if err := os.WriteFile(name, []byte(providers+models+more), 0o600); err != nil {
		t.Fatal(err)
	}
}

// all checks that every case came to an end of the court.
func (w *written) all(t *testing.T, n int) {
	t.Helper()
	if len(w.Results) != n || w.Summary.Tried != n {
		t.Errorf("%d results and %d trials of %d cases", len(w.Results), w.Summary.Tried, n)
	}
	for i := range w.Results {
		if r := &w.Results[i]; r.Error != nil || r.Final.Status == trial.Mistrial {
			t.Errorf("%s: %+v, error %+v", r.ID, r.Final, r.Error)
		}
	}
}

// A real small model, whose answers are often broken, takes part in real trials through the real command: with both pipelines every case
// comes to its end, answers are repaired or their persona's fallback plays, budgets hold, and what was recorded gives the same bytes when
// the model is gone.
func TestAccept_LL7_ARealSmallModelTakesPart(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	cases := llmCases(t)
	uncertainCases(t, path("cases.jsonl"), cases)
	smallPipelines(t, dir)
	shadowcourt(t.Context(), t, dir, "key", "new", "court.key")
	names := []string{"llm-discovery", "llm-court"}
	servers := map[string]*modelServer{
		"llm-discovery": serveModel(t, servedName{name: "reader", servers: 2}),
		"llm-court":     serveModel(t, servedName{name: "challenger", servers: 2}, servedName{name: "abyss", servers: 2}, servedName{name: "bulwark", servers: 2}, servedName{name: "specter", servers: 1}),
	}
	try := func(t *testing.T, pipeline, output string, more ...string) (*written, []byte) {
		t.Helper()
		args := []string{"try", "cases.jsonl", "--profile", "go-test", "--pipeline", pipeline + ".yaml", "--format", "json", "--output", output}
		shadowcourt(t.Context(), t, dir, append(args, more...)...)
		w := readResults(t, path(output))
		if w.Summary.Models == nil {
			t.Fatalf("%s: no model was asked", output)
		}
		data, err := os.ReadFile(path(output))
		if err != nil {
			t.Fatal(err)
		}
		return w, data
	}
	var mu sync.Mutex
	recorded, asked := map[string][]byte{}, map[string]int{}
	t.Run("the model answers", func(t *testing.T) {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				server := servers[name]
				writeModels(t, path(name+".models"), server.names, "")
				began := time.Now()
				w, data := try(t, name, name+".json", "--models", name+".models", "--cassette", name+".tape", "--record", name+".record", "--key", "court.key", "--store", name+".store")
				mu.Lock()
				recorded[name], asked[name] = data, w.Summary.Models.Completions
				mu.Unlock()
				w.all(t, cases)
				figures(t, name, w, server, time.Since(began))
			})
		}
	})
	t.Run("a budget that does not suffice", func(t *testing.T) {
		const most = 6000
		writeModels(t, path("small.yaml"), servers["llm-discovery"].names, fmt.Sprintf("budgets: {docket: {tokens: %d}}\n", most))
		w, _ := try(t, "llm-discovery", "small.json", "--models", "small.yaml")
		w.all(t, cases)
		m := w.Summary.Models
		if used := m.InputTokens + m.OutputTokens; used == 0 || used > most || m.Fallbacks < cases/2 {
			t.Errorf("of %d tokens %d were used, and %d fallbacks played", most, used, m.Fallbacks)
		}
		last := w.Results[cases-1].Completions
		if len(last) == 0 || last[0].Outcome != abi.CompletionNotAsked || !strings.Contains(last[0].Detail, "the budget of the docket does not suffice") {
			t.Errorf("the last case: %+v", last)
		}
		t.Logf("budget of %d tokens: %+v", most, *m)
	})
	for name, server := range servers {
		server.stop()
		t.Logf("%s: its servers had %d MB of resident memory", name, server.memory)
	}
	t.Run("from the cassette", func(t *testing.T) {
		for _, name := range names {
			if _, data := try(t, name, name+".again.json", "--models", name+".models", "--cassette", name+".tape"); !bytes.Equal(data, recorded[name]) {
				at := 0
				for at < min(len(data), len(recorded[name])) && data[at] == recorded[name][at] {
					at++
				}
				t.Errorf("%s: the results from the cassette are others:\n%.300s\nrecorded:\n%.300s", name, data[max(at-100, 0):], recorded[name][max(at-100, 0):])
			}
		}
	})
	t.Run("from the record", func(t *testing.T) {
		for _, name := range names {
			cmd := exec.CommandContext(t.Context(), "shadowcourt", "replay", name+".record", "--key", "court.key.pub", "--store", name+".store")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), userEnv(t)...)
			out, err := cmd.CombinedOutput()
			if want := fmt.Sprintf("%d trials replayed, the same bytes", cases); err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %v, without %q:\n%s", name, err, want, out)
			}
			t.Logf("%s", out)
		}
	})
	t.Run("nobody answers", func(t *testing.T) {
		w, _ := try(t, "llm-discovery", "gone.json", "--models", "llm-discovery.models")
		w.all(t, cases)
		// The profile's own Light path takes some cases out of the band.
		if m, want := w.Summary.Models, asked["llm-discovery"]; want < cases/2 || m.Completions != want || m.Unanswered != want || m.Fallbacks != want || m.InputTokens > 0 {
			t.Errorf("%d questions before, and now %+v", want, *m)
		}
	})
}

// modelFault is the code of a module's failure.
var modelFault = regexp.MustCompile(`model_[a-z_]+`)

// figures logs outcomes, tokens and seconds of a run.
func figures(t *testing.T, name string, w *written, s *modelServer, took time.Duration) {
	t.Helper()
	outcomes, answers := map[abi.CompletionOutcome]int{}, 0
	for i := range w.Results {
		for _, c := range w.Results[i].Completions {
			outcomes[c.Outcome]++
			answers += c.Answers
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := w.Summary.Models
	causes := map[string]int{}
	for i := range w.Results {
		for _, f := range w.Results[i].Fallbacks {
			causes[modelFault.FindString(f.Message)]++
		}
	}
	direct := s.questions - s.repairs - s.cut // answers that conform at once
	t.Logf("%s: %d cases, %d completions %v, %d fallbacks %v", name, len(w.Results), m.Completions, outcomes, m.Fallbacks, causes)
	t.Logf("%s: %d samples, of which %d conform at once, %d after a repair, %d were cut, %d not even after a repair", name, s.questions, direct, answers-direct, s.cut, s.questions-s.cut-answers)
	t.Logf("%s: %d tokens in and %d out, %.0f s in all, of which the model took %.0f", name, m.InputTokens, m.OutputTokens, took.Seconds(), s.took.Seconds())
	if s.repairs == 0 || m.Unanswered == 0 || name == "llm-court" && answers == 0 {
		t.Errorf("%d repairs, %d answers, %d completions without one: the run shows nothing of one of them", s.repairs, answers, m.Unanswered)
	}
}
