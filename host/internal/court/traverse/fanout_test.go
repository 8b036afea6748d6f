package traverse_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
)

func TestFanOutRunsBranchesSideBySide(t *testing.T) {
	t.Parallel()
	// Each branch waits for all others: one after the other they would wait forever.
	var all sync.WaitGroup
	const n = 5
	all.Add(n)
	branches := make([]func() int, n)
	for i := range branches {
		branches[i] = func() int {
			all.Done()
			all.Wait()
			return i * i
		}
	}
	seen := map[int]int{}
	traverse.FanOut(branches, 0, func(i, result int) { seen[i] = result })
	for i := range n {
		if result, ok := seen[i]; !ok || result != i*i {
			t.Errorf("branch %d: %d", i, result)
		}
	}
}

func TestFanOutKeepsItsLimit(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int32
	branches := make([]func() bool, 20)
	for i := range branches {
		branches[i] = func() bool {
			now := running.Add(1)
			for old := most.Load(); now > old; old = most.Load() {
				most.CompareAndSwap(old, now)
			}
			running.Add(-1)
			return true
		}
	}
	n := 0
	traverse.FanOut(branches, 3, func(int, bool) { n++ })
	if n != len(branches) || most.Load() > 3 {
		t.Errorf("%d arrived, %d at once", n, most.Load())
	}
	traverse.FanOut([]func() bool{}, 0, func(int, bool) { t.Error("something arrived from nowhere") })
}
