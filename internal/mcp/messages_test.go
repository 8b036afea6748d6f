package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`

func TestALineThatIsNoMessageIsAnsweredAndSkipped(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"hello": `null -32700 line 2 of the input is not JSON: invalid character 'h' looking for beginning of value`,
		"{}":    `null -32600 line 2 of the input is no message of JSON-RPC: `,
		`{"jsonrpc":"1.0","id":"x","method":"ping"}`: `"x" -32600 line 2 of the input is no message of JSON-RPC: `,
		"[" + ping + "]": `null -32600 line 2 of the input is a batch: write one message a line`,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`: `1.5 -32600 line 2 of the input has an id that is neither a text nor a whole number`,
		"5":                          `null -32600 line 2 of the input is no message of JSON-RPC: `,
		"\xff":                       `null -32700 line 2 of the input is not JSON: `,
		strings.Repeat("[", 100_000): `null -32700 line 2 of the input is not JSON: `,
		`{"jsonrpc":"2.0","x":"` + strings.Repeat("A", maxRequestBytes): `null -32600 line 2 of the input has 16777240 bytes; a message has at most 16777216`,
	} {
		var answers bytes.Buffer
		m := newMessages(io.NopCloser(strings.NewReader(ping+"\n"+input+"\r\n\n"+ping)), &answers, func([]byte) {})
		read, err := io.ReadAll(m)
		if err != nil || string(read) != ping+"\n"+ping {
			t.Errorf("%.40q: read %.200q, %v", input, read, err)
		}
		var got struct {
			ID    json.RawMessage `json:"id"`
			Error struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(answers.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if said := fmt.Sprintf("%s %d %s", got.ID, got.Error.Code, got.Error.Message); !strings.HasPrefix(said, want) {
			t.Errorf("%.40q: %.200s\nwant %s", input, said, want)
		}
	}
}

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
	if err := New(Config{}).Serve(t.Context(), io.NopCloser(strings.NewReader(input.String())), out); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != requests+1 {
		t.Errorf("%d answers to %d requests", n, requests+1)
	}
}

type output struct{ bytes.Buffer }

func (*output) Close() error { return nil }

// The SDK gets only lines that it takes for messages, and each other line one answer.
func FuzzMessages(f *testing.F) {
	f.Add(ping + "\nhello\n\n[]\n" + ping)
	f.Add("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n{}\n\xff")
	f.Fuzz(func(t *testing.T, input string) {
		var answers bytes.Buffer
		out, err := io.ReadAll(newMessages(io.NopCloser(strings.NewReader(input)), &answers, func([]byte) {}))
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.Lines(input) {
			if strings.TrimSpace(line) != "" {
				lines++
			}
		}
		messages := 0
		for line := range strings.Lines(string(out)) {
			messages++
			if _, err := jsonrpc.DecodeMessage([]byte(strings.TrimSpace(line))); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
		if answered := bytes.Count(answers.Bytes(), []byte("\n")); messages+answered != lines {
			t.Errorf("%d messages and %d answers to %d lines", messages, answered, lines)
		}
	})
}
