package model_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// BenchmarkComplete is a completion by an instant model, with 8 KB of question and a schema, beside the same request without a host: the
// difference is what the host adds.
func BenchmarkComplete(b *testing.B) {
	instant := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		reply(w, `{"label": "a"}`, "stop")
	}))
	b.Cleanup(instant.Close)
	d, err := model.Parse("models.yaml", []byte(file(instant.URL, "budgets: {docket: {money: 1000000}}")))
	if err != nil {
		b.Fatal(err)
	}
	question := ask(conforming, func(c *abi.Completion) { c.Messages[1].Content = strings.Repeat("A line. ", 1000) })
	b.Run("host", func(b *testing.B) {
		s, err := model.Open(model.Config{Definition: d, Getenv: func(string) string { return plantedKey }})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if got, err := s.Complete(b.Context(), question, trial.ModelUsage{}); err != nil || got.Outcome != abi.CompletionAnswered {
				b.Fatalf("%+v, %v", got, err)
			}
		}
	})
	b.Run("direct", func(b *testing.B) {
		client := &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		b.ReportAllocs()
		for b.Loop() {
			body, _ := json.Marshal(map[string]any{"model": "tiny", "messages": []any{map[string]any{"role": "user", "content": question.Messages[1].Content}}})
			response, err := client.Post(instant.URL+"/chat/completions", "application/json", bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			data, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil || model.DecodeReply(model.OpenAI, data, false) != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cassette", func(b *testing.B) {
		name := b.TempDir() + "/tape"
		once := func(open func(string) (*model.Cassette, error), run func(ask func())) {
			tape, err := open(name)
			if err != nil {
				b.Fatal(err)
			}
			s, err := model.Open(model.Config{Definition: d, Cassette: tape, Getenv: func(string) string { return plantedKey }})
			if err != nil {
				b.Fatal(err)
			}
			run(func() {
				if got, err := s.Complete(b.Context(), question, trial.ModelUsage{}); err != nil || got.Outcome != abi.CompletionAnswered {
					b.Fatalf("%+v, %v", got, err)
				}
			})
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		}
		once(model.RecordCassette, func(ask func()) { ask() })
		once(model.PlayCassette, func(ask func()) {
			b.ReportAllocs()
			for b.Loop() {
				ask()
			}
		})
	})
}
