package record_test

import (
	"bytes"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// Whatever a file holds, verifying it comes to an end, and nothing holds but what the key signed.
func FuzzVerify(f *testing.F) {
	key := newKey(f, true)
	whole := write(f, key, 2)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(bytes.Replace(whole, []byte(`"sig":"`), []byte(`"sig":"A`), 1))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		report := verify(t, data, key)
		if report.Entries == 0 {
			return
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		if held := bytes.Join(lines[:report.Entries], nil); !bytes.HasPrefix(whole, held) {
			t.Errorf("%d entries hold that nobody signed", report.Entries)
		}
		if report.Complete() && !bytes.Equal(data, whole) {
			t.Error("another record is complete")
		}
	})
}

// A key is read or rejected, and never by a panic.
func FuzzParseKey(f *testing.F) {
	for _, shared := range []bool{false, true} {
		text := must.Get(newKey(f, shared).PEM())(f)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		key, err := record.ParseKey(text)
		if (err == nil) != (key != nil && key.ID() != "") {
			t.Errorf("%v, %v", key, err)
		}
	})
}
