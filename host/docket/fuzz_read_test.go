package docket

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
)

// An opinion is read as JSON has it, or rejected with all that is wrong.
func FuzzReadOpinion(f *testing.F) {
	for _, seed := range []string{
		`{"text":"it is so","case_id":"7","court_name":"Shadow","metadata":{"a":"b"}}`,
		`{"text":"x","evidence":[{"source_ref":"log","content":"x","relevance_confidence":1}],"documents":[{"name":"log","text":"x"},{"name":"log","text":"y"}]}`,
		`{"text":"","metadata":{"a":1,"a":2}}`, `{"text":"\ud800"}`, `[]`, `{"text":"x"} {`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		entry, invalid := readOpinion(text)
		if invalid != nil {
			if len(invalid.Problems) == 0 || !utf8.ValidString(invalid.Error()) {
				t.Errorf("rejected with %q", invalid.Error())
			}
			return
		}
		var standard struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(text, &standard); err != nil {
			t.Fatalf("read, and the standard library says: %v", err)
		}
		if entry.Opinion.Text == "" || entry.Opinion.Text != standard.Text {
			t.Errorf("%q is read of %q", entry.Opinion.Text, text)
		}
	})
}

// A document is cut to its limit and is text, or is rejected.
func FuzzReadDocument(f *testing.F) {
	f.Add([]byte("a\nb\n"), 100)
	f.Add(bytes.Repeat([]byte("line\n"), 300), 600)
	f.Add([]byte("\xff\xfe"), 0)
	f.Add([]byte("a\x00b"), 10)
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		if limit > abi.DefaultDocumentBytes {
			return
		}
		d, cut, replaced, err := ReadDocument("log", bytes.NewReader(data), limit)
		if err != nil {
			if problem := (*LineError)(nil); !errors.As(err, &problem) {
				t.Errorf("error %v", err)
			}
			return
		}
		if !utf8.ValidString(d.Text) || (cut == nil && replaced == 0 && d.Text != string(data)) {
			t.Errorf("%q is read of %q", d.Text, data)
		}
		if cut != nil && (cut.Bytes != len(data) || cut.Kept >= cut.Bytes || cut.Kept < 0) {
			t.Errorf("%+v of %d bytes", cut, len(data))
		}
	})
}
