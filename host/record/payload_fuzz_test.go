package record

import (
	"bytes"
	"testing"
)

// A statement that is read encodes to the same bytes, whoever signed it.
func FuzzDecodePayload(f *testing.F) {
	var e encoder
	for _, entry := range []*Entry{{Header: &Header{}}, {Trial: &Trial{ID: "1"}}, {Closing: &Closing{}}, {Statement: &Statement{
		[]Resource{{"HEAD", map[string]string{"gitCommit": "1"}}}, "https://example.com/v1", []byte(`{"a":[1]}`),
	}}} {
		payload, err := encodePayload(&e, entry)
		if err == nil {
			f.Add(bytes.Clone(payload))
		}
	}
	f.Add([]byte(`{"predicate":{"header":{}}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var o opener
		entry, err := o.decodePayload(payload)
		if err != nil {
			return
		}
		again, err := encodePayload(&encoder{}, entry)
		if err != nil || !bytes.Equal(again, payload) {
			t.Errorf("%v: %q is written again as %q", err, payload, again)
		}
	})
}
