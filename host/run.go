package host

import (
	"context"
	"fmt"
	"iter"
	"maps"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
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
// each processor) and yields them in docket order. Entries are read as
// they are needed, so that a docket may be larger than memory. An error of an
// entry is passed on in its place. When the context ends, no further entry is
// read, and every entry that was read is yielded: one that was not tried to the
// end has an Err that wraps the cause of the context.
func (h *Host) TryAll(ctx context.Context, entries iter.Seq2[docket.Entry, error], workers int) iter.Seq[Tried] {
	read := func(yield func(Tried) bool) {
		for entry, err := range entries {
			if !yield(Tried{Entry: entry, Err: err}) {
				return
			}
		}
	}
	return court.Ordered(ctx, read, workers, func(ctx context.Context, tried Tried) Tried {
		h.tryEntry(ctx, &tried)
		return tried
	})
}

// tryEntry tries an entry that has no error.
func (h *Host) tryEntry(ctx context.Context, tried *Tried) {
	if tried.Err == nil && ctx.Err() != nil {
		tried.Err = fmt.Errorf("case %q: %w", tried.Entry.Case.ID, context.Cause(ctx))
	}
	if tried.Err != nil {
		return
	}
	out, err := h.court.Try(ctx, tried.Entry.Case, court.Options{Recorder: h.recorder()})
	tried.Trial, tried.Record, tried.Err = out.Trial, out.Record, err
	if t := tried.Trial; t != nil {
		t.Truth = tried.Entry.Truth
		t.Stand(tried.Entry.Members)
		maps.Copy(t.LabelNames, tried.Entry.LabelNames)
	}
}
