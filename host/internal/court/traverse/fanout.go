package traverse

import "sync"

// FanOut runs branches side by side, at most limit at once (0: all), and hands
// their results to arrive one by one, in the order in which they come, from the
// goroutine of the caller: the fan-in needs no lock. It returns when every
// branch has arrived; none is ever lost. A branch states its own failure in its
// result. A panic in a branch is one in the program.
func FanOut[R any](branches []func() R, limit int, arrive func(branch int, result R)) {
	if limit <= 0 || limit > len(branches) {
		limit = len(branches)
	}
	type arrival struct {
		branch int
		result R
	}
	arrivals := make(chan arrival, len(branches))
	slots := make(chan struct{}, limit)
	var running sync.WaitGroup
	for i, run := range branches {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			arrivals <- arrival{i, run()}
		})
	}
	for range branches {
		a := <-arrivals
		arrive(a.branch, a.result)
	}
	running.Wait()
}
