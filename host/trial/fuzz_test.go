package trial

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A result that was read is written the same way each time.
func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"id":"1","final":{"status":"affirmed","classification":"a","confidence":0.7,"cause":null},"failure":{"code":"x","problems":null}}`))
	f.Add([]byte(`{"id":"1","final":{"status":null}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var one, two Result
		if json.Unmarshal(data, &one) != nil {
			return
		}
		first := must.Get(json.Marshal(&one))(t)
		if err := json.Unmarshal(first, &two); err != nil {
			t.Fatalf("%v: %s", err, first)
		}
		if second, err := json.Marshal(&two); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%v\n%s\nis written again as\n%s", err, first, second)
		}
	})
}
