package model

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Clock is what timeouts, waits and limits of rates run by.
type Clock interface {
	Now() time.Time
	// Sleep waits, or ends early with the error of the context.
	Sleep(ctx context.Context, d time.Duration) error
	// AfterFunc calls a function after a time, unless it is stopped before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() } //nolint:forbidigo // the default of an injected clock

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (systemClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

func random() float64 { return rand.Float64() } //nolint:gosec // spreads retries

// rate limits how many requests begin in any minute.
type rate struct {
	mu    sync.Mutex
	begun []time.Time // a ring of the last requests
	next  int
}

func newRate(perMinute int) *rate { return &rate{begun: make([]time.Time, perMinute)} }

// wait is how long a request that is ready now has to wait; it counts as begun then.
func (r *rate) wait(now time.Time) time.Duration {
	if len(r.begun) == 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := now
	if free := r.begun[r.next].Add(time.Minute); free.After(at) {
		at = free
	}
	r.begun[r.next] = at
	r.next = (r.next + 1) % len(r.begun)
	return at.Sub(now)
}
