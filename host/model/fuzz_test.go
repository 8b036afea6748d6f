package model_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/model"
)

// FuzzParse: whatever stands in a file of models, it is read or every fault names the file.
func FuzzParse(f *testing.F) {
	f.Add(sound)
	f.Add("providers: {a: {api: openai, url: 'https://x', key: y}}\nmodels: {m: {parameters: {a: {b: [1, .inf]}}}}\nbudgets: {call: {tokens: 0}}")
	f.Add("&a [*a, *a]")
	f.Add("? [a]\n: b\n<<: c")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := model.Parse("m.yaml", []byte(text))
		if err == nil {
			if _, err := model.Open(model.Config{Definition: d, Getenv: func(string) string { return "" }}); err != nil {
				t.Error(err)
			}
			return
		}
		for line := range strings.Lines(err.Error()) {
			if !strings.HasPrefix(line, "m.yaml:") {
				t.Errorf("%q", line)
			}
		}
	})
}

// FuzzReply: whatever a provider answers, there is an answer or one line.
func FuzzReply(f *testing.F) {
	f.Add([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":"x","refusal":null}}],"usage":{"prompt_tokens":1}}`))
	f.Add([]byte(`{"content":[{"type":"tool_use","input":{"a":1}}],"stop_reason":"max_tokens","usage":{"input_tokens":1e3}}`))
	f.Add([]byte(`{"error":{"message":["x"],"code":7}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		_ = model.FaultText(body)
		for _, object := range []bool{true, false} {
			for _, api := range []model.API{model.OpenAI, model.Anthropic} {
				if err := model.DecodeReply(api, body, object); err != nil && (err.Error() == "" || strings.ContainsAny(err.Error(), "\n\x1b")) {
					t.Errorf("%q", err)
				}
			}
		}
	})
}

// FuzzCassette: what is read of a cassette has its bytes again, and what is rejected is so with its line.
func FuzzCassette(f *testing.F) {
	line := `{"digest":"` + strings.Repeat("0123456789abcdef", 4) + `","alias":"reader","model":"tiny","seed":1,"answer":"yes","input_tokens":1,"output_tokens":2}`
	f.Add([]byte("{\"cassette\":1}\n" + line + "\n"))
	f.Add([]byte("{\"cassette\":1}\n" + strings.Replace(line, `"answer":"yes"`, `"failure":"failed","detail":"x"`, 1) + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		again, err := model.ParseCassette(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "tape:") {
				t.Errorf("%v", err)
			}
			return
		}
		if third, err := model.ParseCassette(again); err != nil || !bytes.Equal(again, third) {
			t.Errorf("%q becomes %q: %v", again, third, err)
		}
	})
}
