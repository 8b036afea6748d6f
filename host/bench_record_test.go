package host_test

import (
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// BenchmarkRecordedDocket tries a docket without a record and with each kind of
// one, written and synced as the command does. The figures are per docket; CPU
// time, which other load does not change as much, is told beside them.
func BenchmarkRecordedDocket(b *testing.B) {
	recordings(b, exampleDocket(b, "go-test-1.jsonl")[:200], nil)
}

// BenchmarkRecordedAudits is the same with an audit of every verdict.
func BenchmarkRecordedAudits(b *testing.B) {
	recordings(b, exampleDocket(b, "go-test-1.jsonl")[:100], openAuditor(b, host.AuditConfig{}))
}

// recordings measures each kind of record. The Auditor may be nil.
func recordings(b *testing.B, entries []docket.Entry, a *host.Auditor) {
	b.Helper()
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
				trials := h.TryAll(b.Context(), seq(entries), 0)
				if a != nil {
					trials = a.AuditTrials(b.Context(), trials, "bench", 0)
				}
				if contents == "" {
					give(b, trials, nil)
					continue
				}
				w := newWriter(b, h, a)
				give(b, trials, w)
				if err := w.Finish(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N*len(entries)), "cpu-us/case")
		})
	}
}

// give takes trials as the command does, into a record that may be nil.
func give(b *testing.B, trials iter.Seq[host.Tried], w *record.Writer) {
	b.Helper()
	synced := time.Now()
	for tried := range trials {
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
}

func newWriter(b *testing.B, h *host.Host, a *host.Auditor) *record.Writer {
	b.Helper()
	configuration, err := h.Configuration(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	header, err := h.RecordHeader(configuration)
	if err == nil && a != nil {
		header.Audit, err = a.RecordHeader()
	}
	if err != nil {
		b.Fatal(err)
	}
	w, err := record.Create(filepath.Join(b.TempDir(), "record"), recordKey(b), header)
	if err != nil {
		b.Fatal(err)
	}
	return w
}
