package openapi

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Server is one on loopback that does what a document says: each request, and each answer that is JSON of the API, is checked.
type Server struct {
	*httptest.Server

	mu     sync.Mutex
	writes []string
	asked  []string
}

// Answer is what a server says. A nil Body stands for none. Raw is sent as it is, and not checked: it is what a hostile server says.
type Answer struct {
	Status int
	Body   any
	Header http.Header
	Raw    func(http.ResponseWriter, *http.Request)
}

// Handler answers one request. path is the one below the prefix.
type Handler func(r *http.Request, path string, body []byte) Answer

// Serve begins a server that ends with the test. reads says which requests change nothing though their method is none of GET.
func (d *Document) Serve(t testing.TB, prefix, authorization string, reads []string, handle Handler) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		path, ok := strings.CutPrefix(r.URL.Path, prefix)
		if !ok {
			t.Errorf("%s %s is not below %s", r.Method, r.URL.Path, prefix)
		}
		if got := r.Header.Get("Authorization"); got != authorization {
			t.Errorf("%s %s is authorized by %q", r.Method, r.URL.Path, got)
		}
		if err := d.CheckRequest(r, path, body); err != nil {
			t.Error(err)
		}
		s.note(r.Method+" "+path, r.Method != http.MethodGet && !slices.Contains(reads, path))
		a := handle(r, path, body)
		if a.Raw != nil {
			a.Raw(w, r)
			return
		}
		maps.Copy(w.Header(), a.Header)
		if a.Body == nil {
			w.WriteHeader(a.Status)
			return
		}
		var said bytes.Buffer
		if err := json.NewEncoder(&said).Encode(a.Body); err != nil {
			t.Error(err)
		}
		if err := d.CheckAnswer(r.Method, path, a.Status, said.Bytes()); err != nil {
			t.Errorf("the test's own server: %v", err)
		}
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		w.WriteHeader(a.Status)
		_, _ = w.Write(said.Bytes())
	}))
	t.Cleanup(s.Close)
	return s
}

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

// Requests are all requests, since the last call.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}
