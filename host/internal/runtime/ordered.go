package runtime

import (
	"context"
	"iter"
	"runtime"
)

// Ordered calls do for each element of in, with a number of workers (0: one for each processor), and yields the results in
// the order of in. Elements are read as they are needed. When the context ends, or the caller stops, no further element is
// read; for those that were, do is called, and waited for.
func Ordered[In, Out any](ctx context.Context, in iter.Seq[In], workers int, do func(context.Context, In) Out) iter.Seq[Out] {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return func(yield func(Out) bool) {
		ctx, stop := context.WithCancel(ctx)
		line := make(chan chan Out, 2*workers) // a slow element does not keep the workers waiting
		slots := make(chan struct{}, workers)
		go func() {
			defer close(line)
			for element := range in {
				done := make(chan Out, 1)
				select {
				case line <- done:
				case <-ctx.Done():
					return
				}
				slots <- struct{}{}
				go func() {
					defer func() { <-slots }()
					done <- do(ctx, element)
				}()
			}
		}()
		defer func() {
			stop()
			for done := range line {
				<-done
			}
		}()
		for done := range line {
			if !yield(<-done) {
				return
			}
		}
	}
}
