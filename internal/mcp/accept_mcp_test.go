package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// uncertain is a case that comes before the court.
const uncertain = `{"id":"shop.TestTotal","subject":"TestTotal fails","labels":["pb001","ab001","si001","nd001"],` +
	`"light":{"classification":"pb001","confidence":0.6,"reasoning":"an assertion failed"},` +
	`"evidence":[{"source_ref":"log:1","content":"cart_test.go:12: got 1, want 2","relevance_confidence":0.6,"supports":"pb001","element":"water"}],` +
	`"documents":[{"name":"log","text":"cart_test.go:12: got 1, want 2\n--- FAIL: TestTotal (0.00s)\n"}]}`

// serve gives a client of a server, which it talks to over standard streams.
func serve(t *testing.T, book *casebook.Book) *sdk.ClientSession {
	t.Helper()
	cache, err := os.UserCacheDir()
	must.Do(t, err)
	open := func(light string) *host.Host {
		config := host.Config{Models: Seat{}, CacheDir: filepath.Join(cache, "shadowcourt", "modules")}
		var err error
		config.Pipeline = must.Get(pipeline.LoadFS(pipelines.FS, "llm-court.yaml"))(t)
		if light != "" {
			config.LightPath = must.Get(pipeline.LoadFS(pipelines.FS, light))(t)
		}
		h, err := host.Open(t.Context(), config)
		must.Do(t, err)
		return h
	}
	config := Config{Reports: open("rca-investigation.yaml"), Personas: []string{"challenger", "abyss", "bulwark", "specter"}, Answer: time.Minute}
	if book != nil {
		config.Memory = must.Get(NewMemory(t.Context(), book))(t)
		t.Cleanup(config.Memory.Close)
	}
	opened := 0
	config.Cases = func(context.Context) (*host.Host, error) {
		if opened++; opened > 1 {
			t.Error("the host for cases is opened again")
		}
		return open(""), nil
	}
	server := New(config)
	t.Cleanup(func() {
		server.Close()
		must.Do(t, config.Reports.Close(context.Background()))
	})
	in, out := piped(t, server)
	session := must.Get(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, nil))(t)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// piped serves the other ends of two pipes, until the input is closed or the test ends.
func piped(t *testing.T, server *Server) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, requests, answers) }()
	t.Cleanup(func() {
		stop()
		must.Do(t, <-served)
	})
	return in, out
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

// use calls a tool; message is its error.
func use(t *testing.T, session *sdk.ClientSession, tool string, arguments map[string]any) (got answer, message string) {
	t.Helper()
	result := must.Get(session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments}))(t, tool)
	if result.IsError {
		return got, result.Content[0].(*sdk.TextContent).Text
	}
	data := must.Get(json.Marshal(result.StructuredContent))(t)
	must.Do(t, json.Unmarshal(data, &got))
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
	book := must.Get(casebook.Open(t.Context(), t.TempDir()+"/book.db", casebook.Options{}))(t)
	defer func() { _ = book.Close() }()
	session := serve(t, book)
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
		check.Equal(t, c.(map[string]any)["outcome"], "answered", "a completion")
	}
	if told, message := use(t, session, "explain_trial", map[string]any{"case": "shop.TestTotal"}); message != "" || !strings.Contains(told.Text, "TestTotal") {
		t.Error(message, told)
	}
	if kept, message := use(t, session, "correct_verdict", map[string]any{"case": "shop.TestTotal", "label": "ab001"}); message != "" || kept.Text == "" {
		t.Error(message)
	}
	snapshot := must.Get(book.Snapshot(t.Context()))(t)
	defer func() { _ = snapshot.Close() }()
	check.Equal(t, snapshot.Len(), 1, "the casebook", "cases")
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
	book := must.Get(casebook.Open(t.Context(), t.TempDir()+"/book.db", casebook.Options{}))(t)
	t.Cleanup(func() { _ = book.Close() })
	session := serve(t, book)
	explain := func() string {
		tried, message := use(t, session, "try_case", map[string]any{"report": failed})
		if message != "" || len(tried.Results) != 1 {
			t.Fatal(message, tried)
		}
		told, message := use(t, session, "explain_trial", map[string]any{"case": tried.Results[0]["id"]})
		must.Equal(t, message, "")
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
	session := serve(t, nil)
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
	want := []listedPlay{{Play: first.Play, Case: "shop.TestTotal", Personas: []string{"challenger"}, Call: first.Call}}
	if listed, _ := use(t, session, "list_plays", map[string]any{}); !reflect.DeepEqual(listed.Plays, want) {
		t.Errorf("%+v, want %+v", listed.Plays, want)
	}
	if _, message := use(t, session, "end_play", map[string]any{"play": first.Play}); message != "" {
		t.Error(message)
	}
	if _, message := use(t, session, "next_call", map[string]any{"play": first.Play}); !strings.Contains(message, "no play") {
		t.Errorf("a play that was ended: %q", message)
	}
	for range maxPlays {
		if _, message := use(t, session, "play", map[string]any{"report": uncertain, "personas": []string{"challenger"}}); message != "" {
			t.Fatal(message)
		}
	}
	if _, message := use(t, session, "play", map[string]any{"report": uncertain, "personas": []string{"challenger"}}); !strings.Contains(message, "16 plays have not ended: play them, or end some with end_play") {
		t.Errorf("one play more: %q", message)
	}
}
