package web_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/web"
)

// service is the pages over a real store, API and court, on loopback.
type service struct {
	t      testing.TB
	store  *store.Store
	url    string
	client *http.Client
	// secret is the token of whoever asks.
	secret string
}

type serviceOptions struct {
	// scopes of whoever asks; nil: all.
	scopes []auth.Scope
	// stop ends streams.
	stop <-chan struct{}
	// opening is called when a page opens its stream of events, before the stream is there.
	opening func(context.Context)
	// frozen stops the clock of the store, so that workers stay alive.
	frozen bool
	// database in place of a new file.
	database string
}

// courtConfig is the shipped court with the profile of the demo.
func courtConfig() (host.Config, error) {
	modules, err := bundle.FS()
	if err != nil {
		return host.Config{}, err
	}
	text, err := os.ReadFile("../../../examples/dockets/demo.yaml")
	if err != nil {
		return host.Config{}, err
	}
	domain, err := module.ParseProfile("demo.yaml", text)
	if err != nil {
		return host.Config{}, err
	}
	user, err := os.UserCacheDir()
	return host.Config{Modules: modules, Profile: domain, CacheDir: filepath.Join(user, "shadowcourt", "modules")}, err
}

// newService starts the pages with an empty store that has one generation.
func newService(t testing.TB, options serviceOptions) *service {
	t.Helper()
	ctx := context.Background()
	now := time.Now
	if options.frozen {
		at := time.Now()
		now = func() time.Time { return at }
	}
	if options.database == "" {
		options.database = filepath.Join(t.TempDir(), "shadowcourt.db")
	}
	kept, err := store.Open(ctx, store.Config{Database: options.database, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kept.Close)
	if _, err := kept.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	local, err := auth.NewToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authenticator, err := auth.New(auth.Config{Store: kept, Now: time.Now, Random: rand.Reader, Local: local, Rate: 1e6, Burst: 1e6})
	if err != nil {
		t.Fatal(err)
	}
	operations := api.New(api.Config{
		Store: kept, Now: time.Now, Random: rand.Reader, Version: "test", Stop: options.stop, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Graph: func(context.Context, int64) (*pipeline.Graph, error) { return court(t).Graph(), nil }, //nolint:contextcheck // the court is opened once for all tests
		CheckGeneration: func(_ context.Context, parts *store.Parts, blobs map[string][]byte) ([]string, error) {
			for name, digest := range parts.Modules {
				if wasm, ok := blobs[digest]; ok && !bytes.HasPrefix(wasm, []byte("\x00asm")) {
					return nil, errors.New(name + " is no WebAssembly module")
				}
			}
			return nil, nil
		},
	})
	mux := http.NewServeMux()
	operations.Register(mux)
	authenticator.Register(mux)
	pages := web.New(web.Config{
		Operations: operations, Auth: authenticator,
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if options.opening != nil && r.URL.Path == "/changes" {
			options.opening(r.Context())
		}
		pages.ServeHTTP(w, r)
	})
	server := httptest.NewServer(authenticator.Handler(mux))
	t.Cleanup(func() {
		server.CloseClientConnections() // Close waits for requests, and a page has a stream of events
		server.Close()
	})
	s := &service{t: t, store: kept, url: server.URL, client: server.Client()}
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.begin()
	if s.secret = local; options.scopes != nil {
		s.secret = s.token(options.scopes)
	}
	s.signIn(s.secret)
	return s
}

// begin gives the store the modules of this program.
func (s *service) begin() {
	s.t.Helper()
	modules, err := bundle.FS()
	if err != nil {
		s.t.Fatal(err)
	}
	files, err := fs.ReadFile(modules, "specter.wasm")
	if err != nil {
		s.t.Fatal(err)
	}
	digest, err := s.store.AddBlob(s.t.Context(), files)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.store.BeginWith(s.t.Context(), store.Generation{Note: "modules of this program", Author: "shadowcourt", Parts: store.Parts{Modules: map[string]string{"specter": digest}}}); err != nil {
		s.t.Fatal(err)
	}
}

// token makes a token for a person.
func (s *service) token(scopes []auth.Scope) string {
	s.t.Helper()
	text, err := auth.NewToken(rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	t := store.Token{Name: "ada", Submitter: "ada"}
	for _, scope := range scopes {
		t.Scopes = append(t.Scopes, string(scope))
	}
	if _, err := s.store.AddToken(s.t.Context(), auth.HashOf(text), t); err != nil {
		s.t.Fatal(err)
	}
	return text
}

// signIn keeps the session of a token in the client.
func (s *service) signIn(token string) {
	s.t.Helper()
	jar := &jar{}
	s.client.Jar = jar
	answer, err := s.client.PostForm(s.url+"/login", url.Values{"token": {token}})
	if err != nil {
		s.t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther || len(jar.cookies) == 0 {
		s.t.Fatalf("signing in gives %s", answer.Status)
	}
}

// jar keeps all cookies for one server.
type jar struct{ cookies []*http.Cookie }

func (j *jar) SetCookies(_ *url.URL, cookies []*http.Cookie) {
	j.cookies = append(j.cookies, cookies...)
}
func (j *jar) Cookies(*url.URL) []*http.Cookie { return j.cookies }

// court is the shipped one with the profile of the demo.
var (
	courtOnce sync.Once
	courtHost *host.Host
)

func court(t testing.TB) *host.Host {
	t.Helper()
	courtOnce.Do(func() {
		config, err := courtConfig()
		if err != nil {
			t.Fatal(err)
		}
		// It stays open until the tests end.
		if courtHost, err = host.Open(context.Background(), config); err != nil {
			t.Fatal(err)
		}
	})
	if courtHost == nil {
		t.Fatal("the court did not open")
	}
	return courtHost
}

// demo are the cases of the demo, tried once.
var demo = sync.OnceValues(func() ([]docket.Entry, error) {
	f, err := os.Open("../../../examples/dockets/demo.jsonl")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []docket.Entry
	for entry, err := range (&docket.Reader{}).JSONL("demo.jsonl", f) {
		if err != nil {
			return nil, err
		}
		list = append(list, entry)
	}
	return list, nil
})

// demoEntries are the cases of the demo with a name for each label.
func demoEntries(t testing.TB) []docket.Entry {
	t.Helper()
	list, err := demo()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]docket.Entry, len(list))
	for i, e := range list {
		e.LabelNames = labelNames
		out[i] = e
	}
	return out
}

// submit adds a docket with entries that are not tried yet.
func (s *service) submit(name, repository string, entries []docket.Entry) int64 {
	s.t.Helper()
	ctx := s.t.Context()
	u, err := s.store.Submit(ctx, store.Submission{Submitter: "ci", Name: name, Repository: repository, Revision: "v1.9.0", Format: "jsonl"})
	if err != nil {
		s.t.Fatal(err)
	}
	for i := range entries {
		if err := u.Add(ctx, &entries[i], nil); err != nil {
			s.t.Fatal(err)
		}
	}
	sum := sha256.Sum256([]byte(name))
	d, _, err := u.Finish(ctx, hex.EncodeToString(sum[:]), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return d.ID
}

// try tries a docket by the shipped modules. change may alter a trial.
func (s *service) try(docketID int64, change func(*trial.Trial)) {
	s.t.Helper()
	s.each(docketID, func(c *store.Claim) *store.NewVerdict {
		tried := triedOnce(s.t, c.Case.ID, func() (*trial.Trial, error) { return court(s.t).Try(s.t.Context(), c.Case) })
		if change != nil {
			change(tried)
		}
		return &store.NewVerdict{Digest: c.Digest, Trial: tried, Took: 20 * time.Millisecond}
	})
}

// each gives the cases of a docket their verdicts.
func (s *service) each(docketID int64, verdict func(*store.Claim) *store.NewVerdict) {
	s.t.Helper()
	ctx := s.t.Context()
	d, err := s.store.Docket(ctx, docketID)
	for ordinal := 1; err == nil && ordinal <= d.Cases; ordinal++ {
		var c *store.Claim
		c, err = s.store.BeginCase(ctx, store.CaseArgs{Docket: d.ID, Ordinal: ordinal, Generation: d.Generation})
		if err == nil {
			err = s.store.CompleteCase(ctx, c, "worker", &store.Outcome{Configuration: strings.Repeat("c0", 32), Verdict: verdict(c)})
		}
		if errors.Is(err, store.ErrEnded) { // it could not be read, or has a verdict
			err = nil
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// triedOnce keeps the trials of cases, so that each is tried once in all tests.
var tried sync.Map

func triedOnce(t testing.TB, id string, do func() (*trial.Trial, error)) *trial.Trial {
	t.Helper()
	kept, ok := tried.Load(id)
	if !ok {
		one, err := do()
		if err != nil {
			t.Fatal(err)
		}
		kept, _ = tried.LoadOrStore(id, one)
	}
	result := *kept.(*trial.Trial)
	return &result
}

// get gives a page.
func (s *service) get(path string, headers ...string) (status int, body string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return s.do(r)
}

// post sends a form. The status of a redirect comes with where it leads.
func (s *service) post(path string, form url.Values, headers ...string) (status int, body string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return s.do(r)
}

func (s *service) do(r *http.Request) (status int, body string) {
	s.t.Helper()
	answer, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if place := answer.Header.Get("Location"); place != "" {
		return answer.StatusCode, place
	}
	return answer.StatusCode, string(data)
}

// ok is get for a page that must be there.
func (s *service) ok(path string) string {
	s.t.Helper()
	status, body := s.get(path)
	if status != http.StatusOK {
		s.t.Fatalf("%s gives %d:\n%s", path, status, body)
	}
	return body
}
