// Package servers has ReportPortal, and the issues of GitHub, on loopback for tests: the few requests that this project sends.
package servers

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/publish/testkit"
)

// Hook may answer a request in a server's place, as its description may not have it; nil has the server answer.
type Hook func(r *http.Request, path string) http.HandlerFunc

// Server is what all servers have in common.
type Server struct {
	*httptest.Server

	Hook Hook

	mu     sync.Mutex
	asked  []string
	writes []string
}

// described are the descriptions that were read, so that their schemas are compiled once.
var described sync.Map

func describe(t testing.TB, name string) *testkit.Description {
	t.Helper()
	d, _ := described.LoadOrStore(name, sync.OnceValue(func() *testkit.Description { return testkit.Describe(t, name) }))
	return d.(func() *testkit.Description)() //nolint:forcetypeassert // the line above stores it
}

// serve begins a server that ends with the test.
func (s *Server) serve(t testing.TB, description, prefix, authorization string, answer func(r *http.Request, path string, body []byte) reply) {
	t.Helper()
	s.Server = httptest.NewServer(describe(t, description).Serve(t, prefix, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a, ok := r.Context().Value(replyKey{}).(reply); ok {
			a.write(w)
		}
	}), func(w http.ResponseWriter, r *http.Request) bool {
		path := strings.TrimPrefix(r.URL.Path, prefix)
		if got := r.Header.Get("Authorization"); got != authorization {
			t.Errorf("%s %s is authorized by %q", r.Method, path, got)
		}
		s.note(r.Method+" "+path, r.Method != http.MethodGet)
		if s.Hook != nil {
			if instead := s.Hook(r, path); instead != nil {
				instead(w, r)
				return true
			}
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		a := answer(r, path, body)
		if a.status > 299 { // descriptions don't have all faults
			a.write(w)
			return true
		}
		*r = *r.WithContext(context.WithValue(r.Context(), replyKey{}, a)) // the handler gives it, and it is checked
		return false
	}))
	t.Cleanup(s.Close)
}

type replyKey struct{}

func (s *Server) note(request string, write bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, request)
	if write {
		s.writes = append(s.writes, request)
	}
}

// Writes are the requests that would change something, since the last call.
func (s *Server) Writes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	writes := s.writes
	s.writes = nil
	return writes
}

// Requests are all requests.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// reply is what a server answers. A nil body stands for none.
type reply struct {
	status int
	body   any
	link   string
}

func (a reply) write(w http.ResponseWriter) {
	if a.link != "" {
		w.Header().Set("Link", a.link)
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body)
}

type object = map[string]any

func answer(status int, body any) reply { return reply{status: status, body: body} }

func fault(status int, message string) reply { return answer(status, object{"message": message}) }

func decode(t testing.TB, body []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(body, into); err != nil {
		t.Error(err)
	}
}
