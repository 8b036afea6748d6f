package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/mcp"
)

// listening gives the address of a server without a court.
func listening(t *testing.T, config mcp.Config) string {
	t.Helper()
	server := mcp.New(config)
	t.Cleanup(server.Close)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- server.Listen(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// post sends a message, and gives the status and the session.
func post(t *testing.T, address, program, session, message string) (status int, id string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("User-Agent", program)
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode, response.Header.Get("Mcp-Session-Id")
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	ping       = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
)

// A client that begins sessions without end keeps the latest ones; other clients keep theirs, and may begin more.
func TestAccept_FZ7_SessionsOfAClientAreBounded(t *testing.T) {
	t.Parallel()
	address := listening(t, mcp.Config{})
	begin := func(program string) string {
		t.Helper()
		status, id := post(t, address, program, "", initialize)
		if status != http.StatusOK || id == "" {
			t.Fatalf("%s: %d, session %q", program, status, id)
		}
		return id
	}
	quiet := begin("quiet")
	var begun []string
	for range 1500 {
		begun = append(begun, begin("hasty"))
	}
	kept := 0
	for _, id := range begun {
		if status, _ := post(t, address, "hasty", id, ping); status == http.StatusOK {
			kept++
		}
	}
	if status, _ := post(t, address, "hasty", begun[len(begun)-1], ping); status != http.StatusOK || kept > mcp.MaxOwnSessions || kept == 0 {
		t.Errorf("%d sessions are kept, and the last one says %d", kept, status)
	}
	if status, _ := post(t, address, "quiet", quiet, ping); status != http.StatusOK {
		t.Errorf("another client: %d", status)
	}
	var many []string
	for i := range 2 * mcp.MaxSessions {
		many = append(many, begin(fmt.Sprint("program ", i)))
	}
	kept = 0
	for _, id := range many {
		if status, _ := post(t, address, "any", id, ping); status == http.StatusOK {
			kept++
		}
	}
	if kept > mcp.MaxSessions || kept == 0 {
		t.Errorf("%d sessions of all clients are kept", kept)
	}
}

// Requests that stop in the middle are answered or closed.
func TestAccept_FZ7_HalfMessagesEnd(t *testing.T) {
	t.Parallel()
	const soon = 200 * time.Millisecond
	address := listening(t, mcp.Config{Times: httplimit.Times{Header: soon, Idle: soon, Request: soon, Unread: soon, Stall: soon, Grace: soon, Rate: 1 << 30}})
	const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	open := map[string]net.Conn{}
	for name, half := range map[string]string{
		"nothing": "", "half a header": "POST / HT", "no body": head + "Content-Length: 100\r\n\r\n", "a byte": head + "Content-Length: 100\r\n\r\n{",
		"a chunk": head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", "another type": "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
		"another site": "POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://attacker.example\r\nContent-Length: 100\r\n\r\n{", "GET": "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n",
		"DELETE": "DELETE / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n", "idle": "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		fmt.Fprint(c, half)
		open[name] = c
	}
	for name, c := range open {
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, bufio.NewReader(c)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the connection stays open", name)
		}
	}
}
