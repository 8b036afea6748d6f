package service_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	mathrand "math/rand/v2"
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
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// logs are lines that several goroutines write.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
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
	token := must.Get(auth.NewToken(rand.Reader))(t)
	p := &process{logs: &logs{}, token: token}
	config := service.Config{
		Open: openHost, Local: token, Workers: 2, Machine: "test", Version: "test", Now: time.Now, Random: rand.Reader, Log: slog.New(slog.NewJSONHandler(p.logs, nil)),
	}
	if change != nil {
		change(&config)
	}
	db := must.Get(store.Open(t.Context(), store.Config{Database: database, Now: config.Now, Logger: config.Log}))(t)
	config.Store = db
	t.Cleanup(db.Close)
	must.Get(db.Migrate(t.Context()))(t)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	must.Do(t, err)
	s := must.Get(service.New(t.Context(), config))(t)
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
	must.Do(t, err)
	p.url = "http://127.0.0.1:" + port
	return p
}

func (p *process) ask(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body)))(t)
	r.Close = true // a server with short limits could end a kept connection just before it is used again
	response, err := p.do(r)
	must.Do(t, err)
	defer func() { _ = response.Body.Close() }()
	text := must.Get(io.ReadAll(response.Body))(t)
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

// ended waits for the end of a docket, and gives its results. Each of its cases must have one.
func (p *process) ended(t *testing.T, docket, cases int) (results string) {
	t.Helper()
	if _, results = p.ask(t, http.MethodGet, fmt.Sprintf("/api/v1/dockets/%d/results?wait=true", docket), ""); strings.Count(results, "\n") != cases {
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
	must.Equal(t, status, 202, body)
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
		"shadowcourt_fuel_total", `shadowcourt_requests_rejected_total{code="bad_docket"} 1`,
	} {
		check.Contains(t, metrics, want, "metrics lack")
	}
	var messages []string
	for line := range strings.Lines(log) {
		var record map[string]any
		must.Do(t, json.Unmarshal([]byte(line), &record), line)
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
	must.Do(t, err)
	_ = r.Body.Close()
	check.Equal(t, r.StatusCode, http.StatusSeeOther, "signing in", r.Status)
	if status, body := p.ask(t, "GET", "/readyz", ""); status != 200 || body != "ready\n" {
		t.Errorf("%d %s", status, body)
	}
}

// Modules that can't work are named once, before they are kept.
func TestAccept_SV5_AGenerationIsCheckedBeforeItIsKept(t *testing.T) {
	t.Parallel()
	p := start(t, "127.0.0.1:0")
	modules := must.Get(bundle.FS())(t)
	send := func(name string, wasm []byte) (int, string) {
		body := must.Get(json.Marshal(map[string]any{"modules": map[string][]byte{name: wasm}, "note": "x"}))(t)
		return p.ask(t, "POST", "/api/v1/generations", string(body))
	}
	add := func(name, module string) (int, string) {
		wasm := must.Get(fs.ReadFile(modules, module+".wasm"))(t)
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
	for _, module := range []string{"specter", "magistrate"} { // the latter is embedded, and no shipped pipeline names it
		if status, text := add("specter", module); status != 201 {
			t.Errorf("%s: %d %s", module, status, text)
		}
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
	must.Do(t, os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte("hooks: [{name: chat, url: env:ADDRESS, events: [docket.finished], secret: env:SECRET, allow_private: true}]"), 0o600))
	hooks, err := work.ReadHooks(filepath.Join(dir, "hooks.yaml"), func(name string) string {
		return map[string]string{"ADDRESS": receiver.URL + "/" + path, "SECRET": "whsec_" + secret}[name]
	})
	must.Do(t, err)
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
	check.Contains(t, shown, "status 403", "the log does not say why it was rejected")
	database := filepath.Join(dir, "test.db")
	shown += string(must.Get(os.ReadFile(database))(t)) + string(must.Get(os.ReadFile(database+"-wal"))(t))
	for _, hidden := range []string{secret, "T0HIDDEN", "B0HIDDEN"} {
		if strings.Contains(shown, hidden) {
			t.Errorf("%q is in what is shown or kept", hidden)
		}
	}
}

// stranger is what a request looks like that a proxy on this machine sends for somebody else: the versions of HTTP that it speaks, the Host
// that it sets, and headers that it or the stranger adds.
type stranger struct{ name, version, host, headers string }

func strangers(address string) []stranger {
	_, port, _ := strings.Cut(address, ":")
	return []stranger{
		{"nginx's default", "1.0", address, "Connection: close\r\n"},
		{"no Host", "1.0", "", ""},
		{"HTTP/1.1", "1.1", address, ""},
		{"localhost", "1.1", "localhost:" + port, ""},
		{"IPv6", "1.1", "[::1]:" + port, ""},
		{"a public name", "1.0", "court.example", ""},
		{"a forwarded address", "1.0", address, "X-Forwarded-For: 203.0.113.7\r\n"},
		{"a forged forwarded address", "1.0", address, "X-Forwarded-For: 127.0.0.1\r\nX-Real-IP: 127.0.0.1\r\nForwarded: for=127.0.0.1;host=localhost\r\n"},
		{"forged names", "1.0", address, "X-Forwarded-Host: localhost\r\nX-Forwarded-Proto: http\r\nX-Original-Host: 127.0.0.1\r\n"},
		{"a forged origin", "1.1", address, "Origin: http://" + address + "\r\nSec-Fetch-Site: same-origin\r\n"},
		{"an empty cookie", "1.0", address, "Cookie: shadowcourt_session=\r\n"},
	}
}

// secured are requests that nobody may send without credentials, one for each kind of route.
var secured = []struct{ method, path, body string }{
	{"GET", "/api/v1/me", ""},
	{"GET", "/api/v1/dockets", ""},
	{"POST", "/api/v1/dockets", `{"id":"x"}`},
	{"POST", "/api/v1/tokens", `{"name":"mine","scopes":["operate"]}`},
	{"GET", "/metrics", ""},
	{"GET", "/", ""},
	{"GET", "/changes", ""},
	{"POST", "/settings/tokens", "name=mine&scope=operate"},
	{"POST", "/login/address", ""},
}

// send sends a request as it is written, and gives the status of the answer.
func (s stranger) send(t *testing.T, address, method, path, body string) int {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	must.Do(t, err)
	defer func() { _ = c.Close() }()
	host := ""
	if s.host != "" {
		host = "Host: " + s.host + "\r\n"
	}
	fmt.Fprintf(c, "%s %s HTTP/%s\r\n%s%sContent-Length: %d\r\n\r\n%s", method, path, s.version, host, s.headers, len(body), body)
	r, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	must.Do(t, err, s.name, method, path)
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	return r.StatusCode
}

// Nobody is trusted for where a request comes from: every request of a stranger behind a proxy on the same machine is rejected, also where
// nothing in it tells of the proxy.
func TestAccept_FZ2_StrangersBehindAProxyMayDoNothing(t *testing.T) {
	t.Parallel()
	p := start(t, "127.0.0.1:0")
	address := strings.TrimPrefix(p.url, "http://")
	for _, s := range strangers(address) {
		for _, r := range secured {
			check.Equal(t, s.send(t, address, r.method, r.path, r.body), http.StatusUnauthorized, s.name, r.method, r.path)
		}
		if status := s.send(t, address, "GET", "/healthz", ""); s.host != "" && status != 200 {
			t.Errorf("%s: health: %d", s.name, status)
		}
	}
}

// A docket that is rejected in the middle is rejected with its reason at the first attempt, though the client is still sending: a connection
// that is reset would have it send the docket again.
func TestAccept_SV6_ARejectedDocketIsToldWhy(t *testing.T) {
	t.Parallel()
	p := startWith(t, "127.0.0.1:0", filepath.Join(t.TempDir(), "test.db"), func(c *service.Config) { c.MaxUpload = 32 << 20 })
	binary := make([]byte, 16<<20)
	_, _ = mathrand.NewChaCha8([32]byte{}).Read(binary)
	for want, report := range map[string][]byte{
		"docket is binary data; Shadowcourt reads test reports":                                              append([]byte("{"), binary...),
		"the docket has more than 33554432 bytes; split it, or raise --max-upload of the server (too_large)": append([]byte(docketOf(1)), bytes.Repeat([]byte("\n"), 64<<20)...),
	} {
		var again []error
		c := must.Get(wire.NewClient(wire.ClientConfig{Server: p.url, Token: p.token, Program: "test/1", Again: func(err error, _ time.Duration) { again = append(again, err) }}))(t)
		for n := range 3 {
			_, _, err := c.Submit(t.Context(), &wire.Submission{Format: "jsonl", Key: fmt.Sprint(len(report), n)}, report)
			if err == nil || !strings.Contains(err.Error(), want) || len(again) > 0 {
				t.Fatalf("%.200v after %q, want %q at the first attempt", err, again, want)
			}
		}
	}
}
