package web

import (
	"context"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/host/service/refit"
)

// refitting is the one refit that a process carries out at a time. It is kept in memory: another process knows nothing of it.
type refitting struct {
	mu       sync.Mutex
	running  bool
	step     string
	failure  string
	proposal *refit.Proposal
}

// refitTime is the most that a refit may take.
const refitTime = 30 * time.Minute

func (b *stored) Refit(ctx context.Context) (*Refit, error) {
	if b.sources.Refit == nil {
		return nil, nil //nolint:nilnil // the server can't refit
	}
	known, err := b.sources.Store.CountKnown(ctx)
	if err != nil {
		return nil, err
	}
	r := &b.refits
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &Refit{Known: known, Needed: refit.Least, Running: r.running, Step: r.step, Failure: r.failure}
	if r.proposal != nil {
		out.Proposal = r.proposal
		out.Profile = string(r.proposal.Profile)
	}
	return out, nil
}

func (b *stored) StartRefit(ctx context.Context) error {
	if b.sources.Refit == nil {
		return ErrNotFound
	}
	r := &b.refits
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running {
		return &UserError{"a refit is running already"}
	}
	r.running, r.step, r.failure, r.proposal = true, "beginning", "", nil
	if b.sources.Background != nil {
		b.sources.Background(ctx, b.refit)
		return nil
	}
	go b.refit(context.WithoutCancel(ctx))
	return nil
}

// refit carries a refit out, and keeps what came of it.
func (b *stored) refit(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, refitTime)
	defer cancel()
	r := &b.refits
	proposal, err := b.sources.Refit(ctx, func(step string) {
		r.mu.Lock()
		r.step = step
		r.mu.Unlock()
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running, r.proposal = false, proposal
	if err != nil {
		r.proposal, r.failure = nil, err.Error()
	}
}

func (b *stored) TakeRefit(ctx context.Context) (int64, error) {
	r := &b.refits
	r.mu.Lock()
	p := r.proposal
	r.mu.Unlock()
	if p == nil {
		return 0, &UserError{"there is no profile to take: refit first"}
	}
	in := struct {
		Files map[string][]byte `json:"files"`
		Note  string            `json:"note"`
	}{map[string][]byte{p.File: p.Profile}, "a profile that was learned from corrections"}
	var g struct {
		ID int64 `json:"id"`
	}
	err := b.send(ctx, "/generations", in, &g)
	return g.ID, err
}
