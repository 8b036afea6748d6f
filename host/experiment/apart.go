package experiment

import (
	"context"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

// Runs of one test in one tree are spread over several seconds, since tests that draw by the time in seconds end alike within one: five such runs
// would be one. The runs of a step take mostApart at least.
const (
	apart     = time.Second
	mostApart = 2 * time.Second
	look      = 20 * time.Millisecond // between two looks at the clock
)

// begun names runs of a cell in a tree.
type begun struct {
	cell
	in *workspace
}

// wait waits until the next run of an experiment may begin. Other trials have their turns meanwhile. Its error is that of the context.
func (l *Lab) wait(ctx context.Context, in *place, c cell, runs int) error {
	last, ok := l.begun.Load(begun{c, in.workspace})
	at, _ := last.(time.Time)
	if !ok {
		return ctx.Err()
	}
	due := at.Truncate(apart).Add(apart)
	if gap := mostApart / time.Duration(max(runs-1, 1)); gap < apart {
		due = at.Add(gap)
	}
	for range apart / look { // a clock may stand still
		if !l.config.Now().Before(due) {
			break
		}
		plan.Yield(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
	}
	return nil
}

// begin notes that a run begins.
func (l *Lab) begin(in *place, c cell) {
	l.begun.Store(begun{c, in.workspace}, l.config.Now())
}
