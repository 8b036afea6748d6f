package host

import (
	"context"
	"iter"
	"maps"
	"runtime"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Tried is what came of one entry of a docket: a Trial, or an Err that says
// why there is none.
type Tried struct {
	Entry docket.Entry
	Trial *trial.Trial
	// Record of the trial; nil unless Config.Record asks for it.
	Record *record.Trial
	Err    error
}

// TryAll tries the entries of a docket with a number of workers (0: one for
// each processor) and gives them back in docket order. Entries are read as
// they are needed, so that a docket may be larger than memory. An error of an
// entry is passed on in its place. When the context ends, or the caller
// stops, no further case is begun; cases that were interrupted are left out.
func (h *Host) TryAll(ctx context.Context, entries iter.Seq2[docket.Entry, error], workers int) iter.Seq[Tried] {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return func(yield func(Tried) bool) {
		ctx, stop := context.WithCancel(ctx)
		ordered := make(chan chan Tried, 2*workers)
		slots := make(chan struct{}, workers)
		go func() {
			defer close(ordered)
			for entry, err := range entries {
				done := make(chan Tried, 1)
				select {
				case ordered <- done:
				case <-ctx.Done():
					return
				}
				if err != nil {
					done <- Tried{Entry: entry, Err: err}
					continue
				}
				slots <- struct{}{}
				go func() {
					defer func() { <-slots }()
					done <- h.tryEntry(ctx, entry)
				}()
			}
		}()
		// Whatever ends the loop, the goroutines are waited for.
		defer func() {
			stop()
			for done := range ordered {
				<-done
			}
		}()
		for done := range ordered {
			tried := <-done
			if tried.Trial == nil && ctx.Err() != nil {
				return
			}
			if !yield(tried) {
				return
			}
		}
	}
}

func (h *Host) tryEntry(ctx context.Context, entry docket.Entry) Tried {
	if ctx.Err() != nil {
		return Tried{Entry: entry, Err: context.Cause(ctx)}
	}
	trial, recorded, err := h.TryRecorded(ctx, entry.Case)
	if trial != nil {
		trial.Truth = entry.Truth
		maps.Copy(trial.LabelNames, entry.LabelNames)
	}
	return Tried{Entry: entry, Trial: trial, Record: recorded, Err: err}
}
