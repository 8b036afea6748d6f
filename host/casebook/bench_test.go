package casebook_test

import (
	"strings"
	"testing"
)

// A log of 10 kB, as a failing test of a server writes it.
func BenchmarkTake(b *testing.B) {
	line := "2026-01-02T03:04:05Z INFO worker-7 took 300ms\n\t/home/ann/src/bank/ledger.go:17 +0x3f\nbalance of account is wrong\n"
	text := strings.Repeat(line, 10_000/len(line))
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if take(text).Exact == "" {
			b.Fatal("no fingerprint")
		}
	}
}
