package record_test

import (
	"bytes"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// closed is a record without trials, with the places of payload and signature in its last line.
func closed(t *testing.T, key *record.Key) (data []byte, payload, signature [2]int) {
	t.Helper()
	data = write(t, key, 0)
	begin := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
	between := func(before string) [2]int {
		from := begin + bytes.Index(data[begin:], []byte(before)) + len(before)
		return [2]int{from, from + bytes.IndexByte(data[from:], '"')}
	}
	return data, between(`"payload":"`), between(`"sig":"`)
}

// Go's decoder of base64 passes over line ends, strict or not: as escapes of JSON or as they are, they change bytes of the
// file and may not hold.
func TestAccept_SE1_NothingCanBePutIntoBase64(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	data, payload, signature := closed(t, key)
	if !verify(t, data, key).Complete() {
		t.Fatal("the record does not hold")
	}
	for _, place := range [][2]int{payload, signature} {
		for at := place[0]; at <= place[1]; at++ {
			for _, put := range []string{`\n`, `\r`, `\u000a`, "\n", "\r", "\r\n", "=", "A", "AAAA", "\\", " ", "\x00"} {
				changed := slices.Concat(data[:at], []byte(put), data[at:])
				if report := verify(t, changed, key); report.Complete() || report.Fault == nil || report.Fault.Entry != 1 {
					t.Fatalf("%q at %d of the line holds: %+v", put, at, report)
				}
			}
		}
	}
	// A line that means the same: other escapes, blanks, other names of fields, another order.
	line := string(data[bytes.LastIndexByte(data[:len(data)-1], '\n')+1:])
	for _, other := range []string{
		strings.Replace(line, `"payload"`, `"Payload"`, 1), strings.Replace(line, `:"`, `: "`, 1),
		strings.Replace(line, "vnd.in-toto", `vnd.in\u002dtoto`, 1), strings.Replace(line, `}]}`, `}],"x":1}`, 1),
		strings.Replace(line, `"keyid":"e`, `"keyid":"\u0065`, 1), strings.Replace(line, "\n", "\r\n", 1), " " + line,
		strings.Replace(line, "\n", " \n", 1), strings.Replace(line, `[{`, `[{"keyid":"a","sig":""},{`, 1),
	} {
		if other == line {
			t.Fatalf("nothing was replaced in %s", line)
		}
		changed := strings.Replace(string(data), line, other, 1)
		if report := verify(t, []byte(changed), key); report.Fault == nil || report.Fault.Entry != 1 {
			t.Errorf("%s holds", other)
		}
	}
}

// Base64 inside of what is signed has one text, too: a key that signs another one makes no entry.
func TestBase64InsideOfAnEntryHasOneText(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	for _, change := range []func(string) string{
		func(s string) string { return strings.Replace(s, `"court":"gA=="`, `"court":"g\nA=="`, 1) },
		func(s string) string { return strings.Replace(s, `"court":"gA=="`, `"court":"gA\r\n=="`, 1) },
		func(s string) string { return strings.Replace(s, `"court":"gA=="`, `"court":"gB=="`, 1) },
		func(s string) string { return strings.Replace(s, `"court":`, `"unknown":1,"court":`, 1) },
		func(s string) string { return s + " " },
	} {
		data := write(t, key, 0)
		line, _, _ := bytes.Cut(data, []byte("\n"))
		var envelope dsse.Envelope
		must.Do(t, json.Unmarshal(line, &envelope))
		payload := must.Get(envelope.DecodeB64Payload())(t)
		changed := change(string(payload))
		if changed == string(payload) {
			t.Fatal("nothing was changed")
		}
		signed := must.Get(record.SealEnvelope(key, []byte(changed)))(t)
		if report := verify(t, append(signed, '\n'), key); report.Fault == nil || !strings.Contains(report.Fault.Error(), "the statement") {
			t.Errorf("%v", report.Fault)
		}
	}
}

// libraryKey verifies as the library wants it.
type libraryKey struct{ *record.Key }

func (k libraryKey) Verify(_ context.Context, data, signature []byte) error {
	if !record.Verifies(k.Key, data, signature) {
		return errors.New("no")
	}
	return nil
}
func (k libraryKey) KeyID() (string, error) { return k.ID(), nil }
func (libraryKey) Public() crypto.PublicKey { return nil }

// Lines are envelopes for others, too: the library of DSSE verifies them.
func TestLinesAreEnvelopesOfDSSE(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	verifier := must.Get(dsse.NewEnvelopeVerifier(libraryKey{key}))(t)
	for line := range bytes.Lines(write(t, key, 2)) {
		var envelope dsse.Envelope
		must.Do(t, json.Unmarshal(line, &envelope))
		must.Get(verifier.Verify(t.Context(), &envelope))(t)
	}
}

// repeated is an endless text.
type repeated string

func (r repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], r)
	}
	return n, nil
}

// What nobody signed is rejected before much of it is read.
func TestUnsignedInputIsRejectedEarly(t *testing.T) {
	t.Parallel()
	const begin = `{"payloadType":"application/vnd.in-toto+json","payload":"`
	for name, c := range map[string]struct {
		in   io.Reader
		most int64
	}{
		"zeros":           {repeated("\x00"), 1 << 20},
		"letters":         {repeated("a"), 1 << 20},
		"signatures":      {io.MultiReader(strings.NewReader(begin+`AAAA","signatures":[`), repeated(`{"keyid":"a","sig":"AAAA"},`)), 1 << 20},
		"a long key id":   {io.MultiReader(strings.NewReader(begin+`AAAA","signatures":[{"keyid":"`), repeated("a")), 1 << 20},
		"a long sig":      {io.MultiReader(strings.NewReader(begin+`AAAA","signatures":[{"keyid":"a","sig":"`), repeated("a")), 1 << 20},
		"text behind it":  {io.MultiReader(strings.NewReader(begin+`AAAA","signatures":[{"keyid":"a","sig":"AAAA"}]}`), repeated("a")), 1 << 20},
		"an endless line": {io.MultiReader(strings.NewReader(begin), repeated("A")), record.MaxEntryBytes + 1<<20},
	} {
		in := &counted{in: c.in}
		report, err := record.Verify(t.Context(), in, newKey(t, true), nil)
		if err != nil || report.Fault == nil || report.Fault.Torn || in.n > c.most {
			t.Errorf("%s: %v, %+v, after %d bytes", name, err, report, in.n)
		}
	}
}

type counted struct {
	in io.Reader
	n  int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

// A writer writes no entry that no reader would read.
func TestTooLongAnEntryIsNotWritten(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	name := t.TempDir() + "/record"
	w := must.Get(record.Create(name, key, header()))(t)
	must.Do(t, w.Append(trial("a")))
	length := len(read(t, name))
	line := bytes.LastIndexByte(read(t, name)[:length-1], '\n')
	record.Limit(w, length-line-2)
	check.Is(t, w.Append(trial("b")), record.ErrTooLong)
	record.Limit(w, length-line-1)
	must.Do(t, w.Append(trial("b")))
	must.Do(t, w.Finish())
	if report := verify(t, read(t, name), key); !report.Complete() || report.Trials != 2 {
		t.Errorf("%+v", report)
	}
}
