package host_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// chatServer is a server with OpenAI's chat completions whose models take part in a hearing. The first answer to each question is cut in
// half. The answer in the repair turn is whole, but for the questions that stay broken.
type chatServer struct {
	t           *testing.T
	models      *models
	stillBroken func(c *abi.Completion) bool

	mu             sync.Mutex
	first, repairs int
}

func (s *chatServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    abi.ChatRole `json:"role"`
			Content string       `json:"content"`
		} `json:"messages"`
		Format struct {
			Schema struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/chat/completions" || len(body.Messages) < 2 {
		s.t.Errorf("%s %s with %d messages: %v", r.Method, r.URL, len(body.Messages), err)
		http.Error(w, "no such question", http.StatusBadRequest)
		return
	}
	c := abi.Completion{Model: body.Model, Schema: string(body.Format.Schema.Schema), Samples: 1}
	for _, m := range body.Messages {
		c.Messages = append(c.Messages, abi.ChatMessage{Role: m.Role, Content: m.Content})
	}
	answer := s.models.answer(&c).Answers[0]
	half := answer[:len(answer)/2]
	repair := len(c.Messages) == 4
	s.mu.Lock()
	if repair {
		s.repairs++
	} else {
		s.first++
	}
	s.mu.Unlock()
	switch {
	case repair && (c.Messages[2].Role != abi.ChatAssistant || c.Messages[2].Content != half || !strings.Contains(c.Messages[3].Content, "does not conform to the JSON Schema")):
		s.t.Errorf("%s is asked to repair %+v", c.Model, c.Messages[2:])
	case !repair && len(c.Messages) != 2:
		s.t.Errorf("%s is asked with %d messages", c.Model, len(c.Messages))
	case !repair || s.stillBroken(&c):
		answer = half
	}
	content, err := json.Marshal(answer)
	if err != nil {
		s.t.Error(err)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`, content)
}

// A hearing through an HTTP server: each broken answer is repaired once. The brief that stays broken fails its call by name, the
// fallback of its persona writes it, and the persona's model still argues in the rounds after it.
func TestAccept_LL2_AHearingThroughAnHTTPServer(t *testing.T) {
	t.Parallel()
	s := &chatServer{t: t, models: hearingModels(nil), stillBroken: func(c *abi.Completion) bool { return at(c) == "fight" }}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	var definition strings.Builder
	fmt.Fprintf(&definition, "providers:\n  local: {api: openai, url: %q}\nmodels:\n", server.URL+"/v1")
	for _, name := range []string{"challenger", "abyss", "bulwark", "specter"} {
		fmt.Fprintf(&definition, "  %s: {provider: local, model: %s, context_tokens: 16000, answer_tokens: 1000}\n", name, name)
	}
	parsed := must.Get(model.Parse("models.yaml", []byte(definition.String())))(t)
	set := must.Get(model.Open(model.Config{Definition: parsed}))(t)
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	tried := try(t, open(t, host.Config{Pipeline: llm(t, pipelines.LLMCourt), Models: set}), dispute())
	result := &tried.Result
	if result.Error != nil || result.Rounds < 2 || result.Verdict == nil || len(result.Fallbacks) != 1 {
		t.Fatalf("%d rounds, verdict %+v, fallbacks %+v, error %+v", result.Rounds, result.Verdict, result.Fallbacks, result.Error)
	}
	broken := func(detail string) bool {
		return strings.HasPrefix(detail, "the answer of abyss does not conform to the schema: ") && strings.HasSuffix(detail, " (after a repair)")
	}
	f := result.Fallbacks[0]
	_, detail, ok := strings.Cut(f.Message, ": model_invalid: the model abyss: ")
	if f.Node != "defend" || f.Persona != "abyss" || f.Module != "advocate" || f.Fallback != "abyss" || f.Cause != trial.CauseFailure || !ok || !broken(detail) {
		t.Errorf("fallback %+v", f)
	}
	questions := 0
	asked := map[string]int{}
	for _, c := range result.Completions {
		right := c.Outcome == abi.CompletionAnswered && c.Answers > 0 && c.Detail == ""
		if c.Node == "defend" {
			right = c.Outcome == abi.CompletionInvalid && c.Answers == 0 && broken(c.Detail)
		}
		if !right {
			t.Errorf("%+v", c)
		}
		asked[c.Persona+" "+c.Node]++
		questions += c.InputTokens / 200 // 100 for each of the two requests
	}
	if s.first != questions || s.repairs != questions || asked["abyss defend"] != 1 {
		t.Errorf("%d first answers and %d repairs of %d questions: %v", s.first, s.repairs, questions, asked)
	}
	last := tried.Passes[len(tried.Passes)-1]
	for i, round := range last.Hearing.Rounds {
		for name, text := range map[string]string{"challenger": round.ProsecutionArgument, "abyss": round.DefenseRebuttal, "bulwark": round.JudgeNotes} {
			if want := fmt.Sprintf("The model %s: words of %s in round %d", name, name, i+1); !strings.Contains(text, want) {
				t.Errorf("round %d has no %q: %s", i+1, want, text)
			}
		}
	}
}
