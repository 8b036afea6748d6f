package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/refit"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

const (
	// refitTime is the most that a refit may take.
	refitTime = 30 * time.Minute
	// refitBeat is how often its process says that it lives.
	refitBeat = store.RefitTimeout / 6
	// refitEnd is how long its end may take to be kept when the process is told to stop.
	refitEnd = 10 * time.Second
)

func (b *stored) Refit(ctx context.Context) (*Refit, error) {
	if b.sources.Refit == nil || auth.From(ctx).Limited() {
		return nil, nil //nolint:nilnil // the server can't refit; a refit is about the cases of all repositories
	}
	known, err := b.sources.Store.CountKnown(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := b.sources.Store.Refit(ctx)
	if err != nil {
		return nil, err
	}
	out := &Refit{Known: known, Needed: refit.Least, Running: kept.Running, Step: kept.Step, Failure: kept.Failure}
	if kept.Outcome != "" {
		err = json.Unmarshal([]byte(kept.Outcome), &out.Outcome) //nolint:musttag // the row is of this package alone
	}
	return out, err
}

func (b *stored) StartRefit(ctx context.Context) error {
	if b.sources.Refit == nil {
		return ErrNotFound
	}
	holder := rand.Text()
	err := b.sources.Store.BeginRefit(ctx, holder, "beginning")
	if errors.Is(err, store.ErrState) {
		return &UserError{"a refit is running already"}
	}
	if err != nil {
		return err
	}
	do := func(ctx context.Context) { b.refit(ctx, holder) }
	if b.sources.Background != nil {
		b.sources.Background(ctx, do)
		return nil
	}
	go do(context.WithoutCancel(ctx))
	return nil
}

// refit carries a refit out, and keeps what came of it for all processes.
func (b *stored) refit(ctx context.Context, holder string) {
	ctx, cancel := context.WithTimeout(ctx, refitTime)
	defer cancel()
	steps, beating := make(chan string), make(chan struct{})
	go func() {
		defer close(beating)
		b.beat(ctx, holder, steps)
	}()
	proposal, err := b.sources.Refit(ctx, func(step string) {
		select {
		case steps <- step:
		case <-ctx.Done():
		}
	})
	outcome, failure := "", ""
	if err == nil {
		outcome, err = outcomeOf(proposal)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		failure = "it took too long, or its process was stopped; refit again"
	case err != nil:
		failure = err.Error()
	}
	ending, done := context.WithTimeout(context.WithoutCancel(ctx), refitEnd)
	defer done()
	cancel()
	<-beating
	// A database that can't be written shows the refit as gone in a while.
	_ = b.sources.Store.EndRefit(ending, holder, outcome, failure)
}

// beat notes steps, and that the process lives.
func (b *stored) beat(ctx context.Context, holder string, steps <-chan string) {
	tick := time.NewTicker(refitBeat)
	defer tick.Stop()
	for step := "beginning"; ; {
		select {
		case <-ctx.Done():
			return
		case step = <-steps:
		case <-tick.C:
		}
		_ = b.sources.Store.NoteRefit(ctx, holder, step) // the next beat tells it again
	}
}

// outcomeOf is what the page shows of a proposal.
func outcomeOf(p *refit.Proposal) (string, error) {
	out := RefitOutcome{Proposal: *p, AllFlips: len(p.Compared.Flips)}
	for _, f := range p.Compared.Flips[:min(len(p.Compared.Flips), mostRefitFlips)] {
		out.Flips = append(out.Flips, RefitFlip{f.ID, f.Court.End(), f.Candidate.End(), f.Mark})
	}
	compared := *p.Compared
	compared.Flips, out.Compared = nil, &compared
	text, err := json.Marshal(out) //nolint:musttag // the row is of this package alone
	return string(text), err
}

func (b *stored) TakeRefit(ctx context.Context) (int64, error) {
	kept, err := b.Refit(ctx)
	if err != nil {
		return 0, err
	}
	if kept == nil || kept.Outcome == nil {
		return 0, &UserError{"there is no profile to take: refit first"}
	}
	p := kept.Outcome
	in := struct {
		Files map[string][]byte `json:"files"`
		Note  string            `json:"note"`
	}{map[string][]byte{p.File: p.Profile}, "a profile that was learned from corrections"}
	var g struct {
		ID int64 `json:"id"`
	}
	err = b.send(ctx, "/generations", in, &g)
	return g.ID, err
}
