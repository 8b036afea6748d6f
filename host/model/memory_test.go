package model_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/model"
)

// An answer of millions of empty items takes a small multiple of its bytes, not a structure for each item.
func TestAnswersOfManyItemsTakeLittleMemory(t *testing.T) { // not parallel: it counts what is allocated
	const size = 1_000_000
	many := func(item string) string { return "[" + strings.Repeat(item+",", size/(len(item)+1)) + item + "]" }
	for _, c := range []struct {
		name, body string
		api        model.API
	}{
		{"choices", `{"choices": ` + many("{}") + `}`, model.OpenAI},
		{"parts", `{"content": ` + many("{}") + `}`, model.Anthropic},
		{"counts", `{"usage": {` + strings.Repeat(`"":0,`, size/5) + `"":0}}`, model.OpenAI},
		{"an error", `{"error": {` + strings.Repeat(`"":0,`, size/5) + `"":0}}`, model.OpenAI},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := model.DecodeReply(c.api, []byte(c.body), false)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 8*size {
			t.Errorf("%s: %d bytes for %d, %v", c.name, took, len(c.body), err)
		}
	}
}
