// Package testkit runs a registry of OCI artifacts on loopback, for tests.
package testkit

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Registry is a registry in memory, without access control. Safe for concurrent use.
type Registry struct {
	Host string // 127.0.0.1:PORT

	mu   sync.Mutex
	seen []string
}

// Start runs a registry until the test ends. referrers says whether it has the list of referrers of OCI 1.1. What goes wrong on purpose goes into
// wrap, through which each request comes; the last is the outermost.
func Start(t testing.TB, referrers bool, wrap ...func(http.Handler) http.Handler) *Registry {
	t.Helper()
	r := &Registry{}
	h := registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(referrers))
	for _, w := range wrap {
		h = w(h)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.seen = append(r.seen, q.Method+" "+q.URL.Path)
		r.mu.Unlock()
		h.ServeHTTP(w, q)
	}))
	t.Cleanup(server.Close)
	r.Host = strings.TrimPrefix(server.URL, "http://")
	return r
}

// Requests gives the requests since the last call, such as "GET /v2/judges/reader/manifests/v1".
func (r *Registry) Requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	r.seen = nil
	return seen
}
