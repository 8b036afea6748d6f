package auth_test

import (
	"crypto/rand"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// add makes a token.
func (s *site) add(t *testing.T, submitter string, scopes ...auth.Scope) (text string) {
	t.Helper()
	text, _ = s.keep(t, store.Token{Submitter: submitter, Scopes: auth.Words(scopes)})
	return text
}

func (s *site) keep(t *testing.T, kept store.Token) (text string, id int64) {
	t.Helper()
	text, err := auth.NewToken(rand.Reader)
	must.Do(t, err)
	kept.Name = kept.Submitter + "'s"
	kept = must.Get(s.store.AddToken(t.Context(), auth.HashOf(text), kept))(t)
	return text, kept.ID
}

// sessionOf is the session that a browser has at the site.
func (s *site) sessionOf(t *testing.T, b *http.Client) (store.Session, error) {
	t.Helper()
	u := must.Get(url.Parse(s.URL))(t)
	for _, c := range b.Jar.Cookies(u) {
		if strings.HasPrefix(c.Name, "shadowcourt_session") && strings.HasSuffix(c.Name, u.Port()) {
			return s.store.Session(t.Context(), auth.HashOf(c.Value))
		}
	}
	return store.Session{}, store.ErrNotFound
}

// clock is one that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Now()} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// site is a server that only tells who asks.
type site struct {
	*httptest.Server
	store *store.Store
	clock *clock
	codes *counts
}

type counts struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counts) add(code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[code]++
}

func (c *counts) get(code string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[code]
}

func newStore(t *testing.T, now func() time.Time) *store.Store {
	t.Helper()
	db := must.Get(store.Open(t.Context(), store.Config{Database: filepath.Join(t.TempDir(), "test.db"), Now: now}))(t)
	t.Cleanup(db.Close)
	must.Get(db.Migrate(t.Context()))(t)
	return db
}

// newSite starts one: /any needs to know who asks, /submit, /review and /operate need scopes.
func newSite(t *testing.T, change func(server *httptest.Server, c *auth.Config)) *site {
	t.Helper()
	s := &site{clock: newClock(), codes: &counts{of: map[string]int{}}}
	s.store = newStore(t, s.clock.now)
	s.Server = httptest.NewUnstartedServer(nil)
	config := auth.Config{Store: s.store, Now: s.clock.now, Random: rand.Reader, Rejected: s.codes.add}
	if change != nil {
		change(s.Server, &config)
	}
	a := must.Get(auth.New(config))(t)
	mux := http.NewServeMux()
	say := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := auth.From(r.Context())
		_, _ = w.Write([]byte(who.Submitter + " " + who.Via))
	})
	mux.Handle("/any", a.Require("", say))
	for _, scope := range auth.AllScopes() {
		mux.Handle("/"+string(scope), a.Require(scope, say))
	}
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("the page to sign in")) })
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("the first page")) })
	a.Register(mux)
	s.Config.Handler = a.Handler(httplimit.Limit(mux))
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// browser is a client with cookies that follows no redirects.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar := must.Get(cookiejar.New(nil))(t)
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
