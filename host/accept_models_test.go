package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// models are language models that answer as a function says, and keep what they were asked.
type models struct {
	answer func(c *abi.Completion) abi.CompletionResult

	mu    sync.Mutex
	asked []abi.Completion
}

func (m *models) Offers(_ context.Context, names []string) []abi.ModelOffer {
	offers := make([]abi.ModelOffer, len(names))
	for i, name := range names {
		offers[i] = abi.ModelOffer{Model: name, ContextTokens: 16000, AnswerTokens: 1000}
	}
	return offers
}

func (m *models) Complete(_ context.Context, c abi.Completion, _ trial.ModelUsage) (abi.CompletionResult, error) {
	m.mu.Lock()
	m.asked = append(m.asked, c)
	m.mu.Unlock()
	r := m.answer(&c)
	r.Model, r.InputTokens, r.OutputTokens = c.Model, 100, 10*len(r.Answers)
	return r, nil
}

func (*models) Digest() string { return "scripted" }

// say answers all samples with the same document.
func say(c *abi.Completion, answer any) abi.CompletionResult {
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	return abi.CompletionResult{Outcome: abi.CompletionAnswered, Answers: slices.Repeat([]string{string(text)}, c.Samples)}
}

type fields = map[string]any

// at says what a completion asks for.
func at(c *abi.Completion) string {
	for _, kind := range []string{"probabilities", "narrative", "fight", "acquit", "argument"} {
		if strings.Contains(c.Schema, `"`+kind+`"`) {
			return kind
		}
	}
	return ""
}

// enum are the labels that a schema offers.
func enum(c *abi.Completion, field string) []string {
	m := regexp.MustCompile(`"` + field + `":\{"type":"string"[^}]*"enum":(\[[^\]]*\])`).FindStringSubmatch(c.Schema)
	var list []string
	if m != nil {
		_ = json.Unmarshal([]byte(m[1]), &list)
	}
	return list
}

// numberOf is the number before a text in what a model was shown; -1 if it was not shown with a number.
func numberOf(c *abi.Completion, text string) int {
	m := regexp.MustCompile(`(?m)^(\d+)\| .*` + regexp.QuoteMeta(text)).FindStringSubmatch(c.Messages[1].Content)
	n := -1
	if m != nil {
		_, _ = fmt.Sscan(m[1], &n)
	}
	return n
}

func llm(t testing.TB, name string, files ...string) *pipeline.Definition {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, pattern := range []string{"*.yaml", "prompts/*.md"} {
		names := must.Get(fs.Glob(pipelines.FS, pattern))(t)
		for _, file := range names {
			text := must.Get(fs.ReadFile(pipelines.FS, file))(t)
			fsys[file] = &fstest.MapFile{Data: text}
		}
	}
	for i := 0; i+1 < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return must.Get(pipeline.LoadFS(fsys, name))(t)
}

// The shipped prompts are files. What is in them is in the digest of the configuration that a record states, and so is nothing else of
// the files: whoever changes a word has another court.
func TestAccept_LL1_AChangedPromptIsAnotherConfiguration(t *testing.T) {
	t.Parallel()
	for _, p := range []struct{ pipeline, persona, prompt string }{
		{pipelines.LLMDiscovery, "bulwark", "prompts/reader.md"},
		{pipelines.LLMCourt, "challenger", "prompts/prosecution.md"},
		{pipelines.LLMCourt, "abyss", "prompts/defense.md"},
		{pipelines.LLMCourt, "bulwark", "prompts/bench.md"},
		{pipelines.LLMCourt, "specter", "prompts/judge.md"},
	} {
		text := must.Get(fs.ReadFile(pipelines.FS, p.prompt))(t)
		digests, own := map[string]bool{}, map[record.Digest]bool{}
		for _, prompt := range []string{string(text), string(text), string(text) + "\nBe brief.\n"} {
			h := open(t, host.Config{Pipeline: llm(t, p.pipeline, p.prompt, prompt)})
			configuration := must.Get(h.Configuration(t.Context()))(t)
			digests[fmt.Sprint(configuration)] = true
			for _, part := range configuration {
				if part.Name == "prompt "+p.persona {
					own[part.Digest] = true
				}
			}
		}
		if len(digests) != 2 || len(own) != 2 {
			t.Errorf("%s: %d configurations and %d digests of a prompt and its change", p.prompt, len(digests), len(own))
		}
	}
}

// hearing are models that play every part of a hearing, with something new in each round.
func hearingModels(spoil func(c *abi.Completion, round int) *abi.CompletionResult) *models {
	m := &models{}
	m.answer = func(c *abi.Completion) abi.CompletionResult {
		round := 0
		if f := regexp.MustCompile(`round (\d) of`).FindStringSubmatch(c.Messages[1].Content); f != nil {
			_, _ = fmt.Sscan(f[1], &round)
		}
		if spoil != nil {
			if r := spoil(c, round); r != nil {
				return *r
			}
		}
		switch at(c) {
		case "probabilities":
			return say(c, fields{"findings": []fields{
				{"line": numberOf(c, "quota exceeded"), "label": "quota", "observation": "the quota is named"},
				{"line": numberOf(c, "write failed"), "label": "leak", "observation": "a write failed"},
				{"line": numberOf(c, "retrying"), "label": "load", "observation": "it retries"},
				{"line": 3000, "label": "load", "observation": "a line that nobody has"},
			}[:3], "probabilities": fields{"leak": 0.3, "load": 0.1, "quota": 0.6}})
		case "narrative":
			return say(c, fields{"narrative": "item 1 shows a leak", "confidence": 0.4})
		case "fight":
			return say(c, fields{"argument": "it is the quota", "challenges": []fields{}, "fight": true, "label": "quota", "items": []int{0}, "findings": []int{}})
		case "acquit":
			return say(c, fields{"label": enum(c, "label")[0], "acquit": false, "items": []int{0, 1}, "findings": []int{0, 1, 2}, "reasoning": "the quota is stated"})
		}
		turn := fields{"argument": fmt.Sprintf("words of %s in round %d", c.Model, round), "challenges": []fields{}}
		if c.Model != "bulwark" {
			turn["lines"] = []fields{}
		}
		for i, item := range []string{"quota exceeded", "usage rises", "nothing was deployed"} {
			if c.Model == "bulwark" && i == round-1 {
				turn["challenges"] = []fields{{"item": numberOf(c, item), "finding": (i + 1) % 3, "why": "a line contradicts it", "severity": "minor"}}
			}
		}
		return say(c, turn)
	}
	return m
}

// Four models argue over rounds in structured JSON: each is told what the others said before, and what they say is in the hearing.
func TestAccept_LL2_AHearingOverRoundsInStructuredJSON(t *testing.T) {
	t.Parallel()
	m := hearingModels(nil)
	h := open(t, host.Config{Pipeline: llm(t, pipelines.LLMCourt), Models: m})
	tried := try(t, h, dispute())
	if tried.Result.Error != nil || len(tried.Result.Fallbacks) > 0 || tried.Result.Rounds < 2 {
		t.Fatalf("%d rounds, fallbacks %+v, error %+v", tried.Result.Rounds, tried.Result.Fallbacks, tried.Result.Error)
	}
	said := map[string]int{}
	for _, c := range tried.Result.Completions {
		said[c.Persona]++
	}
	if said["challenger"] != 1+tried.Result.Rounds || said["abyss"] != 1+tried.Result.Rounds || said["bulwark"] != 1+tried.Result.Rounds {
		t.Errorf("models were asked %v", said)
	}
	last := tried.Passes[len(tried.Passes)-1]
	for i, round := range last.Hearing.Rounds {
		for model, text := range map[string]string{"challenger": round.ProsecutionArgument, "abyss": round.DefenseRebuttal, "bulwark": round.JudgeNotes} {
			if want := fmt.Sprintf("The model %s: words of %s in round %d", model, model, i+1); !strings.Contains(text, want) {
				t.Errorf("round %d has no %q: %s", i+1, want, text)
			}
		}
	}
	heard := false
	for i := range m.asked {
		c := &m.asked[i]
		if c.Model == "challenger" && strings.Contains(c.Messages[1].Content, "round 2 of 3") {
			heard = strings.Contains(c.Messages[1].Content, "words of abyss in round 1") && strings.Contains(c.Messages[1].Content, "words of bulwark in round 1")
		}
		if !json.Valid([]byte(c.Schema)) || c.Messages[0].Role != abi.ChatSystem || !strings.Contains(c.Messages[0].Content, "never an instruction") {
			t.Errorf("%s was asked %+v", c.Model, c)
		}
	}
	if !heard {
		t.Error("the prosecution was not told what was said in round 1")
	}
	var of []string
	for _, f := range last.Discovery.Findings {
		if f.Source != "" {
			of = append(of, fmt.Sprintf("%s %s %.1f: %s", f.Source, f.Supports, f.Strength, f.Quote))
		}
	}
	if got := strings.Join(of, "; "); got != "model:bulwark quota 0.6: quota exceeded for volume data-7; model:bulwark leak 0.3: 12:00 write failed; model:bulwark load 0.1: 12:01 retrying" {
		t.Errorf("findings %s", got)
	}
}

// An answer that breaks its schema fails the call by name, and the fallback plays in its place: the trial goes to its end.
func TestAccept_LL2_BrokenAnswersFailByNameAndTheFallbackPlays(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, model, kind, message string
		result                     abi.CompletionResult
	}{
		{"no answer conforms", "abyss", "fight", "model_invalid: the model abyss: fight is missing", abi.CompletionResult{Outcome: abi.CompletionInvalid, Detail: "fight is missing"}},
		{"half a document", "challenger", "narrative", "model_invalid: the model challenger: the answer has a field without a name", abi.CompletionResult{Outcome: abi.CompletionAnswered, Answers: []string{`{"narrative":"x",`}}},
		{"a field too many", "challenger", "narrative", "model_invalid: the model challenger: the answer has an unknown field", abi.CompletionResult{Outcome: abi.CompletionAnswered, Answers: []string{`{"narrative":"x","confidence":0,"verdict":"leak"}`}}},
		{"the provider is down", "bulwark", "probabilities", "model_failed: the model bulwark: connection refused", abi.CompletionResult{Outcome: abi.CompletionFailed, Detail: "connection refused"}},
		{"the budget is used up", "bulwark", "probabilities", "model_not_asked: the model bulwark: the budget is used up", abi.CompletionResult{Outcome: abi.CompletionNotAsked, Detail: "the budget is used up"}},
		{"too long", "bulwark", "probabilities", "model_too_long: the model bulwark: 5000 tokens", abi.CompletionResult{Outcome: abi.CompletionTooLong, Detail: "5000 tokens"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := hearingModels(func(c *abi.Completion, _ int) *abi.CompletionResult {
				if c.Model == tc.model && at(c) == tc.kind {
					return &tc.result
				}
				return nil
			})
			result := try(t, open(t, host.Config{Pipeline: llm(t, pipelines.LLMCourt), Models: m}), dispute()).Result
			if result.Error != nil || len(result.Fallbacks) != 1 {
				t.Fatalf("fallbacks %+v, error %+v", result.Fallbacks, result.Error)
			}
			f := result.Fallbacks[0]
			if f.Persona != tc.model || f.Fallback != tc.model || f.Cause != trial.CauseFailure || !strings.Contains(f.Message, tc.message) {
				t.Errorf("%+v", f)
			}
		})
	}
}

// Without models the pipelines are the heuristic court, whatever their prompts.
func TestAccept_LL2_WithoutModelsThePipelinesAreTheHeuristicCourt(t *testing.T) {
	t.Parallel()
	want := try(t, shared(t), dispute())
	for _, name := range []string{pipelines.LLMDiscovery, pipelines.LLMCourt} {
		got := try(t, open(t, host.Config{Pipeline: llm(t, name)}), dispute())
		if len(got.Result.Completions)+len(got.Result.Fallbacks) > 0 || fmt.Sprintf("%+v", got.Result.Verdict) != fmt.Sprintf("%+v", want.Result.Verdict) {
			t.Errorf("%s: %+v, want %+v", name, got.Result.Verdict, want.Result.Verdict)
		}
	}
}

// A trial with models replays to the same bytes, and asks none.
func TestAccept_LL2_AReplayAsksNoModel(t *testing.T) {
	t.Parallel()
	m := hearingModels(nil)
	store, data := recordTrials(t, host.Config{Pipeline: llm(t, pipelines.LLMCourt), Models: m}, 1, entryOf(dispute())...)
	asked := len(m.asked)
	replayed := replayAll(t, store, data)
	if len(m.asked) != asked || asked < 8 || len(replayed) != 1 || len(replayed[0].Result.Completions) != asked {
		t.Errorf("%d questions, %d after the replay, which has %d", asked, len(m.asked), len(replayed[0].Result.Completions))
	}
}

// A pass after a remand that would put the same question to a model has the answer of the first pass, which is listed and paid once.
func TestAQuestionIsPaidOnceInATrial(t *testing.T) {
	t.Parallel()
	text := must.Get(fs.ReadFile(pipelines.FS, pipelines.LLMDiscovery))(t)
	court := strings.NewReplacer("module: specter", "module: puppet", "environment_labels: si001", "behave: remand").Replace(string(text))
	same := lightFunc(func(req host.LightRequest) (host.LightResponse, error) {
		return host.LightResponse{Answer: *dispute().Light, Remand: accountFor(req.Feedback)}, nil
	})
	m := hearingModels(nil)
	h := open(t, host.Config{Pipeline: llm(t, pipelines.LLMDiscovery, pipelines.LLMDiscovery, court), Models: m, Light: same})
	tried := try(t, h, dispute())
	if len(tried.Passes) < 2 || tried.Result.Error != nil {
		t.Fatalf("%d passes, error %+v", len(tried.Passes), tried.Result.Error)
	}
	for i, pass := range tried.Passes {
		if !slices.ContainsFunc(pass.Discovery.Findings, func(f abi.Finding) bool { return f.Source == "model:reader" }) {
			t.Errorf("pass %d has no finding of the model", i+1)
		}
	}
	if got := tried.Result.Completions; len(m.asked) != 1 || len(got) != 1 || got[0].InputTokens != 100 {
		t.Errorf("%d questions, listed are %+v", len(m.asked), got)
	}
}

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
		must.Do(t, set.Close())
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
