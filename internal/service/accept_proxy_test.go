package service_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// stranger is what a request looks like that a proxy on this machine sends for somebody else: the versions of HTTP that it speaks, the Host
// that it sets, and headers that it or the stranger adds.
type stranger struct{ name, version, host, headers string }

func strangers(address string) []stranger {
	_, port, _ := strings.Cut(address, ":")
	return []stranger{
		{"nginx's default", "1.0", address, "Connection: close\r\n"},
		{"no Host", "1.0", "", ""},
		{"HTTP/1.1", "1.1", address, ""},
		{"localhost", "1.1", "localhost:" + port, ""},
		{"IPv6", "1.1", "[::1]:" + port, ""},
		{"a public name", "1.0", "court.example", ""},
		{"a forwarded address", "1.0", address, "X-Forwarded-For: 203.0.113.7\r\n"},
		{"a forged forwarded address", "1.0", address, "X-Forwarded-For: 127.0.0.1\r\nX-Real-IP: 127.0.0.1\r\nForwarded: for=127.0.0.1;host=localhost\r\n"},
		{"forged names", "1.0", address, "X-Forwarded-Host: localhost\r\nX-Forwarded-Proto: http\r\nX-Original-Host: 127.0.0.1\r\n"},
		{"a forged origin", "1.1", address, "Origin: http://" + address + "\r\nSec-Fetch-Site: same-origin\r\n"},
		{"an empty cookie", "1.0", address, "Cookie: shadowcourt_session=\r\n"},
	}
}

// secured are requests that nobody may send without credentials, one for each kind of route.
var secured = []struct{ method, path, body string }{
	{"GET", "/api/v1/me", ""},
	{"GET", "/api/v1/dockets", ""},
	{"POST", "/api/v1/dockets", `{"id":"x"}`},
	{"POST", "/api/v1/tokens", `{"name":"mine","scopes":["operate"]}`},
	{"GET", "/metrics", ""},
	{"GET", "/", ""},
	{"GET", "/changes", ""},
	{"POST", "/settings/tokens", "name=mine&scope=operate"},
	{"POST", "/login/address", ""},
}

// send sends a request as it is written, and gives the status of the answer.
func (s stranger) send(t *testing.T, address, method, path, body string) int {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	must(t, err)
	defer func() { _ = c.Close() }()
	host := ""
	if s.host != "" {
		host = "Host: " + s.host + "\r\n"
	}
	fmt.Fprintf(c, "%s %s HTTP/%s\r\n%s%sContent-Length: %d\r\n\r\n%s", method, path, s.version, host, s.headers, len(body), body)
	r, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s: %s %s: %v", s.name, method, path, err)
	}
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	return r.StatusCode
}

// Nobody is trusted for where a request comes from: every request of a stranger behind a proxy on the same machine is rejected, also where
// nothing in it tells of the proxy.
func TestAccept_FZ2_StrangersBehindAProxyMayDoNothing(t *testing.T) {
	t.Parallel()
	p := start(t, "127.0.0.1:0")
	address := strings.TrimPrefix(p.url, "http://")
	for _, s := range strangers(address) {
		for _, r := range secured {
			if status := s.send(t, address, r.method, r.path, r.body); status != http.StatusUnauthorized {
				t.Errorf("%s: %s %s: %d, want 401", s.name, r.method, r.path, status)
			}
		}
		if status := s.send(t, address, "GET", "/healthz", ""); s.host != "" && status != 200 {
			t.Errorf("%s: health: %d", s.name, status)
		}
	}
}
