package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// written is what is read of the results of a run.
type written struct {
	Results []trial.Result `json:"results"`
	Summary struct {
		Tried  int                  `json:"tried"`
		Models *render.ModelSummary `json:"models"`
	} `json:"summary"`
}

func readResults(t *testing.T, name string) *written {
	t.Helper()
	w := &written{}
	must.Do(t, json.Unmarshal([]byte(readFile(t, name)), w))
	return w
}

// verdicts are the results without what models were asked.
func (w *written) verdicts(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i := range w.Results {
		r := w.Results[i]
		r.Completions, r.Fallbacks, r.Statements, r.Modules = nil, nil, nil, nil
		r.Fuel = nil
		data := must.Get(json.Marshal(&r))(t)
		b.Write(append(data, '\n'))
	}
	return b.String()
}

// Whatever is wrong with a model, each case that asks it has one line about it, the persona's fallback plays, and all cases get the answers
// that they get without a model.
func TestWhateverIsWrongWithAModelTheDocketGoesOn(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/model")
	docket := filepath.Join(repositoryRoot(t), "examples", "dockets", "tour.jsonl")
	plainDir := t.TempDir()
	succeeds(t, plainDir, "try", docket, "--pipeline", "llm-discovery", "--format", "json", "--output", "results.json")
	plain := readResults(t, filepath.Join(plainDir, "results.json"))
	if plain.Summary.Tried < 2 || plain.Summary.Models != nil {
		t.Fatalf("%+v", plain.Summary)
	}
	body := func(kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(text))
		}
	}
	says := func(text string) http.HandlerFunc {
		content, _ := json.Marshal(text)
		return body("application/json", `{"choices": [{"finish_reason": "stop", "message": {"content": `+string(content)+`}}], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}`)
	}
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere.Add(1)
		says("{}")(w, r)
	}))
	t.Cleanup(other.Close)
	for _, tc := range []struct {
		name     string
		serve    http.HandlerFunc // nil: nobody listens
		secure   bool             // with a certificate that nobody signed
		provider string           // further fields of the provider
		change   func(models string) string
		outcome  string // of each completion; empty: no completion
		detail   string // of each completion, or on the standard error
	}{
		{name: "down", outcome: "failed", detail: "local: no connection: "},
		{name: "slow", serve: func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or the server does not see that the client is gone
			<-r.Context().Done()
		}, provider: ", timeout: 100ms", outcome: "failed", detail: "local: no answer within 100ms"},
		{name: "the wrong schema", serve: says(`{"verdict": "guilty"}`), outcome: "invalid", detail: "the answer of reader does not conform to the schema: "},
		{name: "half a JSON in the answer", serve: says(`{"findings": [{"line": 1,`), outcome: "invalid", detail: "the JSON ends in the middle (after a repair)"},
		{name: "half a JSON", serve: body("application/json", `{"choices": [{"mess`), outcome: "failed", detail: "local: the answer is half a JSON"},
		{name: "1 GB", serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(1<<30))
			for chunk := make([]byte, 1<<20); r.Context().Err() == nil; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, outcome: "failed", detail: "local: the answer has more than 8388608 bytes"},
		{name: "a page", serve: body("text/html", "<html>Sign in</html>"), outcome: "failed", detail: `local: the answer is "text/html" and not application/json: check its url`},
		{name: "a certificate that nobody signed", serve: says("{}"), secure: true, outcome: "failed", detail: "local: TLS: "},
		{name: "no TLS", serve: says("{}"), change: func(m string) string { return strings.Replace(m, "http://", "https://", 1) }, outcome: "failed", detail: "local: TLS: the server speaks plain HTTP"},
		{name: "a redirect to another host", serve: http.RedirectHandler(other.URL, http.StatusTemporaryRedirect).ServeHTTP, outcome: "failed", detail: "local: the server redirects to " + other.URL + ", which is not followed"},
		{name: "no key", serve: says("{}"), provider: ", key_env: SHADOWCOURT_TEST_NO_KEY", outcome: "not_asked", detail: "the environment variable SHADOWCOURT_TEST_NO_KEY "},
		{name: "a wrong key", serve: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, outcome: "failed", detail: "local: 401 Unauthorized: the key is not accepted"},
		{name: "a budget of 0", serve: says("{}"), change: func(m string) string { return m + "budgets: {docket: {money: 0}}\n" }, outcome: "not_asked", detail: "the budget of the docket is 0: no model is asked"},
		{name: "an unknown name", serve: says("{}"), change: func(m string) string { return strings.Replace(m, "reader:", "writer:", 1) }, detail: "has no model reader"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewUnstartedServer(tc.serve)
			server.Config.ErrorLog = nil
			if tc.secure {
				server.StartTLS()
			} else {
				server.Start()
			}
			if tc.serve == nil {
				server.Close()
			} else {
				t.Cleanup(server.Close)
			}
			models := fmt.Sprintf("providers:\n  local: {api: openai, url: %q, retries: 0%s}\nmodels:\n  reader: {provider: local, model: tiny, context_tokens: 16000, answer_tokens: 2000}\n", server.URL, tc.provider)
			if tc.change != nil {
				models = tc.change(models)
			}
			dir := t.TempDir()
			must.Do(t, os.WriteFile(filepath.Join(dir, "models.yaml"), []byte(models), 0o600))
			said := succeeds(t, dir, "try", docket, "--pipeline", "llm-discovery", "--models", "models.yaml", "--format", "json", "--output", "results.json").errors
			got := readResults(t, filepath.Join(dir, "results.json"))
			check.Equal(t, got.verdicts(t), plain.verdicts(t), "results", "without a model")
			if tc.outcome == "" {
				if !strings.Contains(said, tc.detail) || got.Summary.Models == nil || got.Summary.Models.Completions > 0 || !slices.Equal(got.Summary.Models.Unbound, []string{"reader"}) {
					t.Errorf("said %q, and %+v", said, got.Summary.Models)
				}
				return
			}
			asked := 0
			for i := range got.Results {
				r := &got.Results[i]
				asked += len(r.Completions)
				check.Equal(t, len(r.Completions), len(r.Fallbacks), r.ID, "completions and", "fallbacks")
				for k := range r.Completions {
					c, f := &r.Completions[k], &r.Fallbacks[k]
					if string(c.Outcome) != tc.outcome || !strings.Contains(c.Detail, tc.detail) || strings.Contains(c.Detail, "\n") || f.Fallback != "bulwark" || !strings.Contains(f.Message, tc.detail) {
						t.Errorf("%s: %s: %q, fallback %q\nwant %s: %q", r.ID, c.Outcome, c.Detail, f.Message, tc.outcome, tc.detail)
					}
				}
			}
			if asked < 2 || got.Summary.Models.Unanswered != asked {
				t.Errorf("%d completions, %+v", asked, got.Summary.Models)
			}
			if tc.outcome == "not_asked" && tc.name == "no key" && !strings.Contains(said, "warning: --models: the models of the provider local are not asked") {
				t.Errorf("said %q", said)
			}
		})
	}
	t.Cleanup(func() {
		if n := elsewhere.Load(); n > 0 {
			t.Errorf("%d requests went to another host", n)
		}
	})
}

// The program of --light exec: does not get the keys of the models, a proxy and missing names are told of once, and a wrong file is named
// with its flag.
func TestWhatIsToldOfModels(t *testing.T) {
	t.Setenv("SHADOWCOURT_TEST_KEY", "sk-planted-0123456789")
	const docket = "docket.jsonl"
	dir := t.TempDir()
	write := func(name, text string) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("models.yaml", "providers:\n  far: {api: openai, url: 'https://x.invalid/v1', key_env: SHADOWCOURT_TEST_KEY}\n"+
		"models:\n  reeder: {provider: far, model: tiny, context_tokens: 16000, answer_tokens: 2000}\n  other: {provider: far, model: tiny, context_tokens: 16000, answer_tokens: 2000}\n")
	write(docket, `{"id": "one", "subject": "s", "labels": ["pb001", "ab001"], "light": {"classification": "pb001", "confidence": 0.9, "reasoning": "r"}, "evidence": [], "documents": []}`+"\n")
	write("light.sh", "env > env.txt\nwhile read -r line; do echo '{\"classification\":\"pb001\",\"confidence\":0.99,\"reasoning\":\"x\"}'; done\n")
	t.Setenv("HTTPS_PROXY", "http://me:secret@127.0.0.1:1")
	said := succeeds(t, dir, "try", docket, "--pipeline", "llm-court", "--models", "models.yaml", "--light", "exec:sh light.sh", "--format", "json", "--output", "results.json").errors
	env, err := os.ReadFile(filepath.Join(dir, "env.txt"))
	if err != nil || strings.Contains(string(env), "SHADOWCOURT_TEST_KEY") || !strings.Contains(string(env), "PATH=") {
		t.Errorf("the program has %s, %v", env, err)
	}
	if strings.Count(said, "has no model") != 1 || !strings.Contains(said, "; the file has other, reeder\n") {
		t.Errorf("said %q", said)
	}
	if !strings.Contains(said, "note: --models: the provider far is asked through the proxy http://127.0.0.1:1\n") || strings.Contains(said, "secret") {
		t.Errorf("said %q", said)
	}
	execute(t, dir, nil, "shadowcourt", "try", docket, "--models", "none.yaml").wants(t, 2, "--models: none.yaml: can't be read: no such file")
}

// A server may send more than an answer: net/http logs it, with the key if it is in there.
func TestAccept_LL5_WhatAServerSendsOutOfTurnIsInNoOutput(t *testing.T) {
	const key = "sk-planted-0123456789"
	t.Setenv("SHADOWCOURT_TEST_KEY", key)
	t.Setenv("GODEBUG", "http2debug=2")
	const answer = `{"choices": [{"finish_reason": "stop", "message": {"content": "no"}}]}`
	out := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s%s", len(answer), answer, r.Header.Get("Authorization"))
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	}))
	t.Cleanup(out.Close)
	h2 := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}))
	h2.EnableHTTP2 = true
	h2.StartTLS()
	t.Cleanup(h2.Close)
	dir := t.TempDir()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h2.Certificate().Raw})
	must.Do(t, os.WriteFile(filepath.Join(dir, "authority.pem"), authority, 0o600))
	t.Setenv("SSL_CERT_FILE", filepath.Join(dir, "authority.pem"))
	for _, url := range []string{out.URL, h2.URL} {
		models := fmt.Sprintf("providers:\n  local: {api: openai, url: %q, retries: 0, key_env: SHADOWCOURT_TEST_KEY}\nmodels:\n  reader: {provider: local, model: tiny, context_tokens: 16000, answer_tokens: 2000}\n", url)
		must.Do(t, os.WriteFile(filepath.Join(dir, "models.yaml"), []byte(models), 0o600))
		said := succeeds(t, dir, "try", filepath.Join(repositoryRoot(t), "examples", "dockets", "tour.jsonl"), "--pipeline", "llm-discovery", "--models", "models.yaml", "--format", "json", "--output", "results.json").errors
		got := readResults(t, filepath.Join(dir, "results.json"))
		if strings.Contains(said, key) || got.Summary.Models == nil || got.Summary.Models.Completions == 0 {
			t.Errorf("%s: %+v, said %q", url, got.Summary.Models, said)
		}
		if url == h2.URL && !strings.Contains(said, "http2: Transport") {
			t.Errorf("nothing was searched: %q", said)
		}
	}
}

// Results that are no results are said to be none, with the command that writes them.
func TestFitSaysWhatOutcomesHaveToBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"table.txt": "In the band\n"})
	execute(t, dir, nil, "shadowcourt", "fit", example(t, "demo.jsonl"), "--outcomes", "table.txt", "--output", "p.yaml").wants(t, 2,
		"--outcomes table.txt: line 1: not a result, as try --format jsonl writes it")
}
