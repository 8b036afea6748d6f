package host

import (
	"context"
	"iter"
	"runtime"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// Replayed is what came of a recorded trial when it was tried again.
type Replayed struct {
	Was *record.Trial
	// Trial is nil with an Err.
	Trial *docket.Trial
	// Difference is nil where the same bytes came.
	Difference *record.Difference
	Err        error
}

// All replays trials with a number of workers (0: one for each processor) and
// gives them back in their order. subject gives the case of an id where the
// record does not hold it, or nil; it may be nil itself. An error of trials ends
// the sequence: it is given in a Replayed without Was. When the context ends, or
// the caller stops, no further trial is begun.
func (r *Replayer) All(ctx context.Context, trials iter.Seq2[*record.Trial, error], subject func(id string) *abi.Case, workers int) iter.Seq[Replayed] {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return func(yield func(Replayed) bool) {
		ctx, stop := context.WithCancel(ctx)
		ordered := make(chan chan Replayed, workers)
		slots := make(chan struct{}, workers)
		go func() {
			defer close(ordered)
			for was, err := range trials {
				done := make(chan Replayed, 1)
				select {
				case ordered <- done:
				case <-ctx.Done():
					return
				}
				if err != nil {
					done <- Replayed{Err: err}
					return
				}
				slots <- struct{}{}
				go func() {
					defer func() { <-slots }()
					done <- r.one(ctx, was, subject)
				}()
			}
		}()
		defer func() {
			stop()
			for done := range ordered {
				<-done
			}
		}()
		for done := range ordered {
			replayed := <-done
			if ctx.Err() != nil || !yield(replayed) {
				return
			}
		}
	}
}

func (r *Replayer) one(ctx context.Context, was *record.Trial, subject func(id string) *abi.Case) Replayed {
	replayed := Replayed{Was: was}
	var given *abi.Case
	if subject != nil {
		given = subject(was.ID)
	}
	var is *record.Trial
	if replayed.Trial, is, replayed.Err = r.Replay(ctx, was, given); replayed.Err == nil {
		replayed.Difference, replayed.Err = record.Compare(was, is)
	}
	return replayed
}

// Draw puts the graph into a replayed trial with its walk drawn on it, as
// [Host.Draw] gives it.
func (r *Replayer) Draw(ctx context.Context, was *record.Trial, t *docket.Trial) error {
	h, err := r.host(ctx, was.Modules)
	if err == nil {
		t.Drawing = h.Draw(t)
	}
	return err
}
