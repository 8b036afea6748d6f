package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const secret = "glpat-1234567890"

func server(t *testing.T, h http.HandlerFunc) *Server {
	t.Helper()
	at := httptest.NewServer(h)
	t.Cleanup(at.Close)
	s, err := ParseServer(at.URL+"/api/", false)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.Token, err = ReadToken(file); err != nil {
		t.Fatal(err)
	}
	s.Header, s.Prefix = "Authorization", "Bearer "
	return s
}

func get(t *testing.T, s *Server, url string) (string, int, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Client().Do(r)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return "", answer.StatusCode, failedAnswer(answer)
	}
	body, err := io.ReadAll(answer.Body)
	return string(body), answer.StatusCode, err
}

func TestAccept_IG6_TokensGoToTheirServerAlone(t *testing.T) {
	t.Parallel()
	var others int
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { others++ }))
	defer other.Close()
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/moved" {
			http.Redirect(w, r, other.URL+"/stolen", http.StatusTemporaryRedirect)
			return
		}
		if r.Header.Get("Authorization") != "Bearer "+secret {
			http.Error(w, "who is it?", http.StatusUnauthorized)
		}
		w.Header().Set("X-Said", "not "+secret)
		fmt.Fprint(w, "you said ", r.Header.Get("Authorization"))
	})
	// What a server quotes of a request gets into errors of clients.
	if body, _, err := get(t, s, s.Base.String()+"/x"); err != nil || body != "you said Bearer [token]" {
		t.Errorf("%q, %v", body, err)
	}
	if _, status, err := get(t, s, s.Base.String()+"/moved"); status != http.StatusTemporaryRedirect || err == nil {
		t.Errorf("%d, %v", status, err)
	}
	if _, _, err := get(t, s, other.URL+"/x"); err == nil || others > 0 {
		t.Errorf("%d requests reached another server: %v", others, err)
	}
	if said := fmt.Sprintf("%v %+v %#v %+v", s.Token, s.Token, s.Token, *s); strings.Contains(said, secret) {
		t.Error("a token is printed: " + said)
	}
}

func TestAccept_IG6_AnswersAreBounded(t *testing.T) {
	t.Parallel()
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/failed" {
			http.Error(w, "no\x1b[31m "+strings.Repeat("x", 1<<20), http.StatusBadGateway)
			return
		}
		for range 9 << 4 {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	if body, _, err := get(t, s, s.Base.String()+"/large"); !errors.Is(err, errTooLarge) || len(body) > maxAnswer+1 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	if _, _, err := get(t, s, s.Base.String()+"/failed"); err == nil || len(err.Error()) > 500 || strings.ContainsRune(err.Error(), '\x1b') {
		t.Error(err)
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
	if err := os.WriteFile(file, []byte("two words of "+secret), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{file, secret, "env:NO_SUCH_" + secret, filepath.Dir(file)} {
		if _, err := ReadToken(place); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", place, err)
		}
	}
}

func TestAccept_IG6_WhatIsNoHTTPQuotesNoToken(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	if _, _, err := get(t, s, s.Base.String()+"/x"); err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "malformed") || strings.Contains(err.Error(), "##[") || len(err.Error()) > 500 {
		t.Error(err)
	}
}
