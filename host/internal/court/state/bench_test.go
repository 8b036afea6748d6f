package state_test

import (
	"fmt"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court/state"
)

// BenchmarkMergeEvidences merges n items in updates of ten. ns/item should
// stay nearly flat as n grows.
func BenchmarkMergeEvidences(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		updates := evidenceUpdates(n, 10)
		b.Run(fmt.Sprintf("items=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := state.New()
				for i := range updates {
					if err := s.Apply(&updates[i]); err != nil {
						b.Fatal(err)
					}
				}
				if got := len(s.Snapshot().Evidences["repo"]); got != n {
					b.Fatalf("%d items, want %d", got, n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
		})
	}
}

// BenchmarkMergeEvidencesPlainly is the peer: the list as the channel, looked
// through for every new item, without any validation.
func BenchmarkMergeEvidencesPlainly(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		updates := evidenceUpdates(n, 10)
		b.Run(fmt.Sprintf("items=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var list []abi.Evidence
				for i := range updates {
					list = mergePlainly(list, updates[i].Evidences["repo"])
				}
				if len(list) != n {
					b.Fatalf("%d items, want %d", len(list), n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
		})
	}
}

// BenchmarkApply merges the update of one ordinary node into a small state.
func BenchmarkApply(b *testing.B) {
	b.ReportAllocs()
	u := full()
	s := state.New()
	for b.Loop() {
		if err := s.Apply(&u); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSnapshot takes the snapshot of a state with 1,000 items.
func BenchmarkSnapshot(b *testing.B) {
	b.ReportAllocs()
	s := state.New()
	for _, u := range evidenceUpdates(1_000, 100) {
		if err := s.Apply(&u); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if got := len(s.Snapshot().Evidences["repo"]); got != 1_000 {
			b.Fatal(got)
		}
	}
}

func evidenceUpdates(n, size int) []abi.Update {
	var updates []abi.Update
	for i := 0; i < n; i += size {
		items := make([]abi.Evidence, size)
		for j := range items {
			items[j] = item(fmt.Sprintf("pkg/file_%d.go:%d", (i+j)%97, i+j), fmt.Sprintf("assertion %d failed: expected 7, got %d", i+j, j), 0.5)
		}
		updates = append(updates, evidence("repo", items...))
	}
	return updates
}

func mergePlainly(list, items []abi.Evidence) []abi.Evidence {
	for _, e := range items {
		found := false
		for i := range list {
			if list[i].SourceRef == e.SourceRef && list[i].Content == e.Content {
				found = true
				if e.RelevanceConfidence > list[i].RelevanceConfidence {
					list[i] = e
				}
				break
			}
		}
		if !found {
			list = append(list, e)
		}
	}
	return list
}
