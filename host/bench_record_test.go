package host_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// BenchmarkRecordedDocket tries a docket without a record and with each kind of
// one, written and synced as the command does. The figures are per docket; CPU
// time, which other load does not change as much, is told beside them.
func BenchmarkRecordedDocket(b *testing.B) {
	entries := exampleDocket(b, "go-test-1.jsonl")[:200]
	for _, contents := range []record.Contents{"", record.ContentsDigests, record.ContentsReplay, record.ContentsBytes} {
		name := string(contents)
		if contents == "" {
			name = "none"
		}
		b.Run(name, func(b *testing.B) {
			h := open(b, host.Config{Record: contents})
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				var w *record.Writer
				if contents != "" {
					w = newWriter(b, h)
				}
				synced := time.Now()
				for tried := range h.TryAll(b.Context(), seq(entries), 0) {
					if tried.Err != nil {
						b.Fatal(tried.Err)
					}
					if w == nil {
						continue
					}
					if err := w.Append(tried.Record); err != nil {
						b.Fatal(err)
					}
					if time.Since(synced) > 50*time.Millisecond {
						if err := w.Sync(); err != nil {
							b.Fatal(err)
						}
						synced = time.Now()
					}
				}
				if w != nil {
					if err := w.Finish(); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N*len(entries)), "cpu-us/case")
		})
	}
}

func newWriter(b *testing.B, h *host.Host) *record.Writer {
	b.Helper()
	configuration, err := h.Configuration(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	header, err := h.RecordHeader(configuration)
	if err != nil {
		b.Fatal(err)
	}
	w, err := record.Create(filepath.Join(b.TempDir(), "record"), recordKey(b), header)
	if err != nil {
		b.Fatal(err)
	}
	return w
}
