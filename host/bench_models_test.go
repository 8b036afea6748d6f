package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// BenchmarkAroundAModel is a trial of a real case whose reader asks an instant model on loopback three times, beside the same three
// requests without a host, and beside the trial of the same case in which nobody asks: what the court adds to the model, and the model to
// the court.
func BenchmarkAroundAModel(b *testing.B) {
	const answer = `{"findings": [], "probabilities": {"leak": 0.7, "load": 0.1, "quota": 0.2}}`
	content, err := json.Marshal(answer)
	if err != nil {
		b.Fatal(err)
	}
	reply := fmt.Appendf(nil, `{"choices": [{"finish_reason": "stop", "message": {"content": %s}}], "usage": {"prompt_tokens": 500, "completion_tokens": 40}}`, content)
	var question []byte // the last one
	instant := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		if question == nil {
			question = data
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(reply)
	}))
	b.Cleanup(instant.Close)
	definition, err := model.Parse("models.yaml", fmt.Appendf(nil, "providers:\n  here: {api: openai, url: %q, concurrency: 1}\nmodels:\n  reader: {provider: here, model: instant, context_tokens: 16000, answer_tokens: 1200}\n", instant.URL))
	if err != nil {
		b.Fatal(err)
	}
	set, err := model.Open(model.Config{Definition: definition})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = set.Close() })
	trials := func(models host.Models, completions int) func(b *testing.B) {
		return func(b *testing.B) {
			b.Helper()
			h, err := host.Open(b.Context(), host.Config{Pipeline: llm(b, pipelines.LLMDiscovery), Models: models, CacheDir: cacheDir})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = h.Close(context.Background()) })
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				t, err := h.Try(b.Context(), dispute())
				if err != nil || len(t.Result.Completions) != completions || len(t.Result.Fallbacks) > 0 {
					b.Fatalf("%+v, %v", t, err)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		}
	}
	b.Run("court", trials(set, 1))
	b.Run("nobody", trials(nil, 0))
	b.Run("direct", func(b *testing.B) {
		if !strings.Contains(string(question), "response_format") {
			b.Skip("the court asked nothing yet: run all of this benchmark")
		}
		b.ReportAllocs()
		before := cpuTime(b)
		for b.Loop() {
			for range 3 {
				response, err := http.Post(instant.URL+"/chat/completions", "application/json", bytes.NewReader(question))
				if err != nil {
					b.Fatal(err)
				}
				data, err := io.ReadAll(response.Body)
				_ = response.Body.Close()
				if err != nil || !json.Valid(data) {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
	})
}
