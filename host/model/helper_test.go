package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var _ host.Models = (*model.Set)(nil)

// plantedKey is what no output may have.
const plantedKey = "sk-planted/0123456789+abcdef"

// clock runs as fast as somebody sleeps on it.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[int]timer
	next   int
	slept  []time.Duration
}

type timer struct {
	at time.Time
	do func()
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), timers: map[int]timer{}}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	c.slept = append(c.slept, d)
	c.mu.Unlock()
	c.Advance(d)
	return ctx.Err()
}

func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := c.next
	c.next++
	c.timers[id] = timer{c.now.Add(d), f}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, ok := c.timers[id]
		delete(c.timers, id)
		return ok
	}
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for id, t := range c.timers {
		if !t.at.After(c.now) {
			due = append(due, t.do)
			delete(c.timers, id)
		}
	}
	c.mu.Unlock()
	for _, do := range due {
		do()
	}
}

// server is a provider on loopback that answers as it is told.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []map[string]any
	headers  []http.Header
	answer   func(n int, w http.ResponseWriter, r *http.Request)
}

func serve(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *server {
	t.Helper()
	s := &server{answer: answer}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var fields map[string]any
	_ = json.Unmarshal(body, &fields)
	s.mu.Lock()
	n := len(s.requests)
	s.requests, s.headers = append(s.requests, fields), append(s.headers, r.Header)
	s.mu.Unlock()
	s.answer(n, w, r)
}

func (s *server) asked() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// says answers with texts, the last one again and again; each took 100 and 10 tokens.
func says(texts ...string) func(int, http.ResponseWriter, *http.Request) {
	return func(n int, w http.ResponseWriter, _ *http.Request) { reply(w, texts[min(n, len(texts)-1)], "stop") }
}

func reply(w http.ResponseWriter, text, finish string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	content, _ := json.Marshal(text)
	fmt.Fprintf(w, `{"choices":[{"index":0,"finish_reason":%q,"message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`, finish, content)
}

// status answers with a code and a text.
func status(code int, header, value, body string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(header, value)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// file is a models.yaml with one model at an address; more comes at its end.
func file(url, more string) string {
	return fmt.Sprintf(`providers:
  here: {api: openai, url: %q, key_env: TEST_KEY, timeout: 60s, retries: 2}
models:
  reader: {provider: here, model: tiny, context_tokens: 8000, answer_tokens: 500, price: {input: 1, output: 10}}
%s`, url, more)
}

// open makes a set of a models.yaml with the planted key and a clock of its own.
func open(t *testing.T, text string, change ...func(*model.Config)) (*model.Set, *clock) {
	t.Helper()
	d := must.Get(model.Parse("models.yaml", []byte(text)))(t)
	c := newClock()
	config := model.Config{
		Definition: d, Clock: c, Random: func() float64 { return 0 },
		Getenv: func(name string) string { return map[string]string{"TEST_KEY": plantedKey}[name] },
	}
	for _, do := range change {
		do(&config)
	}
	s := must.Get(model.Open(config))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s, c
}

// ask is a question; change makes it another one.
func ask(change ...func(*abi.Completion)) abi.Completion {
	c := abi.Completion{
		Model: "reader", Messages: []abi.ChatMessage{{Role: abi.ChatSystem, Content: "You judge."}, {Role: abi.ChatUser, Content: "Which fault?"}},
		AnswerTokens: 200, Samples: 1, Temperature: 0.5, Seed: 7,
	}
	for _, do := range change {
		do(&c)
	}
	return c
}

func samples(n int) func(*abi.Completion) { return func(c *abi.Completion) { c.Samples = n } }

func conforming(c *abi.Completion) {
	c.Schema = `{"type": "object", "properties": {"label": {"enum": ["a", "b"]}}, "required": ["label"], "additionalProperties": false}`
}

func complete(t *testing.T, s *model.Set, c abi.Completion, asked ...trial.ModelUsage) abi.CompletionResult {
	t.Helper()
	var before trial.ModelUsage
	if len(asked) > 0 {
		before = asked[0]
	}
	result := must.Get(s.Complete(t.Context(), c, before))(t)
	if (result.Detail == "") != (result.Outcome == abi.CompletionAnswered) || strings.ContainsAny(result.Detail, "\n\r") || result.Model != c.Model {
		t.Errorf("detail %q of %s", result.Detail, result.Outcome)
	}
	return result
}

// expect checks outcome and detail.
func expect(t *testing.T, got abi.CompletionResult, outcome abi.CompletionOutcome, detail string) {
	t.Helper()
	if got.Outcome != outcome || !strings.Contains(got.Detail, detail) || detail == "" && got.Detail != "" {
		t.Errorf("%s: %q\nwant %s: %q", got.Outcome, got.Detail, outcome, detail)
	}
}
