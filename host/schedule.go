package host

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
)

// The bounds of the entries of which the order is changed: more wait for these.
const (
	maxScheduled      = 1000
	maxScheduledBytes = 64 << 20
)

// atOnce is how many trials take turns, so that the runs of an experiment are spread over time.
const atOnce = 4

// screened is an entry that was tried without experiments.
type screened struct {
	Tried    // as it was before, if a persona asked for an experiment
	deferred bool
	gain     float64 // what an experiment would tell by the second, in nats
}

// byGain tries entries in the order in which experiments are expected to tell most for their seconds, and yields them in their own.
// First all are tried without, which says what an experiment of each would tell, and is all that those need of which no persona
// asks for one.
func (h *Host) byGain(ctx context.Context, entries iter.Seq[Tried], workers int) iter.Seq[Tried] {
	return func(yield func(Tried) bool) {
		if ctx.Err() != nil {
			return
		}
		next, stop := iter.Pull(entries)
		defer stop()
		first, some := next()
		entry, more := next()
		if !more { // there is nothing to order
			if some {
				h.tryEntry(ctx, &first, false)
				yield(first)
			}
			return
		}
		all := func(yield func(Tried) bool) {
			for more = yield(first); more && yield(entry); {
				entry, more = next()
			}
		}
		var list []screened
		size := 0
		for r := range court.Ordered(ctx, all, workers, h.screen) {
			if len(list) == 0 && !r.deferred {
				if !yield(r.Tried) {
					return
				}
				continue
			}
			list = append(list, r)
			for i := range r.Entry.Case.Documents {
				size += len(r.Entry.Case.Documents[i].Text)
			}
			if len(list) < maxScheduled && size < maxScheduledBytes {
				continue
			}
			if !h.tryScheduled(ctx, list, yield) {
				return
			}
			list, size = nil, 0
		}
		h.tryScheduled(ctx, list, yield)
	}
}

// screen tries an entry without experiments.
func (h *Host) screen(ctx context.Context, tried Tried) screened {
	s := screened{Tried: tried}
	if s.deferred = h.tryEntry(ctx, &tried, true); !s.deferred {
		s.Tried = tried
	} else if tried.Err == nil && tried.Trial.Result.Proposal != nil {
		s.gain = tried.Trial.Result.Proposal.PerSecond
	}
	return s
}

// tryScheduled tries what asked for experiments, yields all, and says whether to go on.
func (h *Host) tryScheduled(ctx context.Context, list []screened, yield func(Tried) bool) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var order []int
	for i := range list {
		if list[i].deferred {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b].gain, list[a].gain) })
	done := make([]chan struct{}, len(list)) // nil for what was tried already
	for at, ended := range plan.Run(ctx, len(order), atOnce, func(ctx context.Context, at int) {
		h.tryEntry(ctx, &list[order[at]].Tried, false)
	}) {
		done[order[at]] = ended
	}
	more := true
	for i := range list {
		if !more { // those that have begun end by themselves
			stop()
		}
		if done[i] != nil {
			<-done[i]
		}
		more = more && yield(list[i].Tried)
		list[i] = screened{}
	}
	return more
}
