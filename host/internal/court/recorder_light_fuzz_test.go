package court

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// An answer of Light in a record is read and written again as the same.
func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"classification":"a","confidence":0.5,"reasoning":"r","evidence":[{"source_ref":"l","content":"c","relevance_confidence":1}]}`))
	f.Add([]byte(`{"classification":"a","confidence":0.5,"reasoning":"r","remand":{"answers":[{"question_id":"q","status":"found"}],"challenged":null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		answer, err := parseAnswer(text)
		if err != nil {
			return
		}
		first := must.Get(json.Marshal(answerJSONOf(&answer)))(t)
		again, err := parseAnswer(first)
		if err != nil {
			t.Fatalf("%v: %s", err, first)
		}
		if second, err := json.Marshal(answerJSONOf(&again)); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%v\n%s\nis written again as\n%s", err, first, second)
		}
	})
}
