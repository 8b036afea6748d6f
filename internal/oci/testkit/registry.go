// Package testkit runs a registry of OCI artifacts on loopback, for tests.
package testkit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
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

// Blob adds a blob to a repository as it is, and gives its digest.
func (r *Registry) Blob(t testing.TB, repository string, data []byte) string {
	t.Helper()
	sum := sha256.Sum256(data)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	r.send(t, http.MethodPost, repository+"/blobs/uploads/?digest="+digest, "application/octet-stream", data)
	return digest
}

// Manifest adds a manifest of any kind under a tag or its digest.
func (r *Registry) Manifest(t testing.TB, repository, name, mediaType string, data []byte) {
	t.Helper()
	r.send(t, http.MethodPut, repository+"/manifests/"+name, mediaType, data)
}

func (r *Registry) send(t testing.TB, method, path, mediaType string, data []byte) {
	t.Helper()
	q := must.Get(http.NewRequestWithContext(t.Context(), method, "http://"+r.Host+"/v2/"+path, bytes.NewReader(data)))(t)
	q.Header.Set("Content-Type", mediaType)
	answer, err := http.DefaultClient.Do(q)
	must.Do(t, err)
	defer func() { _ = answer.Body.Close() }()
	must.Equal(t, answer.StatusCode, http.StatusCreated, method, path, answer.Status)
}
