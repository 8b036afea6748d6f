package runtime

import (
	"context"
	"iter"
	"runtime"
)

// ordered does something with each element of in, with a number of workers
// (0: one for each processor), and gives the results in the order of in. When
// the context ends, or the caller stops, nothing more is begun; what was is
// waited for.
func ordered[In, Out any](ctx context.Context, in iter.Seq[In], workers int, do func(context.Context, In) Out) iter.Seq[Out] {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return func(yield func(Out) bool) {
		ctx, stop := context.WithCancel(ctx)
		line := make(chan chan Out, workers-1) // and one that is waited for
		go func() {
			defer close(line)
			for element := range in {
				done := make(chan Out, 1)
				select {
				case line <- done:
				case <-ctx.Done():
					return
				}
				go func() { done <- do(ctx, element) }()
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
