package run

import (
	"context"
	"iter"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// LightConfig is a configuration with its court switched off: of a host that is
// opened on it, Light alone answers.
func LightConfig(config host.Config) host.Config {
	config.Court = func(c *pipeline.Court) { c.Enabled, c.TTL = false, time.Minute }
	return config
}

// Light answers the entries of a docket without holding court, so that what is fitted or measured on them sees the Light that the
// court will see. It returns them in their order, with Light's answer in place of the case's own and the evidence that Light
// gathered behind the case's own. Documents are those that Light saw, cut to what a case may hold. An entry that Light fails on
// has no answer. workers is how many are answered at once (0: one for each processor). answered, if not nil, is called after each.
//
// h must be opened on a [LightConfig]. The error is the first of an entry, or the context's.
func Light(ctx context.Context, h *host.Host, entries []docket.Entry, workers int, answered func()) ([]docket.Entry, error) {
	out := make([]docket.Entry, 0, len(entries))
	for t := range h.TryAll(ctx, each(entries), workers) {
		if t.Err != nil {
			return nil, t.Err
		}
		entry := t.Entry
		entry.Case = t.Trial.Case
		out = append(out, entry)
		if answered != nil {
			answered()
		}
	}
	return out, ctx.Err()
}

func each(entries []docket.Entry) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		for i := range entries {
			if !yield(entries[i], nil) {
				return
			}
		}
	}
}
