package auth_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
)

// memory keeps tokens and sessions in maps.
type memory struct {
	mu       sync.Mutex
	tokens   map[auth.Hash]*auth.Token
	sessions map[auth.Hash]*auth.Session
	looks    int // for tokens
}

func newMemory() *memory {
	return &memory{tokens: map[auth.Hash]*auth.Token{}, sessions: map[auth.Hash]*auth.Session{}}
}

func (m *memory) AuthToken(_ context.Context, hash auth.Hash) (*auth.Token, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks++
	if t, ok := m.tokens[hash]; ok {
		found := *t
		return &found, nil
	}
	return nil, auth.ErrUnknown
}

func (m *memory) AddSession(_ context.Context, s *auth.Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := *s
	m.sessions[s.Hash] = &kept
	return nil
}

func (m *memory) AuthSession(_ context.Context, hash auth.Hash) (*auth.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.sessions[hash]; ok {
		return s, nil
	}
	return nil, auth.ErrUnknown
}

func (m *memory) EndSession(_ context.Context, hash auth.Hash) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, hash)
	return nil
}

// add makes a token.
func (m *memory) add(t *testing.T, submitter string, scopes ...auth.Scope) string {
	t.Helper()
	text, err := auth.NewToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens[auth.HashOf(text)] = &auth.Token{Name: submitter + "'s", Submitter: submitter, Scopes: scopes}
	return text
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
	store *memory
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

// newSite starts one: /any needs to know who asks, /submit, /review and /operate need scopes.
func newSite(t *testing.T, change func(server *httptest.Server, c *auth.Config)) *site {
	t.Helper()
	s := &site{store: newMemory(), clock: newClock(), codes: &counts{of: map[string]int{}}}
	s.Server = httptest.NewUnstartedServer(nil)
	config := auth.Config{Store: s.store, Now: s.clock.now, Random: rand.Reader, Rejected: s.codes.add}
	if change != nil {
		change(s.Server, &config)
	}
	a, err := auth.New(config)
	if err != nil {
		t.Fatal(err)
	}
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
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
