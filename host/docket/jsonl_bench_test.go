package docket_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket"
)

// BenchmarkJSONL reads a case whose document is a log of 260 KiB, in which every line has two escaped quotes and a line break.
func BenchmarkJSONL(b *testing.B) {
	log := strings.Repeat("2024-05-01 INFO \"cart\" the total of an order is computed: 12\n", 4400)
	line := `{"id":"a","subject":"a failure","labels":["product bug","test bug"],"evidence":[],"documents":[{"name":"log","text":` +
		strconv.Quote(log) + "}]}\n"
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		for _, err := range new(docket.Reader).JSONL("docket", strings.NewReader(line)) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
