package mcp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`

// A client that writes its requests and closes its input gets all answers.
func TestAllAnswersComeBeforeTheEnd(t *testing.T) {
	t.Parallel()
	var input strings.Builder
	input.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n")
	input.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	const requests = 200
	for i := range requests {
		fmt.Fprintf(&input, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", i+1)
	}
	out := &output{}
	must.Do(t, New(Config{}).Serve(t.Context(), io.NopCloser(strings.NewReader(input.String())), out))
	check.Equal(t, bytes.Count(out.Bytes(), []byte("\n")), requests+1, "answers to", "requests")
}

type output struct{ bytes.Buffer }

func (*output) Close() error { return nil }

// The SDK gets only lines that it takes for messages, and each other line one answer.
func FuzzMessages(f *testing.F) {
	f.Add(ping + "\nhello\n\n[]\n" + ping)
	f.Add("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n{}\n\xff")
	f.Fuzz(func(t *testing.T, input string) {
		var answers bytes.Buffer
		out := must.Get(io.ReadAll(newMessages(io.NopCloser(strings.NewReader(input)), &answers, func([]byte) {})))(t)
		lines := 0
		for line := range strings.Lines(input) {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
		messages := 0
		for line := range strings.Lines(string(out)) {
			messages++
			must.Get(jsonrpc.DecodeMessage([]byte(strings.TrimSpace(line))))(t, line)
		}
		if answered := bytes.Count(answers.Bytes(), []byte("\n")); messages+answered != lines {
			t.Errorf("%d messages and %d answers to %d lines", messages, answered, lines)
		}
	})
}

// A line that is no message is answered with what is wrong, and ends no session.
func TestAccept_LL3_ABadLineEndsNoSession(t *testing.T) {
	t.Parallel()
	in, out := piped(t, New(Config{}))
	lines := bufio.NewReader(out)
	for i, exchange := range [][2]string{
		{"hello", `{"error":{"code":-32700,"message":"line 1 of the input is not JSON: invalid character 'h' looking for beginning of value"},"id":null,`},
		{`{"jsonrpc":"2.0","x":"` + strings.Repeat("A", maxRequestBytes), `-32600,"message":"line 2 of the input has 16777239 bytes; a message has at most 16777216"},"id":null`},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"id":1,"result":`},
		{"{}", `-32600,"message":"line 4 of the input is no message of JSON-RPC: `},
		{`{"jsonrpc":"1.0","id":"x","method":"ping"}`, `"id":"x"`},
		{"[" + ping + "]", `-32600,"message":"line 6 of the input is a batch: write one message a line"},"id":null`},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `line 7 of the input has an id that is neither a text nor a whole number"},"id":1.5`},
		{"5", `line 8 of the input is no message of JSON-RPC: `},
		{"\xff", `line 9 of the input is not JSON: `},
		{strings.Repeat("[", 100_000), `line 10 of the input is not JSON: `},
		{"\r\n" + ping + "\r", `"id":7,"result":`},
	} {
		must.Get(io.WriteString(in, exchange[0]+"\n"))(t)
		if answer, err := lines.ReadString('\n'); err != nil || !strings.Contains(answer, exchange[1]) {
			t.Fatalf("%d, %.60q: %s, %v", i+1, exchange[0], answer, err)
		}
	}
}

// A server ends also where its client reads none of the answers.
func TestAccept_LL3_AClientThatDoesNotReadHoldsNoServer(t *testing.T) {
	t.Parallel()
	in, out := piped(t, New(Config{})) // the end of the test waits for the server
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		"hello",
	} {
		must.Get(io.WriteString(in, line+"\n"))(t)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // the answer has begun
		t.Fatal(err)
	}
}
