package record_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/record"
)

func none(*record.Trial) error { return nil }

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
	foreign, err := record.Seal(key, &record.Entry{Header: formatted(otherHeader)})
	if err != nil {
		t.Fatal(err)
	}
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
		if err := os.WriteFile(file, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := record.Resume(file, key, auditHeader(), none)
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
		appendTrials(t, w, w.Trials(), 2)
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

// Two start on one record at once: one of them writes it, and the other is told so.
func TestTwoStartsMakeOneRecord(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	dir := t.TempDir()
	for i := range 300 {
		name := filepath.Join(dir, "record"+strings.Repeat("x", i%50))
		var writers [3]*record.Writer
		var errs [3]error
		var all sync.WaitGroup
		for n := range writers {
			all.Go(func() {
				if n == 0 {
					writers[n], errs[n] = record.Create(name, key, header())
				} else {
					writers[n], errs[n] = record.Resume(name, key, header(), none)
				}
			})
		}
		all.Wait()
		writing := 0
		for n, w := range writers {
			if errs[n] != nil {
				if !errors.Is(errs[n], record.ErrInUse) && !errors.Is(errs[n], os.ErrExist) {
					t.Fatalf("run %d: %v", i, errs[n])
				}
				continue
			}
			writing++
			if err := w.Finish(); err != nil {
				t.Fatal(err)
			}
		}
		if writing != 1 {
			t.Fatalf("run %d: %d write, %v", i, writing, errs)
		}
		if report := verify(t, read(t, name), key); !report.Complete() {
			t.Fatalf("run %d: %+v", i, report)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// Another process resumes the file that Create just made, before it is locked: it is that one's, whatever Create finds.
func TestCreateLeavesTheFileToWhoLockedIt(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	for _, done := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "record")
		var resumed *record.Writer
		finish := func() {
			if err := resumed.Finish(); err != nil {
				t.Fatal(err)
			}
		}
		_, err := record.CreateAfter(file, key, header(), func() {
			var err error
			if resumed, err = record.Resume(file, key, header(), none); err != nil {
				t.Fatal(err)
			}
			if done {
				finish()
			}
		})
		want := record.ErrInUse
		if done {
			want = os.ErrExist
		} else {
			finish()
		}
		if !errors.Is(err, want) {
			t.Errorf("done %t: %v, want %v", done, err, want)
		}
		if report := verify(t, read(t, file), key); !report.Complete() || report.Entries != 2 {
			t.Errorf("done %t: %+v", done, report)
		}
	}
	// Another put its own file in the place.
	file := filepath.Join(t.TempDir(), "record")
	_, err := record.CreateAfter(file, key, header(), func() {
		if err := errors.Join(os.Remove(file), os.WriteFile(file, []byte("another's"), 0o600)); err != nil {
			t.Fatal(err)
		}
	})
	if !errors.Is(err, os.ErrExist) || string(read(t, file)) != "another's" {
		t.Errorf("%v, %q", err, read(t, file))
	}
}
