package store

import (
	"context"
	"fmt"
	"time"
)

// Refit is the one refit of all processes: how far it is, or what came of it.
type Refit struct {
	Running bool
	// Step is what is being done, Failure why it failed.
	Step, Failure string
	// Outcome is the caller's; empty while there is none.
	Outcome string
}

// RefitTimeout is how long the process of a refit may be silent before it counts as gone.
const RefitTimeout = 2 * time.Minute

// Refit reads how far the refit is.
func (s *Store) Refit(ctx context.Context) (Refit, error) {
	var r Refit
	var seen int64
	err := one(ctx, s.db, `SELECT running, step, failure, outcome, seen FROM refits`, nil, flag{&r.Running}, &r.Step, &r.Failure, &r.Outcome, &seen)
	if isNotFound(err) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	now, err := s.clock(ctx, s.db)
	if r.Running && now-seen > RefitTimeout.Microseconds() {
		r.Running, r.Failure = false, "its process is gone; refit again"
	}
	return r, err
}

// BeginRefit says that a holder begins a refit, in place of the one before. ErrState: another one is running.
func (s *Store) BeginRefit(ctx context.Context, holder, step string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := s.clock(ctx, t)
		if err != nil {
			return err
		}
		n, err := t.exec(ctx, `INSERT INTO refits (name, holder, running, step, failure, outcome, seen) VALUES ('profile', $1, 1, $2, '', '', $3)
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, running = 1, step = excluded.step, failure = '', outcome = '', seen = excluded.seen
			WHERE refits.running = 0 OR refits.seen < $4`, holder, text(step, maxText), now, now-RefitTimeout.Microseconds())
		if err == nil && n == 0 {
			err = fmt.Errorf("a refit is running already: %w", ErrState)
		}
		return err
	})
}

// NoteRefit says what a holder's refit does, and that its process lives. Another holder's is left alone.
func (s *Store) NoteRefit(ctx context.Context, holder, step string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := s.clock(ctx, t)
		if err == nil {
			_, err = t.exec(ctx, `UPDATE refits SET step = $1, seen = $2 WHERE holder = $3 AND running = 1`, text(step, maxText), now, holder)
		}
		return err
	})
}

// EndRefit keeps what came of a holder's refit.
func (s *Store) EndRefit(ctx context.Context, holder, outcome, failure string) error {
	return s.change(ctx, `UPDATE refits SET running = 0, outcome = $1, failure = $2 WHERE holder = $3 AND running = 1`, outcome, text(failure, maxText), holder)
}
