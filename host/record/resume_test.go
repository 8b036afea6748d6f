package record_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// Resume cuts off what an entry of this very record may begin with, and leaves everything else as it is.
func TestAccept_RE2_ResumeCutsNothingButATornEntry(t *testing.T) {
	t.Parallel()
	key, other := newKey(t, true), newKey(t, false)
	own, others := write(t, key, 2), write(t, other, 2)
	oneLine := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), nil) }
	lines := bytes.SplitAfter(own, []byte("\n"))
	entry := func(i int) []byte { return bytes.TrimSuffix(lines[i], []byte("\n")) }
	with := func(tail ...[]byte) []byte { return append(bytes.Join(lines[:3], nil), bytes.Join(tail, nil)...) }
	otherHeader := auditHeader()
	otherHeader.Instrumentation = "4"
	foreign := must.Get(record.Seal(key, &record.Entry{Header: formatted(otherHeader)}))(t)
	for name, c := range map[string]struct {
		data []byte
		cut  bool
	}{
		"empty":                          {nil, true},
		"notes in JSON":                  {[]byte(`{"notes":["buy milk"]}`), false},
		"a brace":                        {[]byte(`{`), true}, // the header begins with it
		"a word":                         {[]byte("x"), false},
		"an attestation of others":       {[]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[]}`), false},
		"the beginning of one":           {[]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30`), false},
		"a record without line feeds":    {oneLine(own), false},
		"another's without line feeds":   {oneLine(others), false},
		"a header":                       {entry(0), true},
		"half a header":                  {entry(0)[:900], true},
		"half a header of another key":   {others[:bytes.IndexByte(others, '\n')-20], false},
		"half a header of another run":   {foreign[:len(foreign)-200], false},
		"half an entry":                  {with(entry(3)[:900]), true},
		"an entry":                       {with(entry(3)), true},
		"two entries in a line":          {with(entry(3), entry(4)), false},
		"an entry and a brace":           {with(entry(3), []byte("{")), false},
		"a tail of another key":          {with(bytes.TrimSuffix(others[bytes.LastIndexByte(others[:len(others)-1], '\n')+1:], []byte("\n"))), false},
		"a note behind":                  {with([]byte("a note")), false},
		"zeros behind":                   {with(make([]byte, 4096)), false},
		"half an entry with a line feed": {with(entry(3)[:900], []byte("\n")), false},
		"half an entry, then a note":     {with(entry(3)[:900], []byte(" a note")), false},
		"half an entry, then an entry":   {with(entry(3)[:900], entry(3)), false},
		"a long text of letters":         {bytes.Repeat([]byte("A"), 1<<20), false},
	} {
		file := filepath.Join(t.TempDir(), "record")
		must.Do(t, os.WriteFile(file, c.data, 0o600))
		w, err := record.Resume(file, key, auditHeader(), -1, "")
		if !c.cut {
			if err == nil || !bytes.Equal(read(t, file), c.data) {
				t.Errorf("%s: %v, and %d bytes of %d are left", name, err, len(read(t, file)), len(c.data))
			}
			var fault *record.FaultError
			if !errors.Is(err, record.ErrNotBegun) && !errors.As(err, &fault) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		appendTrials(t, w, verify(t, read(t, file), key).Trials, 2)
		if err := w.Finish(); err != nil || !bytes.Equal(read(t, file), own) {
			t.Errorf("%s: %v, or another record than of a run that was never interrupted", name, err)
		}
	}
}

// What is not this key's torn entry is no record of an interrupted run for a reader, either.
func TestATailThatIsNoEntryIsAFault(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	data := write(t, key, 1)
	for tail, torn := range map[string]bool{"{": true, string(data[:100]): true, "junk": false, "{}": false, "\x00": false, string(data[:40]) + "x": false} {
		report := verify(t, append(bytes.Clone(data), tail...), key)
		if report.Fault == nil || report.Fault.Torn != torn || errors.Is(report.Fault, record.ErrTorn) != torn || report.Closed {
			t.Errorf("%q: %+v", tail, report)
		}
	}
}
