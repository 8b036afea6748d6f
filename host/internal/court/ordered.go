package court

import (
	"context"
	"iter"
	"runtime"
)

// Ordered calls do for each element of in, with a number of workers (0: one for each processor), and yields the results in
// the order of in. Elements are read as they are needed. When the context ends, or the caller stops, no further element is
// read; for those that were, do is called, and waited for. All results are yielded, unless the caller stops.
func Ordered[In, Out any](ctx context.Context, in iter.Seq[In], workers int, do func(context.Context, In) Out) iter.Seq[Out] {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return func(yield func(Out) bool) {
		ctx, cancel := context.WithCancel(ctx)
		stopped := make(chan struct{})
		line := make(chan chan Out, 2*workers) // a slow element does not keep the workers waiting
		slots := make(chan struct{}, workers)
		go func() {
			defer close(line)
			if ctx.Err() != nil {
				return
			}
			for element := range in {
				done := make(chan Out, 1)
				select {
				case line <- done: // also after the end of the context: what was read is yielded
				case <-stopped:
					return
				}
				slots <- struct{}{}
				go func() {
					defer func() { <-slots }()
					done <- do(ctx, element)
				}()
				if ctx.Err() != nil {
					return
				}
			}
		}()
		defer func() {
			cancel()
			close(stopped)
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
