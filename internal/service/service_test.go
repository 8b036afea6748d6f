package service_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// logs are lines that several goroutines write.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func openHost(ctx context.Context, o *work.Opening, observe func(host.CallRecord)) (*host.Host, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	return host.Open(ctx, host.Config{Modules: o.Modules, Observe: observe, CacheDir: filepath.Join(cache, "shadowcourt", "modules")})
}

// process is one that runs on a SQLite file, at an address.
type process struct {
	url string
	// token is that of whoever runs it.
	token string
	logs  *logs
	stop  func()
}

func start(t *testing.T, address string) *process {
	t.Helper()
	return startWith(t, address, filepath.Join(t.TempDir(), "test.db"), nil)
}

// startWith starts a process with another database or configuration.
func startWith(t *testing.T, address, database string, change func(*service.Config)) *process {
	t.Helper()
	token, err := auth.NewToken(rand.Reader)
	must(t, err)
	p := &process{logs: &logs{}, token: token}
	config := service.Config{
		Open: openHost, Local: token, Workers: 2, Machine: "test", Version: "test", Now: time.Now, Random: rand.Reader, Log: slog.New(slog.NewJSONHandler(p.logs, nil)),
	}
	if change != nil {
		change(&config)
	}
	db, err := store.Open(t.Context(), store.Config{Database: database, Now: config.Now, Logger: config.Log})
	must(t, err)
	config.Store = db
	t.Cleanup(db.Close)
	_, err = db.Migrate(t.Context())
	must(t, err)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	must(t, err)
	s, err := service.New(t.Context(), config)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	started, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- s.Run(ctx, func() { close(started) }, l) }()
	select {
	case <-started:
	case err := <-done:
		cancel()
		t.Fatal(err)
	}
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(p.stop)
	_, port, err := net.SplitHostPort(l.Addr().String())
	must(t, err)
	p.url = "http://127.0.0.1:" + port
	return p
}

func (p *process) ask(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body))
	must(t, err)
	r.Close = true // a server with short limits could end a kept connection just before it is used again
	response, err := p.do(r)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(text)
}

// do sends a request of whoever runs the process.
func (p *process) do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+p.token)
	return http.DefaultClient.Do(r)
}

// planted stands in documents, and nowhere else.
const planted = "PlantedTextOfADocument"

func docketOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"case %d","subject":"%s fails","labels":["pb001","ab001","si001","nd001"],"light":{"classification":"pb001","confidence":0.6,"reasoning":"%s"},`+
			`"evidence":[{"source_ref":"log","content":"%s %d","relevance_confidence":0.7}],"documents":[{"name":"log","text":"%s"}]}`+"\n", i, planted, planted, planted, i, planted)
	}
	return b.String()
}

// gated has hosts be opened when the gate is: until then trials wait that have begun.
func gated(gate <-chan struct{}) func(*service.Config) {
	return func(c *service.Config) {
		c.Open = func(ctx context.Context, o *work.Opening, observe func(host.CallRecord)) (*host.Host, error) {
			select {
			case <-gate:
				return openHost(ctx, o, observe)
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
}

// until asks for a path until it has a status.
func (p *process) until(t *testing.T, path string, want int) string {
	t.Helper()
	for {
		status, body := p.ask(t, http.MethodGet, path, "")
		if status == want {
			return body
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ended follows a docket to its end, and gives its results. Each of its cases must have one.
func (p *process) ended(t *testing.T, docket, cases int) (results string) {
	t.Helper()
	path := fmt.Sprintf("/api/v1/dockets/%d/", docket)
	if _, events := p.ask(t, http.MethodGet, path+"events", ""); !strings.Contains(events, "event: done\n") {
		t.Errorf("docket %d: %s", docket, events)
	}
	if _, results = p.ask(t, http.MethodGet, path+"results", ""); strings.Count(results, "\n") != cases {
		t.Errorf("docket %d has %d results of %d cases", docket, strings.Count(results, "\n"), cases)
	}
	return results
}

func TestAccept_SV1_SubmitFollowReadAndCorrect(t *testing.T) {
	t.Parallel()
	p := start(t, "127.0.0.1:0")
	for _, path := range []string{"/healthz", "/readyz", "/", "/openapi.json"} {
		if status, body := p.ask(t, "GET", path, ""); status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	const n = 40
	status, body := p.ask(t, "POST", "/api/v1/dockets?name=build&repository=shop", docketOf(n))
	if status != 202 {
		t.Fatalf("%d %s", status, body)
	}
	// Following ends with the docket, and has each trial once, in its order.
	status, followed := p.ask(t, "GET", "/api/v1/dockets/1/results?wait=true", "")
	if status != 200 || strings.Count(followed, "\n") != n || !strings.HasPrefix(followed, `{"id":"case 0",`) {
		t.Fatalf("%d %s", status, followed)
	}
	for _, path := range []string{"/api/v1/trials/1-7", "/api/v1/trials/1-7/explanation", "/api/v1/inbox?sure=true", "/trials/1-7", "/dockets/1"} {
		if status, body := p.ask(t, "GET", path, ""); status != 200 || !strings.Contains(body, planted) && !strings.Contains(path, "dockets/1") {
			t.Errorf("%s: %d %.200s", path, status, body)
		}
	}
	if status, body := p.ask(t, "POST", "/api/v1/corrections", `{"label":"si001","trials":["1-7"]}`); status != 201 {
		t.Errorf("correcting: %d %s", status, body)
	}
	var trial struct {
		Label string `json:"corrected_label"`
	}
	if _, body := p.ask(t, "GET", "/api/v1/trials/1-7", ""); json.Unmarshal([]byte(body), &trial) != nil || trial.Label != "si001" {
		t.Errorf("corrected: %.300s", body)
	}
	if status, body := p.ask(t, "PUT", "/api/v1/dockets", ""); status != 405 || !strings.Contains(body, "method_not_allowed") {
		t.Errorf("another method: %d %s", status, body)
	}
	if status, body := p.ask(t, "GET", "/api/v1/nowhere", ""); status != 404 || !strings.Contains(body, "not_found") {
		t.Errorf("another path: %d %s", status, body)
	}
}

func TestAccept_SV7_LogsAndMetricsHaveIDsAndNoDocuments(t *testing.T) {
	t.Parallel()
	p := start(t, "127.0.0.1:0")
	p.ask(t, "POST", "/api/v1/dockets?name="+planted+"Name", docketOf(8))
	p.ask(t, "POST", "/api/v1/dockets", `{"`+planted+`":`)
	p.ask(t, "GET", "/api/v1/dockets?text="+planted, "")
	p.ask(t, "GET", "/api/v1/dockets/1/results?wait=true", "")
	_, metrics := p.ask(t, "GET", "/metrics", "")
	p.stop()
	log := p.logs.String()
	for name, text := range map[string]string{"log": log, "metrics": metrics} {
		if i := strings.Index(text, planted); i >= 0 {
			t.Errorf("%s has what was submitted: %.300s", name, text[max(0, i-150):])
		}
	}
	for _, want := range []string{
		`shadowcourt_cases_total{outcome="tried"} 8`, "shadowcourt_trials_total{status=", "shadowcourt_queue_cases", "shadowcourt_module_call_seconds_bucket",
		"shadowcourt_fuel_total", `shadowcourt_requests_rejected_total{code="bad_docket"} 1`, "shadowcourt_tokens",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	var messages []string
	for line := range strings.Lines(log) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		message, _ := record["msg"].(string)
		messages = append(messages, message)
		needs := map[string][]string{"request": {"request"}, "a docket was submitted": {"request", "docket"}, "a case was tried": {"docket", "trial"}}[message]
		for _, id := range needs {
			if record[id] == nil {
				t.Errorf("%s has no %s", line, id)
			}
		}
	}
	for _, message := range []string{"request", "a docket was submitted", "a case was tried", "a request was rejected"} {
		if !slices.Contains(messages, message) {
			t.Errorf("nothing was logged as %q", message)
		}
	}
}

func TestAccept_SV5_AServerForOthersNeedsTokensOfEverybody(t *testing.T) {
	t.Parallel()
	p := start(t, "0.0.0.0:0")
	p.token = auth.TokenPrefix + strings.Repeat("A", 43)
	for _, path := range []string{"/api/v1/dockets", "/metrics", "/api/v1/me"} {
		if status, body := p.ask(t, "GET", path, ""); status != 401 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, _ := p.ask(t, "GET", "/healthz", ""); status != 200 {
		t.Errorf("health: %d", status)
	}
}

// Told to stop, the process ends though somebody follows a docket.
func TestAProcessStopsWhileItIsFollowed(t *testing.T) {
	t.Parallel()
	p := start(t, "127.0.0.1:0")
	p.ask(t, "POST", "/api/v1/dockets", docketOf(1500))
	following := make(chan struct{})
	go func() {
		defer close(following)
		r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, p.url+"/api/v1/dockets/1/results?wait=true", nil)
		if err != nil {
			return
		}
		if response, err := p.do(r); err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
	}()
	p.stop()
	<-following
}

// An issuer that is down stops nothing: the service says so until somebody could sign in.
func TestAccept_SV5_AnIssuerThatIsDownIsToldAtTheStart(t *testing.T) {
	t.Parallel()
	var up atomic.Bool
	var issuer *httptest.Server
	asked := make(chan struct{}, 10)
	issuer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !up.Load() {
			w.WriteHeader(http.StatusBadGateway)
			asked <- struct{}{}
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q}`, issuer.URL, issuer.URL+"/a", issuer.URL+"/t", issuer.URL+"/k")
	}))
	t.Cleanup(issuer.Close)
	p := startWith(t, "127.0.0.1:0", filepath.Join(t.TempDir(), "test.db"), func(c *service.Config) {
		c.PublicURL = &url.URL{Scheme: "http", Host: "court.example"}
		c.OIDC = &auth.OIDC{Issuer: issuer.URL, ClientID: "court", Secret: "s", Allow: []string{"*"}}
	})
	<-asked
	for !strings.Contains(p.logs.String(), "nobody can sign in by OpenID Connect") {
		runtime.Gosched()
	}
	if status, body := p.ask(t, "GET", "/readyz", ""); status != 200 || !strings.HasPrefix(body, "ready\n") || !strings.Contains(body, "the issuer does not answer") {
		t.Errorf("%d %s", status, body)
	}
	up.Store(true)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := client.Get(p.url + auth.OIDCPath)
	must(t, err)
	_ = r.Body.Close()
	if r.StatusCode != http.StatusSeeOther {
		t.Errorf("signing in: %s", r.Status)
	}
	if status, body := p.ask(t, "GET", "/readyz", ""); status != 200 || body != "ready\n" {
		t.Errorf("%d %s", status, body)
	}
}

// Modules that can't work are named once, before they are kept.
func TestAccept_SV5_AGenerationIsCheckedBeforeItIsKept(t *testing.T) {
	t.Parallel()
	p := start(t, "127.0.0.1:0")
	modules, err := bundle.FS()
	must(t, err)
	send := func(name string, wasm []byte) (int, string) {
		body, err := json.Marshal(map[string]any{"modules": map[string][]byte{name: wasm}, "note": "x"})
		must(t, err)
		return p.ask(t, "POST", "/api/v1/generations", string(body))
	}
	add := func(name, module string) (int, string) {
		wasm, err := fs.ReadFile(modules, module+".wasm")
		must(t, err)
		return send(name, wasm)
	}
	const component = "\x00asm\x0d\x00\x01\x00" // row DI6
	if status, text := send("specter", []byte(component)); status != 422 || !strings.Contains(text, "a WebAssembly component, which is not supported: build a core module") {
		t.Errorf("a component: %d %s", status, text)
	}
	if status, text := add("spectre", "specter"); status != 422 || !strings.Contains(text, "no pipeline of the generation names it") || !strings.Contains(text, "specter") {
		t.Errorf("a name that no pipeline has: %d %s", status, text)
	}
	if status, text := add("clerk", "specter"); status != 422 || strings.Count(text, "not_served") != 1 {
		t.Errorf("a module of another kind: %d %s", status, text)
	}
	if status, text := add("specter", "specter"); status != 201 {
		t.Errorf("%d %s", status, text)
	}
}

// What is shown, logged and kept of a message that a receiver rejects has neither its address nor the secret, though the receiver repeats both.
func TestAccept_IG7_SecretsOfWebhooksAreNowhere(t *testing.T) {
	t.Parallel()
	const secret, path = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "T0HIDDEN/B0HIDDEN"
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(text), `"url":"https://court.example/dockets/1"`) || !strings.Contains(string(text), `"name":"build"`) {
			t.Errorf("%s", text)
		}
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "no %s whsec_%s", r.URL.Path, secret)
	}))
	t.Cleanup(receiver.Close)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte("hooks: [{name: chat, url: env:ADDRESS, events: [docket.finished], secret: env:SECRET, allow_private: true}]"), 0o600))
	hooks, err := work.ReadHooks(filepath.Join(dir, "hooks.yaml"), func(name string) string {
		return map[string]string{"ADDRESS": receiver.URL + "/" + path, "SECRET": "whsec_" + secret}[name]
	})
	must(t, err)
	p := startWith(t, "127.0.0.1:0", filepath.Join(dir, "test.db"), func(c *service.Config) {
		c.Webhooks, c.PublicURL = hooks, &url.URL{Scheme: "https", Host: "court.example"}
	})
	p.ask(t, "POST", "/api/v1/dockets?name=build", docketOf(1))
	var shown string
	for !strings.Contains(shown, `shadowcourt_webhook_attempts_total{outcome="dead",webhook="chat"} 1`) {
		time.Sleep(20 * time.Millisecond)
		_, shown = p.ask(t, "GET", "/metrics", "")
	}
	p.stop()
	shown += p.logs.String()
	database, err := os.ReadFile(filepath.Join(dir, "test.db"))
	must(t, err)
	if shown += string(database); !strings.Contains(shown, "status 403: no ") {
		t.Error("the log does not say why it was rejected")
	}
	for _, hidden := range []string{secret, "T0HIDDEN", "B0HIDDEN"} {
		if strings.Contains(shown, hidden) {
			t.Errorf("%q is in what is shown or kept", hidden)
		}
	}
}
