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
// Where there are Experiments, and no Light of the caller's own, those whose
// experiments are expected to tell most for their seconds come first, and take
// turns: the first case that asks for an experiment waits until up to 1,000
// entries behind it are read.
func (h *Host) TryAll(ctx context.Context, entries iter.Seq2[docket.Entry, error], workers int) iter.Seq[Tried] {
	read := func(yield func(Tried) bool) {
		for entry, err := range entries {
			if !yield(Tried{Entry: entry, Err: err}) {
				return
			}
		}
	}
	if h.scheduled {
		return h.byGain(ctx, read, workers)
	}
	return court.Ordered(ctx, read, workers, func(ctx context.Context, tried Tried) Tried {
		h.tryEntry(ctx, &tried, false)
		return tried
	})
}

// tryEntry tries an entry that has no error. It says whether a persona asked for an experiment in vain.
func (h *Host) tryEntry(ctx context.Context, tried *Tried, withoutExperiments bool) (deferred bool) {
	if tried.Err == nil && ctx.Err() != nil {
		tried.Err = fmt.Errorf("case %q: %w", tried.Entry.Case.ID, context.Cause(ctx))
	}
	if tried.Err != nil {
		return false
	}
	out, err := h.court.Try(ctx, tried.Entry.Case, court.Options{Recorder: h.recorder(), WithoutExperiments: withoutExperiments})
	tried.Trial, tried.Record, tried.Err = out.Trial, out.Record, err
	if t := tried.Trial; t != nil {
		t.Truth = tried.Entry.Truth
		t.Stand(tried.Entry.Members)
		maps.Copy(t.LabelNames, tried.Entry.LabelNames)
	}
	return out.Deferred
}
