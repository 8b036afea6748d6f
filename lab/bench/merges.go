package main

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court/state"
)

// itemsPerUpdate is how many items one node brings.
const itemsPerUpdate = 10

// mostPlainly is from where on the plain list takes too long.
const mostPlainly = 10_000

// merges measures the reducer of evidence, from a thousand items on.
func (b *bench) merges(context.Context) error {
	for n := 1_000; n <= b.items; n *= 10 {
		updates := evidenceUpdates(n)
		rivals := []Rival{{Name: mergeName(n), Do: Once(func() error { return mergeAll(updates, n) })}}
		if n <= mostPlainly {
			rivals = append(rivals, Rival{Name: plainName(n), Do: Once(func() error { return mergeAllPlainly(updates, n) })})
		}
		medians, err := Interleave(min(b.rounds, 5), b.turn, rivals)
		if err != nil {
			return err
		}
		for _, r := range rivals {
			b.add(r.Name, float64(medians[r.Name])/float64(n), "ns/item")
		}
		if n > 1_000 {
			b.against(mergeName(n), mergeName(1_000))
		}
		b.against(mergeName(n), plainName(n))
	}
	return nil
}

func mergeName(n int) string { return fmt.Sprintf("merge_evidences, %d items", n) }
func plainName(n int) string { return fmt.Sprintf("plain list, unvalidated, %d items", n) }

func evidenceUpdates(n int) []abi.Update {
	updates := make([]abi.Update, 0, n/itemsPerUpdate)
	for i := 0; i < n; i += itemsPerUpdate {
		items := make([]abi.Evidence, itemsPerUpdate)
		for j := range items {
			items[j] = abi.Evidence{
				SourceRef:           fmt.Sprintf("pkg/file_%d.go:%d", (i+j)%97, i+j),
				Content:             fmt.Sprintf("assertion %d failed: expected 7, got %d", i+j, j),
				RelevanceConfidence: 0.5,
			}
		}
		updates = append(updates, abi.Update{Evidences: map[string][]abi.Evidence{"repo": items}})
	}
	return updates
}

// mergeAll merges the updates, one after the other, and takes the ordered snapshot.
func mergeAll(updates []abi.Update, n int) error {
	s := state.New()
	for i := range updates {
		if err := s.Apply(&updates[i]); err != nil {
			return err
		}
	}
	if got := len(s.Snapshot().Evidences["repo"]); got != n {
		return fmt.Errorf("%w: %d items of %d", errWrong, got, n)
	}
	return nil
}

// mergeAllPlainly is the peer: a list that is looked through for every item.
func mergeAllPlainly(updates []abi.Update, n int) error {
	var list []abi.Evidence
	for i := range updates {
		for _, e := range updates[i].Evidences["repo"] {
			if at := indexOf(list, &e); at < 0 {
				list = append(list, e)
			} else if e.RelevanceConfidence > list[at].RelevanceConfidence {
				list[at] = e
			}
		}
	}
	if len(list) != n {
		return fmt.Errorf("%w: %d items of %d", errWrong, len(list), n)
	}
	return nil
}

func indexOf(list []abi.Evidence, e *abi.Evidence) int {
	for i := range list {
		if list[i].SourceRef == e.SourceRef && list[i].Content == e.Content {
			return i
		}
	}
	return -1
}
