package service

import (
	"context"
	"errors"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

const (
	// reviewTick is how soon a generation that another process put in force is decided about.
	reviewTick = time.Minute
	// reviewAgain is when a generation that was not accepted is decided about again: the registry may answer by then.
	reviewAgain = time.Hour
)

// review is what the trust policy says of the generation in force.
type review struct {
	generation int64
	fault      string // empty: accepted
	at         time.Time
}

// decideAgain has the policy decide about the generation in force, at the start and whenever it is another one. It only warns: a service without a
// court would stop deciding for everybody, and who changed the policy may not be who can swap.
func (s *Service) decideAgain(ctx context.Context) error {
	current, err := s.config.Store.CurrentGeneration(ctx)
	if err != nil {
		return err
	}
	last := s.reviewed.Load()
	if last != nil && last.generation == current && (last.fault == "" || s.config.Now().Sub(last.at) < reviewAgain) {
		return nil
	}
	g, err := s.config.Store.Generation(ctx, current)
	if err != nil {
		return err
	}
	r := &review{generation: current, at: s.config.Now()}
	if err := s.accepts(ctx, &g); err != nil {
		if _, busy := errors.AsType[*wire.Problem](err); busy || ctx.Err() != nil {
			return err // it says nothing of the modules
		}
		r.fault = sanitize.Cut(sanitize.Line(err.Error()), 1000)
		s.config.Log.WarnContext(ctx, "the trust policy does not accept the generation in force, which goes on deciding: swap to another one", "generation", current, "error", r.fault)
	}
	s.reviewed.Store(r)
	return nil
}

// unaccepted is why the policy does not accept the generation in force; empty if it does, or has not decided yet.
func (s *Service) unaccepted(current int64) string {
	if r := s.reviewed.Load(); r != nil && r.generation == current {
		return r.fault
	}
	return ""
}
