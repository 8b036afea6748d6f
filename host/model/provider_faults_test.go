package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	p := serve(t, says(`{"label": "a"}`))
	s, _ := open(t, fmt.Sprintf(`providers:
  here: {api: openai, url: %q}
models:
  reader: {provider: here, model: tiny, context_tokens: 8000, answer_tokens: 500, answer_limit: max_completion_tokens, parameters: {seed: null, reasoning: {effort: low}}}
  other: {provider: here, model: tiny, context_tokens: 8000, answer_tokens: 500, schemas: prompt}
  older: {provider: here, model: tiny, context_tokens: 8000, answer_tokens: 500, schemas: json_object, parameters: {seed: null}}
`, p.URL+"/v1/"))
	complete(t, s, ask(conforming))
	complete(t, s, ask(conforming, func(c *abi.Completion) { c.Model = "other" }))
	complete(t, s, ask(conforming, func(c *abi.Completion) { c.Model, c.Messages = "other", c.Messages[1:] }))
	complete(t, s, ask(conforming, func(c *abi.Completion) { c.Model, c.Messages = "older", c.Messages[1:] }))
	const schema = "{\"type\":\"object\",\"properties\":{\"label\":{\"enum\":[\"a\",\"b\"]}},\"required\":[\"label\"],\"additionalProperties\":false}"
	for i, want := range []string{
		"map[max_completion_tokens:200 messages:[map[content:You judge. role:system] map[content:Which fault? role:user]] model:tiny reasoning:map[effort:low] response_format:map[json_schema:map[name:answer schema:map[additionalProperties:false properties:map[label:map[enum:[a b]]] required:[label] type:object]] type:json_schema] temperature:0.5]",
		"map[max_tokens:200 messages:[map[content:You judge.\n\nAnswer with one JSON value that conforms to this JSON Schema, and with nothing else:\n" + schema + " role:system] map[content:Which fault? role:user]] model:tiny seed:7 temperature:0.5]",
		"map[max_tokens:200 messages:[map[content:Answer with one JSON value that conforms to this JSON Schema, and with nothing else:\n" + schema + " role:system] map[content:Which fault? role:user]] model:tiny seed:7 temperature:0.5]",
		"map[max_tokens:200 messages:[map[content:Which fault? role:user]] model:tiny response_format:map[schema:map[additionalProperties:false properties:map[label:map[enum:[a b]]] required:[label] type:object] type:json_object] temperature:0.5]",
	} {
		check.Equal(t, fmt.Sprint(p.asked()[i]), want, "sent")
	}
	check.Equal(t, p.headers[0].Get("Authorization"), "", "a key was sent")
}

func TestRetries(t *testing.T) {
	t.Parallel()
	var c *clock
	answers := []func(int, http.ResponseWriter, *http.Request){
		status(500, "Content-Type", "text/plain", ""),
		status(429, "Retry-After", "17", ""),
		func(n int, w http.ResponseWriter, r *http.Request) {
			status(503, "Retry-After", c.Now().Add(40*time.Second).Format(http.TimeFormat), "")(n, w, r)
		},
		status(502, "Retry-After", "soon", ""), status(529, "Retry-After", "-1", ""),
		says("yes"),
	}
	p := serve(t, func(n int, w http.ResponseWriter, r *http.Request) { answers[n](n, w, r) })
	s, fake := open(t, strings.Replace(file(p.URL, ""), "retries: 2", "retries: 9", 1), func(c *model.Config) { c.Random = func() float64 { return 0.5 } })
	c = fake
	expect(t, complete(t, s, ask()), abi.CompletionAnswered, "")
	want := []time.Duration{750 * time.Millisecond, 17 * time.Second, 39250 * time.Millisecond, 6 * time.Second, 12 * time.Second}
	if !slices.Equal(c.slept, want) {
		t.Errorf("waited %v, want %v", c.slept, want)
	}
}

// A provider that never ends, or that sends a byte now and then, has its timeout; it is not asked again for what it may charge twice, nor
// for other samples.
func TestTimeout(t *testing.T) {
	t.Parallel()
	var c *clock
	p := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			w.Header().Set("Content-Type", "application/json")
			w.(http.Flusher).Flush()
		}
		for range 10 {
			_, _ = io.WriteString(w, " ")
			w.(http.Flusher).Flush()
			c.Advance(7 * time.Second)
		}
		<-r.Context().Done()
	})
	s, fake := open(t, file(p.URL, ""))
	c = fake
	expect(t, complete(t, s, ask(samples(2))), abi.CompletionFailed, "here: ")
	check.Equal(t, len(p.asked()), 1, "requests for two samples")
}

// A context that is cancelled ends the request at once, and the completion with its error.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	p := serve(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
		close(ended)
	})
	s, _ := open(t, file(p.URL, ""))
	check.Is(t, check.Err(s.Complete(ctx, ask(samples(4)), trial.ModelUsage{})), context.Canceled)
	<-ended
	if _, err := s.Complete(ctx, ask(), trial.ModelUsage{}); !errors.Is(err, context.Canceled) || len(p.asked()) != 1 {
		t.Errorf("%v, %d requests", err, len(p.asked()))
	}
}

// A context that is cancelled ends the wait before a retry, by the system's clock, too.
func TestCancelledBeforeARetry(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := serve(t, status(503, "Retry-After", "50", ""))
	s, _ := open(t, file(p.URL, ""), func(c *model.Config) {
		c.Clock = nil
		c.Random = func() float64 {
			cancel()
			return 0
		}
	})
	if _, err := s.Complete(ctx, ask(), trial.ModelUsage{}); !errors.Is(err, context.Canceled) || len(p.asked()) != 1 {
		t.Errorf("%v, %d requests", err, len(p.asked()))
	}
}

func TestRateAndConcurrency(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int32
	p := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), running.Add(1)))
		time.Sleep(2 * time.Millisecond)
		says("yes")(n, w, r)
		running.Add(-1)
	})
	s, c := open(t, strings.Replace(file(p.URL, ""), "timeout: 60s, retries: 2", "timeout: 1h, retries: 0, rate: 5, concurrency: 2", 1))
	var group sync.WaitGroup
	for i := range 3 {
		group.Go(func() {
			expect(t, complete(t, s, ask(samples(4), func(c *abi.Completion) { c.Seed = 100 * i })), abi.CompletionAnswered, "")
		})
	}
	group.Wait()
	if waited := c.Now().Sub(newClock().Now()); most.Load() > 2 || waited < 2*time.Minute || waited > 5*time.Minute {
		t.Errorf("%d at the same time, 12 requests waited %s", most.Load(), waited)
	}
}

func TestSamples(t *testing.T) {
	t.Parallel()
	p := serve(t, nil)
	p.answer = func(_ int, w http.ResponseWriter, _ *http.Request) {
		asked := p.asked()
		seed := asked[len(asked)-1]["seed"]
		if seed == 9.0 {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"choices": [{"finish_reason": "stop", "message": {"content": ""}}]}`)
			return
		}
		reply(w, fmt.Sprint("seed ", seed), "stop")
	}
	s, _ := open(t, strings.Replace(file(p.URL, ""), "retries: 2", "retries: 0, concurrency: 1", 1))
	got := complete(t, s, ask(samples(4)))
	expect(t, got, abi.CompletionPartial, "1 of 4 samples have no answer: here: the answer is empty")
	if !slices.Equal(got.Answers, []string{"seed 7", "seed 8", "seed 10"}) || got.InputTokens != 331 { // 31 are estimated for the empty answer
		t.Errorf("%+v", got)
	}
	large := serve(t, says(strings.Repeat("x", 200<<10)))
	s, _ = open(t, file(large.URL, ""))
	got = complete(t, s, ask(samples(8)))
	expect(t, got, abi.CompletionPartial, "3 of 8 samples have no answer: the answers have more than 1048576 bytes together")
}

// What a provider does not count, or counts wrongly, is estimated.
func TestUsageIsEstimated(t *testing.T) {
	t.Parallel()
	p := serve(t, status(200, "Content-Type", "application/json", `{"choices": [{"message": {"content": "123456"}}], "usage": {"prompt_tokens": -5, "completion_tokens": 99999999999}}`))
	s, _ := open(t, file(p.URL, ""))
	if got := complete(t, s, ask()); got.InputTokens != 31 || got.OutputTokens != 3 {
		t.Errorf("%+v", got)
	}
}

func TestAnthropic(t *testing.T) {
	t.Parallel()
	const ok = "application/json"
	said := func(body string) func(int, http.ResponseWriter, *http.Request) {
		return status(200, "Content-Type", ok, body)
	}
	const used = `"usage": {"input_tokens": 50, "output_tokens": 5}`
	for _, c := range []struct {
		name    string
		answer  func(int, http.ResponseWriter, *http.Request)
		change  func(*abi.Completion)
		outcome abi.CompletionOutcome
		detail  string
		answers string
	}{
		{"text", said(`{"content": [{"type": "text", "text": "y"}, {"type": "other"}, {"type": "text", "text": "es"}], "stop_reason": "end_turn", ` + used + `}`), nil, abi.CompletionAnswered, "", "[yes]"},
		{"a tool", said(`{"content": [{"type": "text", "text": "I think"}, {"type": "tool_use", "name": "answer", "input": {"label": "a"}}], "stop_reason": "tool_use", ` + used + `}`), conforming, abi.CompletionAnswered, "", `[{"label":"a"}]`},
		{"a list", said(`{"content": [{"type": "text", "text": "[1]"}], ` + used + `}`), func(c *abi.Completion) { c.Schema = `{"type": "array"}` }, abi.CompletionAnswered, "", "[[1]]"},
		{"cut", said(`{"content": [], "stop_reason": "max_tokens"}`), nil, abi.CompletionTooLong, "the answer was cut at its limit of 200 tokens", "[]"},
		{"too long", said(`{"content": [], "stop_reason": "model_context_window_exceeded"}`), nil, abi.CompletionTooLong, "do not fit into the context", "[]"},
		{"rejected", said(`{"content": [], "stop_reason": "refusal"}`), nil, abi.CompletionFailed, "there: the model rejects the question", "[]"},
		{"empty", said(`{}`), nil, abi.CompletionFailed, "there: the answer is empty", "[]"},
		{"an error", status(400, "Content-Type", ok, `{"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}}`), nil, abi.CompletionTooLong, "there: 400 Bad Request: prompt is too long: 9 > 8, invalid_request_error", "[]"},
		{"overloaded", status(529, "Content-Type", ok, `{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}`), nil, abi.CompletionFailed, "there: 529: Overloaded, overloaded_error (2 requests)", "[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, c.answer)
			s, _ := open(t, fmt.Sprintf(`providers:
  there: {api: anthropic, url: %q, key_env: TEST_KEY, retries: 1}
models:
  reader: {provider: there, model: big, context_tokens: 8000, answer_tokens: 500, price: {input: 1, output: 2}}
`, p.URL))
			question := ask(func(a *abi.Completion) {
				a.Temperature = 1.5
				if c.change != nil {
					c.change(a)
				}
			})
			got := complete(t, s, question)
			expect(t, got, c.outcome, c.detail)
			if fmt.Sprint(got.Answers) != c.answers || got.Outcome == abi.CompletionAnswered && (got.InputTokens != 50 || got.Cost != 60/1e6) {
				t.Errorf("%+v", got)
			}
			sent, header := p.asked()[0], p.headers[0]
			if header.Get("X-Api-Key") != plantedKey || header.Get("Anthropic-Version") != "2023-06-01" || sent["temperature"] != 1.0 || sent["max_tokens"] != 200.0 ||
				!strings.HasPrefix(fmt.Sprint(sent["system"]), "You judge.") || fmt.Sprint(sent["messages"]) != "[map[content:Which fault? role:user]]" {
				t.Errorf("sent %v %v", header, sent)
			}
			if (c.name == "a tool") != (sent["tools"] != nil) || (c.name == "a list") != strings.Contains(fmt.Sprint(sent["system"]), "JSON Schema") {
				t.Errorf("sent %v", sent)
			}
		})
	}
}
