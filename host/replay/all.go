package replay

import (
	"context"
	"iter"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Replayed is what came of the replay of a recorded trial.
type Replayed struct {
	Was *record.Trial
	// Trial is nil with an Err.
	Trial *trial.Trial
	// Difference is nil where the same bytes came.
	Difference *record.Difference
	Err        error
}

// All replays trials with a number of workers (0: one for each processor) and
// returns them in their order. subject gives the case of an id, or nil for
// that of the record; it may be nil itself. An error of trials ends
// the sequence: it is given in a Replayed without Was. When the context ends, or
// the caller stops, no further trial is begun.
func (r *Replayer) All(ctx context.Context, trials iter.Seq2[*record.Trial, error], subject func(id string) *abi.Case, workers int) iter.Seq[Replayed] {
	read := func(yield func(Replayed) bool) {
		for was, err := range trials {
			if !yield(Replayed{Was: was, Err: err}) || err != nil {
				return
			}
		}
	}
	try := func(ctx context.Context, t Replayed) Replayed {
		if t.Err == nil {
			r.one(ctx, &t, subject)
		}
		return t
	}
	return func(yield func(Replayed) bool) {
		for replayed := range court.Ordered(ctx, read, workers, try) {
			if ctx.Err() != nil || !yield(replayed) {
				return
			}
		}
	}
}

func (r *Replayer) one(ctx context.Context, replayed *Replayed, subject func(id string) *abi.Case) {
	var given *abi.Case
	if subject != nil {
		given = subject(replayed.Was.ID)
	}
	var is *record.Trial
	replayed.Trial, is, replayed.Err = r.Replay(ctx, replayed.Was, given)
	if replayed.Err == nil && ctx.Err() == nil { // nobody waits for it otherwise
		replayed.Difference, replayed.Err = record.Compare(replayed.Was, is)
	}
}

// Graph of the recorded court, for drawing.
func (r *Replayer) Graph(ctx context.Context) (*pipeline.Graph, error) {
	c, _, err := r.openCourt(ctx)
	if err != nil {
		return nil, err
	}
	return c.Graph(), nil
}
