//go:build sdk

package polyglot

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// The readers of examples/readers build, keep the contract, and ask a model through the host and its server: about each label, with the
// line that it names quoted. A broken answer is repaired; where there is none, the fallback plays and the cause is named.
func TestAccept_LL2_ReadersOfEveryLanguageAskAModel(t *testing.T) {
	command := buildCommand(t)
	court := must.Get(pipeline.Load(root(t, "examples", "readers", "court.yaml")))(t)
	cache := t.TempDir()
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			l.need(t)
			dir := root(t, "examples", "readers", l.name)
			wasm := l.build(t, dir)
			l.run(t, dir, l.tests)
			check(t, command, filepath.Join(dir, filepath.FromSlash(l.output)))
			if n := len(load(t, wasm).Info().Imports); n > 0 {
				t.Errorf("the module has %d imports", n)
			}
			files := embedded(t)
			files["line-reader.wasm"] = &fstest.MapFile{Data: wasm}
			for _, tc := range readings() {
				t.Run(tc.name, func(t *testing.T) { tc.try(t, court, files, cache) })
			}
			t.Logf("module of %d bytes", len(wasm))
		})
	}
}

// reading is a trial with a server that answers in some way.
type reading struct {
	name string
	// answer to the nth request, which asks about a label.
	answer func(n int, label string, w http.ResponseWriter)
	// models is what models.yaml has beside the provider.
	models string
	// requests to the server, and the failure for which the fallback plays; without one the model's line is in the discovery.
	requests int
	failure  string
	// missing, where nobody was asked.
	missing string
}

func readings() []reading {
	const reader = "models: {reader: {provider: here, model: tiny, context_tokens: 8000, answer_tokens: 500}}\n"
	says := func(label string) string {
		return map[string]string{"quota": `{"line": 21}`, "leak": `{"line":0}`}[label]
	}
	right := func(_ int, label string, w http.ResponseWriter) { reply(w, says(label)) }
	down := func(_ int, _ string, w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }
	return []reading{
		{name: "answered", models: reader, answer: right, requests: 2},
		{name: "repaired", models: reader, requests: 4, answer: func(n int, label string, w http.ResponseWriter) {
			if n%2 == 0 {
				reply(w, "It is line 3.")
				return
			}
			reply(w, "```json\n"+says(label)+"\n```")
		}},
		{name: "broken", models: reader, requests: 2, failure: "model_invalid: ", answer: func(_ int, _ string, w http.ResponseWriter) {
			reply(w, `{"line": "x"}`)
		}},
		{name: "failed", models: reader, requests: 1, failure: "model_failed: ", answer: down},
		{name: "no budget", models: reader + "budgets: {trial: {tokens: 0}}\n", failure: "model_not_asked: ", answer: down},
		{name: "unknown alias", models: strings.Replace(reader, "reader", "other", 1), missing: "no language model was asked", answer: down},
	}
}

func (tc *reading) try(t *testing.T, court *pipeline.Definition, files fstest.MapFS, cache string) {
	t.Helper()
	p := &provider{t: t, answer: tc.answer}
	server := httptest.NewServer(p)
	defer server.Close()
	definition := must.Get(model.Parse("models.yaml", fmt.Appendf(nil, "providers: {here: {api: openai, url: %q, retries: 0}}\n%s", server.URL, tc.models)))(t)
	set := must.Get(model.Open(model.Config{Definition: definition}))(t)
	defer func() { _ = set.Close() }()
	calls := &calls{of: map[string]int{}}
	h := opened(t, host.Config{Pipeline: court, Modules: files, Models: set, CacheDir: cache, Observe: calls.note})
	outcome := must.Get(h.Try(t.Context(), contestedCase()))(t)
	result := &outcome.Result
	if result.Final.Status == trial.Mistrial || p.requests != tc.requests || calls.of["line-reader"] == 0 {
		t.Errorf("%d requests, want %d; the calls are %v; final %+v", p.requests, tc.requests, calls.of, result.Final)
	}
	d := outcome.Passes[0].Discovery
	found := slices.ContainsFunc(d.Findings, func(f abi.Finding) bool {
		return f.Source == "model:reader" && f.Supports == "quota" && strings.TrimSpace(f.Quote) == "panic: quota exceeded on volume xyz"
	})
	switch {
	case tc.failure != "":
		if len(result.Fallbacks) != 1 || !strings.Contains(result.Fallbacks[0].Message, tc.failure) || result.Fallbacks[0].Fallback != "bulwark" || found {
			t.Errorf("fallbacks %+v, findings %+v", result.Fallbacks, d.Findings)
		}
	case len(result.Fallbacks) > 0 || found != (tc.missing == "") || !slices.ContainsFunc(d.Missing, func(s string) bool { return strings.Contains(s, tc.missing) }):
		t.Errorf("fallbacks %+v, discovery %+v", result.Fallbacks, d)
	}
}

// provider is a server of a model.
type provider struct {
	t        *testing.T
	answer   func(n int, label string, w http.ResponseWriter)
	mu       sync.Mutex
	requests int
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var question struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
		MaxTokens int `json:"max_tokens"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &question)
	}
	if err != nil || len(question.Messages) < 2 || question.MaxTokens != 50 {
		p.t.Errorf("request %s: %v", body, err)
		return
	}
	system, user := question.Messages[0].Content, question.Messages[1].Content
	_, label, _ := strings.Cut(user, `for the label "`)
	label, _, _ = strings.Cut(label, `"`)
	if !strings.HasPrefix(system, "You read what a failed test") || !strings.HasPrefix(user, "1| 12:00 request") || !strings.Contains(user, "\n21| panic: quota exceeded on volume xyz\n") {
		p.t.Errorf("system %q, user %q", system, user)
	}
	p.mu.Lock()
	n := p.requests
	p.requests++
	p.mu.Unlock()
	p.answer(n, label, w)
}

func reply(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	content, _ := json.Marshal(text)
	fmt.Fprintf(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`, content)
}
