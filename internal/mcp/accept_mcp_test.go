package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/mcp"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// uncertain is a case that comes before the court.
const uncertain = `{"id":"shop.TestTotal","subject":"TestTotal fails","labels":["pb001","ab001","si001","nd001"],` +
	`"light":{"classification":"pb001","confidence":0.6,"reasoning":"an assertion failed"},` +
	`"evidence":[{"source_ref":"log:1","content":"cart_test.go:12: got 1, want 2","relevance_confidence":0.6,"supports":"pb001","element":"water"}],` +
	`"documents":[{"name":"log","text":"cart_test.go:12: got 1, want 2\n--- FAIL: TestTotal (0.00s)\n"}]}`

func serve(t *testing.T, book *casebook.Book) (*mcp.Server, *sdk.ClientSession) {
	t.Helper()
	server, url := listen(t, book)
	return server, connect(t, url)
}

// listen gives a server and its address.
func listen(t *testing.T, book *casebook.Book) (*mcp.Server, string) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	open := func(light string) *host.Host {
		config := host.Config{Models: mcp.Seat{}, CacheDir: filepath.Join(cache, "shadowcourt", "modules")}
		var err error
		if config.Pipeline, err = pipeline.LoadFS(pipelines.FS, "llm-court.yaml"); err != nil {
			t.Fatal(err)
		}
		if light != "" {
			if config.LightPath, err = pipeline.LoadFS(pipelines.FS, light); err != nil {
				t.Fatal(err)
			}
		}
		h, err := host.Open(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	var memory *mcp.Memory
	if book != nil {
		var err error
		if memory, err = mcp.NewMemory(t.Context(), book); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(memory.Close)
	}
	h := open("rca-investigation.yaml")
	opened := 0
	cases := func(context.Context) (*host.Host, error) {
		if opened++; opened > 1 {
			t.Error("the host for cases is opened again")
		}
		return open(""), nil
	}
	server := mcp.New(mcp.Config{Reports: h, Cases: cases, Memory: memory, Personas: []string{"challenger", "abyss", "bulwark", "specter"}, Answer: time.Minute})
	t.Cleanup(func() {
		server.Close()
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Listen(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return server, "http://" + listener.Addr().String()
}

// connect gives the session of one more client.
func connect(t *testing.T, url string) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// answer is what a tool gave.
type answer struct {
	Play     string            `json:"play"`
	Call     int               `json:"call"`
	Persona  string            `json:"persona"`
	Messages []json.RawMessage `json:"messages"`
	Schema   map[string]any    `json:"schema"`
	Problems []string          `json:"problems"`
	Result   map[string]any    `json:"result"`
	Results  []map[string]any  `json:"results"`
	Text     string            `json:"text"`
	Trials   []json.RawMessage `json:"trials"`
	Plays    []listedPlay      `json:"plays"`
}

type listedPlay struct {
	Play     string   `json:"play"`
	Case     string   `json:"case"`
	Personas []string `json:"personas"`
	Call     int      `json:"call"`
	Ended    bool     `json:"ended"`
}

// use calls a tool; message is its error.
func use(t *testing.T, session *sdk.ClientSession, tool string, arguments map[string]any) (got answer, message string) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(tool, err)
	}
	if result.IsError {
		return got, result.Content[0].(*sdk.TextContent).Text
	}
	data, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	return got, ""
}

// instance is the simplest value that conforms to a schema.
func instance(schema map[string]any) any {
	if values, ok := schema["enum"].([]any); ok {
		return values[0]
	}
	switch schema["type"] {
	case "object":
		value := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for name, of := range properties {
			value[name] = instance(of.(map[string]any))
		}
		return value
	case "array":
		return []any{}
	case "number", "integer":
		if least, ok := schema["minimum"]; ok {
			return least
		}
		return 0
	case "boolean":
		return false
	default:
		return "because"
	}
}

func TestAccept_LL3_AnAgentTriesACaseAndPlaysThePersonas(t *testing.T) {
	t.Parallel()
	book, err := casebook.Open(t.Context(), t.TempDir()+"/book.db", casebook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = book.Close() }()
	_, session := serve(t, book)
	tried, message := use(t, session, "try_case", map[string]any{"report": uncertain})
	if message != "" || len(tried.Results) != 1 || tried.Results[0]["completions"] != nil || tried.Results[0]["timings"] != nil {
		t.Fatal(message, tried)
	}
	got, message := use(t, session, "play", map[string]any{"report": uncertain, "personas": []string{"challenger", "abyss", "bulwark", "specter"}})
	played, corrected := map[string]int{}, 0
	for ; got.Result == nil; played[got.Persona]++ {
		if message != "" || got.Call == 0 || len(got.Messages) == 0 || got.Schema["type"] != "object" {
			t.Fatalf("%q %+v", message, got)
		}
		call := map[string]any{"play": got.Play, "call": got.Call}
		call["answer"] = "no JSON"
		wrong, message := use(t, session, "submit", call)
		if message != "" || len(wrong.Problems) != 1 || wrong.Call != got.Call || !strings.Contains(wrong.Problems[0], `"no JSON" and no JSON: submit a value`) {
			t.Fatalf("%q %+v", message, wrong)
		}
		call["answer"] = nil
		if wrong, message = use(t, session, "submit", call); message != "" || len(wrong.Problems) != 1 || !strings.Contains(wrong.Problems[0], "got null, want object") {
			t.Fatalf("%q %+v", message, wrong)
		}
		call["answer"] = map[string]any{"surprise": []int{1}}
		if wrong, message = use(t, session, "submit", call); message != "" || len(wrong.Problems) == 0 {
			t.Fatalf("%q %+v", message, wrong)
		}
		corrected++
		call["answer"] = instance(got.Schema)
		before := got
		if got, message = use(t, session, "submit", call); message != "" {
			t.Fatalf("%s to %+v", message, before)
		}
		if got.Result == nil {
			if _, message := use(t, session, "submit", call); !strings.Contains(message, "no such call") {
				t.Errorf("a second answer to one call: %q", message)
			}
		}
	}
	// The result is kept for a client that lost the answer.
	again, message := use(t, session, "next_call", map[string]any{"play": got.Play})
	if diff := cmp.Diff(got.Result, again.Result); message != "" || diff != "" {
		t.Errorf("%q: %s", message, diff)
	}
	if len(played) < 3 || corrected == 0 {
		t.Errorf("played %v", played)
	}
	for _, c := range got.Result["completions"].([]any) {
		if outcome := c.(map[string]any)["outcome"]; outcome != "answered" {
			t.Errorf("a completion is %v", outcome)
		}
	}
	if told, message := use(t, session, "explain_trial", map[string]any{"case": "shop.TestTotal"}); message != "" || !strings.Contains(told.Text, "TestTotal") {
		t.Error(message, told)
	}
	if kept, message := use(t, session, "correct_verdict", map[string]any{"case": "shop.TestTotal", "label": "ab001"}); message != "" || kept.Text == "" {
		t.Error(message)
	}
	snapshot, err := book.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = snapshot.Close() }()
	if snapshot.Len() != 1 {
		t.Errorf("the casebook has %d cases", snapshot.Len())
	}
}

// failed is a report of a test that fails, as go test -json writes it.
const failed = `{"Action":"run","Package":"example.com/shop","Test":"TestTotal"}
{"Action":"output","Package":"example.com/shop","Test":"TestTotal","Output":"    cart_test.go:12: the ledger of customer nine differs: got 1, want 2\n"}
{"Action":"output","Package":"example.com/shop","Test":"TestTotal","Output":"--- FAIL: TestTotal (0.00s)\n"}
{"Action":"fail","Package":"example.com/shop","Test":"TestTotal"}
`

// A trial sees the corrections that were made before it began, while the same server runs.
func TestAccept_LL3_TheNextTrialSeesACorrection(t *testing.T) {
	t.Parallel()
	book, err := casebook.Open(t.Context(), t.TempDir()+"/book.db", casebook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = book.Close() })
	_, session := serve(t, book)
	explain := func() string {
		tried, message := use(t, session, "try_case", map[string]any{"report": failed})
		if message != "" || len(tried.Results) != 1 {
			t.Fatal(message, tried)
		}
		told, message := use(t, session, "explain_trial", map[string]any{"case": tried.Results[0]["id"]})
		if message != "" {
			t.Fatal(message)
		}
		return told.Text
	}
	before := explain()
	if _, message := use(t, session, "correct_verdict", map[string]any{"case": "example.com/shop.TestTotal", "label": "si001"}); message != "" {
		t.Fatal(message)
	}
	after := explain()
	const earlier = "recalls example.com/shop.TestTotal, which was system issue"
	if strings.Contains(before, earlier) || !strings.Contains(after, earlier) {
		t.Errorf("before:\n%s\n\nafter:\n%s", before, after)
	}
}

func TestAccept_LL3_HostileAgents(t *testing.T) {
	t.Parallel()
	_, session := serve(t, nil)
	first, message := use(t, session, "play", map[string]any{"report": uncertain, "personas": []string{"challenger"}})
	if message != "" || first.Call == 0 {
		t.Fatal(message, first)
	}
	for _, tc := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"play", map[string]any{"report": uncertain, "personas": []string{"judge"}}, "no persona to play"},
		{"play", map[string]any{"report": uncertain, "personas": []string{}}, "name the personas"},
		{"play", map[string]any{"report": uncertain + "\n" + strings.Replace(uncertain, "shop", "bank", 1), "personas": []string{"abyss"}}, "2 cases"},
		{"try_case", map[string]any{"report": uncertain, "format": "xml"}, "xml"},
		{"try_case", map[string]any{"report": "garbage hello"}, "the report"},
		{"try_case", map[string]any{"report": `{"id":`}, "the report:1"},
		{"try_case", map[string]any{"report": `{"id":"a","subject":"","labels":["x","y"],"light":{"classification":"x","confidence":0.6,"reasoning":""},` +
			`"evidence":[{"source_ref":"casebook:7","content":"as before","relevance_confidence":0.95,"supports":"y"}],"documents":[]}`}, "evidence[0].source_ref"},
		{"end_play", map[string]any{"play": "play-99"}, "no play"},
		{"submit", map[string]any{"play": first.Play, "call": first.Call + 1, "answer": "{}"}, "no such call"},
		{"submit", map[string]any{"play": "play-99", "call": 1, "answer": "{}"}, "no play"},
		{"submit", map[string]any{"play": first.Play, "call": first.Call, "answer": strings.Repeat("x", 300<<10)}, "at most"},
		{"next_call", map[string]any{"play": "../../etc/passwd"}, "no play"},
		{"explain_trial", map[string]any{"case": "nowhere"}, "no trial"},
		{"correct_verdict", map[string]any{"case": "nowhere", "label": "pb001"}, "no trial"},
	} {
		if _, message := use(t, session, tc.tool, tc.arguments); message == "" || !strings.Contains(message, tc.want) || strings.Contains(message, "stdin") {
			t.Errorf("%s %.80s: %q, want %q", tc.tool, fmt.Sprint(tc.arguments), message, tc.want)
		}
	}
	again, message := use(t, session, "next_call", map[string]any{"play": first.Play})
	if message != "" || again.Call != first.Call {
		t.Error("the call that waits was lost:", message, again)
	}
}

// A web page of another origin can't use the server of somebody's agent.
func TestAccept_LL3_OtherOriginsAreRejected(t *testing.T) {
	t.Parallel()
	server := mcp.New(mcp.Config{})
	defer server.Close()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Listen(ctx, listener) }()
	for _, tc := range []struct{ method, header, value, want string }{
		{"POST", "Origin", "https://evil.example", "evil.example"},
		{"GET", "Origin", "https://evil.example", "evil.example"},
		{"DELETE", "Origin", "https://evil.example", "evil.example"},
		{"OPTIONS", "Origin", "null", `"null"`},
		{"GET", "Origin", "http://localhost:1", "localhost:1"},
		{"GET", "Sec-Fetch-Site", "cross-site", "web page"},
		{"POST", "Host", "evil.example", "evil.example"},
		{"GET", "Host", "127.0.0.1.evil.example", "evil.example"},
	} {
		header, value := tc.header, tc.value
		r, err := http.NewRequestWithContext(t.Context(), tc.method, "http://"+listener.Addr().String(), strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if r.Header.Set(header, value); header == "Host" {
			r.Host = value
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || !strings.Contains(string(body), tc.want) || response.StatusCode != http.StatusForbidden {
			t.Errorf("%s with %s %s: %s: %q, %v", tc.method, header, value, response.Status, body, err)
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
