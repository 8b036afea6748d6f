package service_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// short are limits that end within a test.
func short(c *service.Config) {
	c.Times = httplimit.Times{
		Header: 300 * time.Millisecond, Idle: 300 * time.Millisecond, Request: 300 * time.Millisecond, Unread: 100 * time.Millisecond,
		Stall: 300 * time.Millisecond, Grace: 300 * time.Millisecond, Rate: 1 << 20,
	}
}

// ended waits until the server answers or closes a connection, and gives the status; 0 where it closed it without an answer. A connection
// that it keeps fails the test.
func ended(t *testing.T, name string, c net.Conn) int {
	t.Helper()
	must.Do(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: neither answered nor closed", name)
	}
	if err != nil {
		return 0
	}
	defer func() { _ = r.Body.Close() }()
	if _, err := io.Copy(io.Discard, r.Body); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: the answer has no end", name)
	}
	return r.StatusCode
}

func connect(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	must.Do(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Requests that stop in the middle are answered or closed, with and without a token, on every kind of route.
func TestAccept_FZ7_HalfRequestsEnd(t *testing.T) {
	t.Parallel()
	p := startWith(t, "127.0.0.1:0", filepath.Join(t.TempDir(), "test.db"), short)
	address := strings.TrimPrefix(p.url, "http://")
	paths := []string{
		"POST /api/v1/dockets", "POST /api/v1/tokens", "POST /api/v1/generations", "POST /api/v1/nowhere", "POST /login", "POST /logout", "POST /dockets",
		"POST /corrections", "POST /healthz", "POST /readyz", "POST /metrics", "DELETE /api/v1/tokens/1", "GET /api/v1/me", "GET /api/v1/dockets/1/results", "GET /changes", "PUT /", "OPTIONS *",
	}
	bodies := map[string]string{
		"nothing of a short body":  "Content-Length: 10\r\n\r\n",
		"a byte of a short body":   "Content-Length: 10\r\n\r\n{",
		"a byte of a larger body":  "Content-Length: 200000\r\n\r\n{",
		"a byte of a large body":   "Content-Length: 200000000\r\n\r\n{",
		"a chunk":                  "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
		"half a chunk":             "Transfer-Encoding: chunked\r\n\r\nffff\r\n{",
		"a body that is announced": "Content-Length: 10\r\nExpect: 100-continue\r\n\r\n",
		"a form":                   "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"report\"; filename=\"x\"\r\n\r\n{",
	}
	open := map[string]net.Conn{}
	for _, token := range []string{"", "Authorization: Bearer " + p.token + "\r\n"} {
		for _, path := range paths {
			for name, body := range bodies {
				c := connect(t, address)
				fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: %s\r\n%s%s", path, address, token, body)
				open[fmt.Sprintf("%s, %s, %t", path, name, token != "")] = c
			}
		}
	}
	for name, half := range map[string]string{
		"nothing": "", "a part of a line": "GET /heal", "a part of the headers": "GET /healthz HTTP/1.1\r\nHost: x\r\n", "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		c := connect(t, address)
		fmt.Fprint(c, half)
		open[name] = c
	}
	for name, c := range open {
		if status := ended(t, name, c); strings.HasSuffix(name, "false") && status >= 200 && status < 300 && !strings.HasPrefix(name, "OPTIONS") {
			t.Errorf("%s: %d", name, status)
		}
	}
	idle := connect(t, address)
	fmt.Fprintf(idle, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	if r, err := io.ReadAll(idle); err != nil || !strings.HasPrefix(string(r), "HTTP/1.1 200") { // until the server closes it
		t.Errorf("an idle connection: %q %v", r, err)
	}
	if status, _ := p.ask(t, "GET", "/healthz", ""); status != 200 {
		t.Errorf("health: %d", status)
	}
}

// submitter makes a token for a submitter.
func (p *process) submitter(t *testing.T, name string) string {
	t.Helper()
	status, body := p.ask(t, "POST", "/api/v1/tokens", `{"name":"`+name+`","scopes":["submit"]}`)
	_, secret, ok := strings.Cut(body, `"secret":"`)
	if status != 201 || !ok {
		t.Fatalf("%d %s", status, body)
	}
	secret, _, _ = strings.Cut(secret, `"`)
	return secret
}

// An upload that drips bytes, far more often than a stream may stand still, ends.
func TestAccept_FZ7_SlowUploadsEnd(t *testing.T) {
	t.Parallel()
	p := startWith(t, "127.0.0.1:0", filepath.Join(t.TempDir(), "test.db"), short)
	c := connect(t, strings.TrimPrefix(p.url, "http://"))
	fmt.Fprintf(c, "POST /api/v1/dockets?format=jsonl HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 100000\r\n\r\n", p.submitter(t, "slow"))
	go func() {
		for tick := time.NewTicker(50 * time.Millisecond); ; <-tick.C {
			if _, err := c.Write([]byte(" ")); err != nil {
				return
			}
		}
	}()
	if status := ended(t, "an upload that drips", c); status != 408 && status != 503 && status != 0 {
		t.Errorf("%d", status)
	}
}

// Two submitters hold and want as many uploads as they may have, with nine connections each, which they open again when they end. All send fast at first;
// then one goes on just above the slowest allowed rate, for most of an hour, and one sends nothing. A third is served: the service answers 503 itself
// when that takes longer than documented.
func TestAccept_FZ7_UploadsJustFastEnoughKeepNobodyOut(t *testing.T) {
	t.Parallel()
	p := start(t, "127.0.0.1:0")
	address := strings.TrimPrefix(p.url, "http://")
	line := strings.SplitAfter(docketOf(1), "\n")[0]
	received := make(chan struct{}, 1000) // uploads that got a place
	var slow sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer slow.Wait()
	defer stop()
	for i := range 2 {
		secret := p.submitter(t, fmt.Sprint("slow ", i))
		for range 9 {
			slow.Go(func() {
				for ctx.Err() == nil {
					uploadSlowly(ctx, address, secret, line, i%2 == 0, received)
				}
			})
		}
	}
	for range 4 { // two of each
		<-received
	}
	third := *p
	third.token = p.submitter(t, "third")
	if status, body := third.ask(t, "POST", "/api/v1/dockets?format=jsonl", line); status != 202 {
		t.Errorf("a third submitter: %d %s", status, body)
	}
}

// uploadSlowly begins an upload, sends what gives it half a minute by the limits of rates, and then keeps to the limit or sends nothing until the server ends it.
func uploadSlowly(ctx context.Context, address, token, line string, goesOn bool, received chan<- struct{}) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	fmt.Fprintf(c, "POST /api/v1/dockets?format=jsonl HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nExpect: 100-continue\r\nContent-Length: 100000000\r\n\r\n", token)
	in := bufio.NewReader(c)
	if first, err := in.ReadString('\n'); err != nil || !strings.Contains(first, " 100 ") {
		return
	}
	received <- struct{}{}
	if _, err := io.WriteString(c, line+strings.Repeat(" ", 1<<20)); err != nil {
		return
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _, _ = io.Copy(io.Discard, in) }()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		select {
		case <-ended:
			return
		case <-tick.C:
			if goesOn {
				_, _ = io.WriteString(c, strings.Repeat(" ", 2<<10))
			}
		}
	}
}

// A client that does not read what it asked for is cut off.
func TestAccept_FZ7_ReadersThatDoNotReadAreCutOff(t *testing.T) {
	t.Parallel()
	p := startWith(t, "127.0.0.1:0", filepath.Join(t.TempDir(), "test.db"), short)
	text := strings.Repeat("x", 1<<20)
	var docket strings.Builder
	for i := range 16 {
		fmt.Fprintf(&docket, `{"id":"case %d","subject":"s","labels":["pb001","ab001"],"light":{"classification":"pb001","confidence":0.9,"reasoning":"r"},"evidence":[{"source_ref":"log","content":"x","relevance_confidence":0.7}],"documents":[{"name":"log","text":"%s"}]}`+"\n", i, text)
	}
	if status, body := p.ask(t, "POST", "/api/v1/dockets?format=jsonl", docket.String()); status != 202 {
		t.Fatalf("%d %s", status, body)
	}
	if status, _ := p.ask(t, "GET", "/api/v1/dockets/1/results?wait=true", ""); status != 200 {
		t.Fatal(status)
	}
	c := connect(t, strings.TrimPrefix(p.url, "http://"))
	must.Do(t, c.(*net.TCPConn).SetReadBuffer(4<<10))
	fmt.Fprintf(c, "GET /api/v1/dockets/1/trials HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", p.token)
	for deadline := time.Now().Add(time.Minute); !strings.Contains(p.logs.String(), `"path":"/api/v1/dockets/1/trials"`); { // logged at the end
		if time.Now().After(deadline) {
			t.Fatal("the request goes on")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Clients that only hold connections take them from each other: who is known keeps hers, and health is answered.
func TestAccept_FZ7_ConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	const most = 20
	p := startWith(t, "127.0.0.1:0", filepath.Join(t.TempDir(), "test.db"), func(c *service.Config) { c.Connections = most })
	address := strings.TrimPrefix(p.url, "http://")
	known := connect(t, address)
	in := bufio.NewReader(known)
	asks := func() {
		t.Helper()
		fmt.Fprintf(known, "GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", p.token)
		r, err := http.ReadResponse(in, nil)
		must.Do(t, err)
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	asks()
	var held []net.Conn
	for i := range 3 * most {
		c := connect(t, address)
		if i%2 == 0 {
			fmt.Fprintf(c, "POST /api/v1/dockets HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
		}
		held = append(held, c)
	}
	if status, _ := p.ask(t, "GET", "/healthz", ""); status != 200 {
		t.Errorf("health: %d", status)
	}
	asks()
	ended(t, "the first one", held[0])
	for range 3 * most { // a submitter who follows more than there is room for
		c := connect(t, address)
		fmt.Fprintf(c, "GET /changes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", p.token)
		must.Get(c.Read(make([]byte, 1)))(t)
	}
	if status, _ := p.ask(t, "GET", "/healthz", ""); status != 200 {
		t.Errorf("health beside streams: %d", status)
	}
}
