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
	"net/http/cookiejar"
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
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/web"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
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
}

// newService starts the pages with an empty store that has one generation.
func newService(t testing.TB, options serviceOptions) *service {
	t.Helper()
	ctx := context.Background()
	kept := must.Get(store.Open(ctx, store.Config{Database: filepath.Join(t.TempDir(), "shadowcourt.db"), Now: time.Now}))(t)
	t.Cleanup(kept.Close)
	must.Get(kept.Migrate(ctx))(t)
	local := must.Get(auth.NewToken(rand.Reader))(t)
	authenticator := must.Get(auth.New(auth.Config{Store: kept, Now: time.Now, Random: rand.Reader, Local: local, Rate: 1e6, Burst: 1e6}))(t)
	operations := api.New(api.Config{
		Store: kept, Now: time.Now, Random: rand.Reader, Version: "test", Stop: options.stop, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Labels: func(context.Context, int64) (map[string]string, error) { return labelNames, nil },
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
	pages := web.New(web.Config{Operations: operations, Auth: authenticator})
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
	modules := must.Get(bundle.FS())(t)
	specter := must.Get(fs.ReadFile(modules, "specter.wasm"))(t)
	digest, err := kept.AddBlob(ctx, specter)
	must.Do(t, err)
	must.Get(kept.BeginWith(ctx, store.Generation{Note: "modules of this program", Author: "shadowcourt", Parts: store.Parts{Modules: map[string]string{"specter": digest}}}))(t)
	if s.secret = local; options.scopes != nil {
		s.secret = must.Get(auth.NewToken(rand.Reader))(t)
		ada := store.Token{Name: "ada", Submitter: "ada"}
		for _, scope := range options.scopes {
			ada.Scopes = append(ada.Scopes, string(scope))
		}
		must.Get(kept.AddToken(ctx, auth.HashOf(s.secret), ada))(t)
	}
	s.client.Jar = must.Get(cookiejar.New(nil))(t)
	s.posted("/login", url.Values{"token": {s.secret}})
	return s
}

// court is the shipped one with the profile of the demo. It stays open until the tests end.
func court(t testing.TB) *host.Host {
	t.Helper()
	return must.Get(openCourt())(t)
}

var openCourt = sync.OnceValues(func() (*host.Host, error) {
	modules, err := bundle.FS()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile("../../../examples/dockets/demo.yaml")
	if err != nil {
		return nil, err
	}
	profile, err := module.ParseProfile("demo.yaml", text)
	if err != nil {
		return nil, err
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	return host.Open(context.Background(), host.Config{Modules: modules, Profile: profile, CacheDir: filepath.Join(user, "shadowcourt", "modules")})
})

// demoEntries are the cases of the demo with a name for each label.
func demoEntries(t testing.TB) []docket.Entry {
	t.Helper()
	f := must.Get(os.Open("../../../examples/dockets/demo.jsonl"))(t)
	defer func() { _ = f.Close() }()
	var list []docket.Entry
	for entry, err := range (&docket.Reader{}).JSONL("demo.jsonl", f) {
		must.Do(t, err)
		entry.LabelNames = labelNames
		list = append(list, entry)
	}
	return list
}

// submit adds a docket with entries that are not tried yet.
func (s *service) submit(name, repository string, entries []docket.Entry) int64 {
	s.t.Helper()
	ctx := s.t.Context()
	u := must.Get(s.store.Submit(ctx, store.Submission{Submitter: "ci", Name: name, Repository: repository, Revision: "v1.9.0", Format: "jsonl"}))(s.t)
	for i := range entries {
		must.Do(s.t, u.Add(ctx, &entries[i], nil))
	}
	sum := sha256.Sum256([]byte(name))
	d, _, err := u.Finish(ctx, hex.EncodeToString(sum[:]), nil)
	must.Do(s.t, err)
	return d.ID
}

// try tries a docket by the shipped modules; each case is tried once in all tests. change may alter a trial.
func (s *service) try(docketID int64, change func(*trial.Trial)) {
	s.t.Helper()
	ctx := s.t.Context()
	d, err := s.store.Docket(ctx, docketID)
	for ordinal := 1; err == nil && ordinal <= d.Cases; ordinal++ {
		var c *store.Claim
		if c, err = s.store.BeginCase(ctx, store.CaseArgs{Docket: d.ID, Ordinal: ordinal, Generation: d.Generation}); err != nil {
			break
		}
		kept, ok := tried.Load(c.Case.ID)
		if !ok {
			if kept, err = court(s.t).Try(ctx, c.Case); err != nil {
				break
			}
			tried.Store(c.Case.ID, kept)
		}
		own := *kept.(*trial.Trial)
		if change != nil {
			change(&own)
		}
		err = s.store.CompleteCase(ctx, c, "worker", &store.Outcome{
			Configuration: strings.Repeat("c0", 32), Verdict: &store.NewVerdict{Digest: c.Digest, Trial: &own, Took: 20 * time.Millisecond},
		})
	}
	must.Do(s.t, err)
}

var tried sync.Map // *trial.Trial by the IDs of cases

// get gives a page.
func (s *service) get(path string, headers ...string) (status int, body string) {
	s.t.Helper()
	return s.send(http.MethodGet, path, http.NoBody, headers...)
}

// post sends a form. The status of a redirect comes with where it leads.
func (s *service) post(path string, form url.Values, headers ...string) (status int, body string) {
	s.t.Helper()
	return s.send(http.MethodPost, path, strings.NewReader(form.Encode()), append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
}

// posted is post for a form that leads somewhere else.
func (s *service) posted(path string, form url.Values) (place string) {
	s.t.Helper()
	status, place := s.post(path, form)
	if status != http.StatusSeeOther {
		s.t.Fatalf("%s gives %d: %s", path, status, place)
	}
	return place
}

func (s *service) send(method, path string, in io.Reader, headers ...string) (status int, body string) {
	s.t.Helper()
	r := must.Get(http.NewRequestWithContext(s.t.Context(), method, s.url+path, in))(s.t)
	r.Header.Set("Accept", "text/html")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := s.client.Do(r)
	must.Do(s.t, err)
	defer func() { _ = answer.Body.Close() }()
	data := must.Get(io.ReadAll(answer.Body))(s.t)
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
