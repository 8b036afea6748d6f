package host

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/internal/runner"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/internal/turns"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// limited is what Experiments implement that all cases share a budget of.
type limited interface{ Limited() bool }

// schedules says whether trials compete for experiments. An answer of a Light of the caller's own may cost more than it is worth to be
// asked for twice.
func (c *Config) schedules() bool {
	l, ok := c.Experiments.(limited)
	return ok && l.Limited() && c.Light == nil
}

// The bounds of the entries of which the order is changed: more wait for these.
const (
	maxScheduled      = 1000
	maxScheduledBytes = 64 << 20
)

// atOnce is how many trials take turns, so that the runs of an experiment are spread over time.
const atOnce = 4

// byGain tries entries in the order in which experiments are expected to tell most for their seconds, and yields them in their own.
// First all are tried by reading, which says what an experiment of each would tell.
func (h *Host) byGain(ctx context.Context, entries iter.Seq[Tried], workers int) iter.Seq[Tried] {
	return func(yield func(Tried) bool) {
		var list []Tried
		size := 0
		if ctx.Err() != nil {
			return
		}
		for entry := range entries {
			list = append(list, entry)
			for i := range entry.Entry.Case.Documents {
				size += len(entry.Entry.Case.Documents[i].Text)
			}
			if len(list) < maxScheduled && size < maxScheduledBytes && ctx.Err() == nil {
				continue
			}
			if !h.tryScheduled(ctx, list, workers, yield) || ctx.Err() != nil {
				return
			}
			list, size = nil, 0
		}
		h.tryScheduled(ctx, list, workers, yield)
	}
}

// tryScheduled tries a list, and says whether to go on.
func (h *Host) tryScheduled(ctx context.Context, list []Tried, workers int, yield func(Tried) bool) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	gain := make([]float64, 0, len(list))
	order := make([]int, len(list))
	reading := list
	if len(list) == 1 {
		reading = nil
	}
	for perSecond := range runtime.Ordered(runner.Withhold(ctx), slices.Values(reading), workers, h.read) {
		gain = append(gain, perSecond)
	}
	gain = append(gain, make([]float64, len(list)-len(gain))...) // of one alone, or when the context has ended
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(gain[b], gain[a]) })
	done := make([]chan struct{}, len(list))
	for at, ended := range turns.Run(ctx, len(list), atOnce, func(ctx context.Context, at int) {
		list[order[at]] = h.tryEntry(ctx, list[order[at]])
	}) {
		done[order[at]] = ended
	}
	more := true
	for i := range list {
		if !more { // those that have begun end by themselves
			stop()
		}
		<-done[i]
		more = more && yield(list[i])
		list[i] = Tried{}
	}
	return more
}

// read tries an entry without experiments, and gives what one would tell by the second, in nats; 0 where the answer is sure.
func (h *Host) read(ctx context.Context, tried Tried) float64 {
	if tried.Err != nil || ctx.Err() != nil {
		return 0
	}
	t, _, err := h.try(ctx, tried.Entry.Case, nil)
	if err != nil || t.Result.Final.Status == trial.Accepted || t.Result.Proposal == nil {
		return 0
	}
	return t.Result.Proposal.PerSecond
}
