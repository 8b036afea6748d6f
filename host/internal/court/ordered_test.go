package court

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

func TestOrderedKeepsOrderAndLimit(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 3} {
		var running, most atomic.Int32
		double := func(_ context.Context, n int) int {
			if now := running.Add(1); now > most.Load() {
				most.Store(now)
			}
			time.Sleep(time.Duration(n%4) * time.Millisecond)
			running.Add(-1)
			return 2 * n
		}
		in := []int{3, 0, 2, 1, 7, 4, 5, 6}
		got := slices.Collect(Ordered(t.Context(), slices.Values(in), workers, double))
		if !slices.Equal(got, []int{6, 0, 4, 2, 14, 8, 10, 12}) || int(most.Load()) > workers {
			t.Errorf("%d workers: %v, %d at once", workers, got, most.Load())
		}
	}
}

func TestOrderedStopsWhenItsCallerDoes(t *testing.T) {
	t.Parallel()
	begun := 0
	endless := func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
			begun = i
		}
	}
	for n := range Ordered(t.Context(), endless, 2, func(_ context.Context, n int) int { return n }) {
		if n == 5 {
			break
		}
	}
	if begun > 20 {
		t.Errorf("%d were begun", begun)
	}
}

// What was read when the context ends is yielded, and nothing is read afterwards.
func TestOrderedYieldsWhatWasRead(t *testing.T) {
	t.Parallel()
	for _, at := range []int{-1, 0, 5} {
		ctx, cancel := context.WithCancel(t.Context())
		if at < 0 {
			cancel()
		}
		read, yielded := 0, 0
		endless := func(yield func(int) bool) {
			for i := 0; ; i++ {
				read++
				if !yield(i) {
					return
				}
			}
		}
		for n := range Ordered(ctx, endless, 4, func(_ context.Context, n int) int { return n }) {
			yielded++
			if n == at {
				cancel()
			}
		}
		cancel()
		if read != yielded || at < 0 && read > 0 {
			t.Errorf("cancelled at %d: %d read, %d yielded", at, read, yielded)
		}
	}
}
