package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/internal/calibrate"
)

// calibrate sets the court beside the models alone, through a real HTTP server: one answer of each model, as many answers as the court's
// tokens buy, and a vote of different models. From the cassette it gives the same bytes when the server is gone.
func TestAccept_LL7_CalibrateAsksModelsWithoutACourtAtEqualTokens(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Model    string `json:"model"`
			Seed     int    `json:"seed"`
			Messages []struct {
				Content string `json:"content"`
			} `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
			return
		}
		answer, tokens := `{"findings": [], "probabilities": {"pb001": 0.7, "ab001": 0.1, "si001": 0.1, "nd001": 0.1}}`, 1000
		switch alone := strings.Contains(q.Messages[0].Content, "choose the label"); {
		case alone && q.Model == "steady":
			answer, tokens = `{"reason": "so it reads", "label": "ab001"}`, 200
		case alone: // one answer in three is another one, and every fifth is none
			labels := []string{"si001", "pb001", "pb001", "si001", ""}
			answer, tokens = fmt.Sprintf(`{"reason": "so it reads", "label": %q}`, labels[q.Seed%5]), 300
		}
		content, _ := json.Marshal(answer)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"choices": [{"finish_reason": "stop", "message": {"content": %s}}], "usage": {"prompt_tokens": %d, "completion_tokens": 1}}`, content, tokens-1)
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("models.yaml", fmt.Sprintf("providers:\n  local: {api: openai, url: %q, retries: 0}\nmodels:\n"+
		"  reader: {provider: local, model: wavering, context_tokens: 16000, answer_tokens: 2000}\n"+
		"  second: {provider: local, model: steady, context_tokens: 16000, answer_tokens: 2000}\n"+
		"  third: {provider: local, model: steady, context_tokens: 16000, answer_tokens: 2000}\n", server.URL))
	text, err := os.ReadFile(filepath.Join(repositoryRoot(t), "pipelines", "llm-discovery.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write("court.yaml", strings.Replace(string(text), "models: [reader]", "models: [reader, second, third]", 1))
	prompt, err := os.ReadFile(filepath.Join(repositoryRoot(t), "pipelines", "prompts", "reader.md"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "prompts"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("prompts/reader.md", string(prompt))
	docket := filepath.Join(repositoryRoot(t), "examples", "dockets", "demo.jsonl")
	run := func(output string) (*calibrate.Report, string) {
		shadowcourt(t.Context(), t, dir, "calibrate", docket, "--pipeline", "court.yaml", "--models", "models.yaml", "--peers", "--cassette", "tape",
			"--format", "json", "--output", output, "--report", output+".md")
		data, err := os.ReadFile(filepath.Join(dir, output))
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(dir, output+".md"))
		if err != nil {
			t.Fatal(err)
		}
		r := &calibrate.Report{}
		if err := json.Unmarshal(data, r); err != nil {
			t.Fatal(err)
		}
		return r, string(data) + string(page)
	}
	got, first := run("recorded.json")
	p := got.Peers
	if p == nil || p.Completions == 0 || p.CourtTokens != 3000*p.Completions {
		t.Fatalf("%+v", p)
	}
	// Three samples of the court at 1,000 tokens buy 10 answers at 300, of which two are none and cost a repair, 15 at 200, and 6 rounds of
	// both. Where the court asked nobody, each votes once.
	n, k := got.Band.Cases, p.Completions
	none := n - k
	want := map[calibrate.MethodID]calibrate.PeerCost{
		"model:reader": {Tokens: 300 * n, Samples: n},
		"vote:reader":  {Tokens: (12*k + none) * 300, Samples: 10*k + none, Unanswered: 2 * k},
		"model:second": {Tokens: 200 * n, Samples: n},
		"vote:second":  {Tokens: (15*k + none) * 200, Samples: 15*k + none},
		"vote:models":  {Tokens: (6*k + none) * 500, Samples: (6*k + none) * 2},
	}
	seen := map[calibrate.MethodID]calibrate.PeerCost{}
	for _, took := range p.ByPeer {
		seen[took.ID] = took.PeerCost
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("the peers took (-want +got):\n%s", diff)
	}
	of := map[calibrate.MethodID]int{}
	for _, rival := range got.Band.Rivals {
		of[rival.ID] = rival.Accuracy.Of
	}
	for _, took := range p.ByPeer {
		if of[took.ID] != n {
			t.Errorf("%s is compared on %d of %d cases", took.ID, of[took.ID], n)
		}
	}
	if !strings.Contains(first, "vote of different models") || !strings.Contains(first, "**Tokens**") {
		t.Errorf("the report does not tell:\n%s", first)
	}
	server.Close()
	if _, again := run("recorded.json"); again != first {
		t.Errorf("from the cassette:\n%.2000s\nrecorded:\n%.2000s", again, first)
	}
}
