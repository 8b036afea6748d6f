package publish

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func server(t *testing.T, h http.HandlerFunc) *Server {
	t.Helper()
	on := httptest.NewServer(h)
	t.Cleanup(on.Close)
	s := at(t, on.URL+"/api/", nil)
	s.Header, s.Prefix = "Authorization", "Bearer "
	return s
}

// get reads a text.
func get(t *testing.T, s *Server, path string) (got string, err error) {
	t.Helper()
	err = newAPI(s).call(t.Context(), apiRequest{Method: http.MethodGet, Path: []string{path}}, &got)
	return got, err
}

func TestAccept_IG6_TokensGoToTheirServerAlone(t *testing.T) {
	t.Parallel()
	var others int
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { others++ }))
	defer other.Close()
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/moved":
			http.Redirect(w, r, other.URL+"/stolen", http.StatusTemporaryRedirect)
		case "/api/html":
			w.Header().Set("Content-Type", "text/"+secret)
		case "/api/failed":
			http.Error(w, "no\x1b[31m "+secret+strings.Repeat("x", 1<<20), http.StatusBadGateway)
		case "/api/large":
			for range 9 << 4 {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		default:
			fmt.Fprintf(w, "%q", "you said "+r.Header.Get("Authorization"))
		}
	})
	// What a server quotes of a request gets into errors.
	check.Equal(t, must.Get(get(t, s, "x"))(t), "you said Bearer [token]")
	if _, err := get(t, s, "moved"); statusOf(err) != http.StatusTemporaryRedirect || others > 0 {
		t.Errorf("%d requests reached another server: %v", others, err)
	}
	check.Is(t, check.Err(get(t, s, "large")), errTooLarge)
	for _, path := range []string{"failed", "html", "..", ""} {
		if _, err := get(t, s, path); err == nil || len(err.Error()) > 500 || strings.ContainsRune(err.Error(), '\x1b') || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if said := fmt.Sprintf("%v %+v %#v %+v", s.Token, s.Token, s.Token, *s); strings.Contains(said, secret) {
		t.Error("a token is printed: " + said)
	}
}

func TestAccept_IG6_ServersAndTokensThatAreRejected(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"http://gitlab.example/api", "https://u:p@gitlab.example", "ftp://x", "gitlab.example", "https://x?y", "://"} {
		if s, err := ParseServer(base, false); err == nil {
			t.Errorf("%s: %v", base, s.Base)
		}
	}
	file := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(file, []byte("two words of "+secret), 0o600))
	for _, place := range []string{file, secret, "env:NO_SUCH_" + secret, filepath.Dir(file)} {
		if _, err := ReadToken(place); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", place, err)
		}
	}
}

func TestAccept_IG6_WhatIsNoHTTPQuotesNoToken(t *testing.T) {
	t.Parallel()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, "HTTP/9.9 "+secret+" ##[error]"+strings.Repeat("x", 30_000)+"\r\n\r\n")
			_ = c.Close()
		}
	}()
	s := server(t, func(http.ResponseWriter, *http.Request) {})
	s.Base.Host = listener.Addr().String()
	if _, err := get(t, s, "x"); err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "malformed") || strings.Contains(err.Error(), "##[") || len(err.Error()) > 500 {
		t.Error(err)
	}
}
