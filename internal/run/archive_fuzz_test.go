package run

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzArchive holds that no archive makes a panic, that reports in it are called after it, and that what is unpacked is bounded.
func FuzzArchive(f *testing.F) {
	f.Add([]byte(zipOf(f, "a.xml", suite, "../b.json", events, "c.zip", "x")))
	f.Add([]byte(zipOf(f, "a.sarif", findings, "rp.json", exportOne, "a.jsonl", caseLine)))
	f.Add([]byte(gzipOf(f, suite)))
	f.Add([]byte(gzipOf(f, gzipOf(f, events))))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &Dockets{}
		d.list = d.archive("x.zip", bytes.NewReader(data), int64(len(data)), Auto)
		for entry, err := range d.Entries("") {
			if err == nil && !strings.HasPrefix(entry.Source, "x.zip/") {
				t.Errorf("a case of %q", entry.Source)
			}
		}
		stream, err := d.stream(t.Context(), &input{name: "x", format: Auto}, bytes.NewReader(data), func() error { return nil }, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range (&Dockets{list: stream}).Entries("") {
			_ = err
		}
	})
}
