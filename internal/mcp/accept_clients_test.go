package mcp_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shadowcourt/shadowcourt/internal/mcp"
)

// A play belongs to the client that began it, which alone can see, play and end it. It ends with the client.
func TestAccept_LL3_APlayBelongsToItsClient(t *testing.T) {
	t.Parallel()
	server, url := listen(t, nil)
	own, other := connect(t, url), connect(t, url)
	first, message := use(t, own, "play", map[string]any{"report": uncertain, "personas": []string{"challenger"}})
	if message != "" || first.Call == 0 {
		t.Fatal(message, first)
	}
	for tool, arguments := range map[string]map[string]any{
		"next_call": {"play": first.Play},
		"submit":    {"play": first.Play, "call": first.Call, "answer": instance(first.Schema)},
		"end_play":  {"play": first.Play},
	} {
		if _, message := use(t, other, tool, arguments); !strings.Contains(message, "no play") {
			t.Errorf("%s by another client: %q", tool, message)
		}
	}
	if listed, _ := use(t, other, "list_plays", map[string]any{}); len(listed.Plays) != 0 {
		t.Errorf("another client sees %v", listed.Plays)
	}
	listed, _ := use(t, own, "list_plays", map[string]any{})
	want := []listedPlay{{Play: first.Play, Case: "shop.TestTotal", Personas: []string{"challenger"}, Call: first.Call}}
	if diff := cmp.Diff(want, listed.Plays); diff != "" {
		t.Error(diff)
	}
	if _, message := use(t, own, "end_play", map[string]any{"play": first.Play}); message != "" {
		t.Error(message)
	}
	if _, message := use(t, own, "next_call", map[string]any{"play": first.Play}); !strings.Contains(message, "no play") || server.Plays() != 0 {
		t.Errorf("%q, and there are %d plays", message, server.Plays())
	}
	for range mcp.MaxOwnPlays {
		if _, message := use(t, own, "play", map[string]any{"report": uncertain, "personas": []string{"challenger"}}); message != "" {
			t.Fatal(message)
		}
	}
	if _, message := use(t, own, "play", map[string]any{"report": uncertain, "personas": []string{"challenger"}}); !strings.Contains(message, "16 plays of yours have not ended: play them, or end some with end_play") {
		t.Errorf("one play more: %q", message)
	}
	if err := own.Close(); err != nil {
		t.Fatal(err)
	}
	server.WaitForClients()
	if n := server.Plays(); n != 0 {
		t.Errorf("%d plays are left of a client that is gone", n)
	}
	if _, message := use(t, other, "play", map[string]any{"report": uncertain, "personas": []string{"challenger"}}); message != "" {
		t.Error("no play begins for another client:", message)
	}
}

// Of trials of one id, a client sees its own latest one, and the latest of all where it has none.
func TestAccept_LL3_ACaseOfTheSameIDDoesNotReplaceOnesOwn(t *testing.T) {
	t.Parallel()
	_, url := listen(t, nil)
	own, other := connect(t, url), connect(t, url)
	for i, subject := range []string{"TestTotal fails", "a forged subject"} {
		report := strings.Replace(uncertain, "TestTotal fails", subject, 1)
		if tried, message := use(t, []*sdk.ClientSession{own, other}[i], "try_case", map[string]any{"report": report}); message != "" || len(tried.Results) != 1 {
			t.Fatal(message)
		}
	}
	for i, want := range []string{"TestTotal fails", "a forged subject", "a forged subject"} {
		session := []*sdk.ClientSession{own, other, connect(t, url)}[i]
		told, message := use(t, session, "explain_trial", map[string]any{"case": "shop.TestTotal"})
		if message != "" || !strings.Contains(told.Text, "\n  "+want+"\n") {
			t.Errorf("client %d sees %q\n%s", i, message, told.Text)
		}
		if listed, _ := use(t, session, "list_trials", map[string]any{}); len(listed.Trials) != 2 {
			t.Errorf("client %d sees %d trials", i, len(listed.Trials))
		}
	}
}

// A line that is no message does not end the session on standard input.
func TestAccept_LL3_ABadLineEndsNoSession(t *testing.T) {
	t.Parallel()
	server := mcp.New(mcp.Config{})
	defer server.Close()
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- server.Serve(t.Context(), requests, answers) }()
	lines := bufio.NewReader(out)
	for _, exchange := range [][2]string{
		{"hello", `"code":-32700,"message":"line 1 of the input is not JSON`},
		{strings.Repeat("A", 17<<20), `line 2 of the input has 17825793 bytes; a message has at most 16777216`},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"id":1,"result":`},
		{"[]", "line 4 of the input is a batch"},
		{`{"jsonrpc":"2.0","id":2,"method":"ping"}`, `"id":2,"result":`},
	} {
		if _, err := io.WriteString(in, exchange[0]+"\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := lines.ReadString('\n'); err != nil || !strings.Contains(answer, exchange[1]) {
			t.Fatalf("%.60q: %s, %v", exchange[0], answer, err)
		}
	}
	_ = in.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A server ends also where its client reads none of the answers.
func TestAccept_LL3_AClientThatDoesNotReadHoldsNoServer(t *testing.T) {
	t.Parallel()
	server := mcp.New(mcp.Config{})
	defer server.Close()
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, requests, answers) }()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		"hello",
	} {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // the answer has begun
		t.Fatal(err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
