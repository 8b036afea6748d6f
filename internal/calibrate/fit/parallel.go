package fit

import (
	"sync"
	"sync/atomic"
)

// each calls do for 0 to n-1, at most so many at a time. What do writes must
// belong to its own index, so that the order doesn't matter.
func each(n, workers int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range max(1, min(workers, n)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}
