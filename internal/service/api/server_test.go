package api_test

import (
	"bytes"
	"crypto/rand"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// service is the API with a store in a file, and nobody who tries cases.
type service struct {
	*httptest.Server
	database string
	store    *store.Store
	can      *api.Operations
	doc      *huma.OpenAPI
	tokens   map[auth.Scope]string
	rejected *tally
}

type tally struct {
	mu sync.Mutex
	of map[string]int
}

func (c *tally) add(code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[code]++
}

func newService(t *testing.T, change func(*api.Config)) *service {
	t.Helper()
	database := filepath.Join(t.TempDir(), "test.db")
	db := must.Get(store.Open(t.Context(), store.Config{Database: database, Now: time.Now}))(t)
	t.Cleanup(db.Close)
	must.Get(db.Migrate(t.Context()))(t)
	s := &service{database: database, store: db, tokens: map[auth.Scope]string{}, rejected: &tally{of: map[string]int{}}}
	for _, scope := range auth.AllScopes() {
		s.tokens[scope] = s.token(t, string(scope)+"ter", scope)
	}
	a := must.Get(auth.New(auth.Config{Store: db, Now: time.Now, Random: rand.Reader, Rate: 1e6, Burst: 1e6}))(t)
	config := api.Config{Store: db, Now: time.Now, Random: rand.Reader, Version: "test", MaxUpload: 1 << 20, Rejected: s.rejected.add}
	if change != nil {
		change(&config)
	}
	mux := http.NewServeMux()
	s.can = api.New(config)
	s.doc = s.can.Register(mux)
	s.Server = httptest.NewServer(a.Handler(mux))
	t.Cleanup(s.Close)
	return s
}

func (s *service) token(t *testing.T, submitter string, scopes ...auth.Scope) string {
	t.Helper()
	secret := must.Get(auth.NewToken(rand.Reader))(t)
	kept := store.Token{Name: submitter, Submitter: submitter}
	for _, scope := range scopes {
		kept.Scopes = append(kept.Scopes, string(scope))
	}
	must.Get(s.store.AddToken(t.Context(), auth.HashOf(secret), kept))(t)
	return secret
}

// request sends a request with the token of a scope; without one, with none.
func (s *service) request(t *testing.T, scope auth.Scope, method, path string, header http.Header, body []byte) (int, []byte, http.Header) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, s.URL+path, bytes.NewReader(body)))(t)
	if body == nil {
		r.Body = http.NoBody
	}
	maps.Copy(r.Header, header)
	if scope != "" {
		r.Header.Set("Authorization", "Bearer "+s.tokens[scope])
	}
	response, err := http.DefaultClient.Do(r)
	must.Do(t, err)
	defer func() { _ = response.Body.Close() }()
	text := must.Get(io.ReadAll(response.Body))(t)
	return response.StatusCode, text, response.Header
}

// aCase is a docket of one case.
const aCase = `{"id":"ID","subject":"TestX fails","labels":["pb001","ab001","si001","nd001"],"light":{"classification":"pb001","confidence":0.9,"reasoning":"seen before"},"evidence":[],"documents":[{"name":"log","text":"panic: boom"}]}` + "\n"

func caseWith(id string) string { return strings.Replace(aCase, "ID", id, 1) }
