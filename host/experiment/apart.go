package experiment

import (
	"context"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

// DefaultApart is how long the runs of a step take at least.
const DefaultApart = 2 * time.Second

// Runs of one test in one tree are spread over several seconds, since tests that draw by the time in seconds end alike within one: five such runs
// would be one.
const (
	apart = time.Second           // at most, between two runs
	look  = 20 * time.Millisecond // between two looks at the clock
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
	if !ok || l.config.Apart < 0 {
		return ctx.Err()
	}
	due := nextRun(at, l.config.Apart, runs)
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

// nextRun is when the next of the runs of a step may begin, if the last one began at this time.
func nextRun(at time.Time, all time.Duration, runs int) time.Time {
	if gap := all / time.Duration(max(runs-1, 1)); gap < apart {
		return at.Add(gap)
	}
	return at.Truncate(apart).Add(apart)
}

// begin notes that a run begins.
func (l *Lab) begin(in *place, c cell) {
	l.begun.Store(begun{c, in.workspace}, l.config.Now())
}
