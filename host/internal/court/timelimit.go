package court

import (
	"context"
	"sync"
	"time"
)

// timeLimit ends contexts after some time, in which waiting for experiments does not count. It is safe for concurrent use.
type timeLimit struct {
	mu     sync.Mutex
	timers []*limitTimer
	cancel []context.CancelCauseFunc
	paused time.Duration
	now    func() time.Time
}

// limitTimer ends one context. It has run since a moment of the monotonic clock, and has some time left from there.
type limitTimer struct {
	timer *time.Timer
	since time.Time
	left  time.Duration
}

// context gives a context that ends after some time, or with free.
func (l *timeLimit) context(parent context.Context, after time.Duration) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	t := &limitTimer{timer: time.AfterFunc(after, func() { cancel(context.DeadlineExceeded) }), since: time.Now(), left: after} //nolint:forbidigo // beside a timer of real time
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timers, l.cancel = append(l.timers, t), append(l.cancel, cancel)
	return ctx
}

// free ends all contexts.
func (l *timeLimit) free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, t := range l.timers {
		t.timer.Stop()
		l.cancel[i](context.Canceled)
	}
}

// pause stops the time until the function that it gives is called. A limit that has passed stays passed.
func (l *timeLimit) pause() (resume func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	start := l.now()
	var stopped []*limitTimer
	for _, t := range l.timers {
		if t.timer.Stop() {
			t.left -= time.Since(t.since)
			stopped = append(stopped, t)
		}
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.paused += l.now().Sub(start)
		for _, t := range stopped {
			t.since = time.Now() //nolint:forbidigo // beside a timer of real time
			t.timer.Reset(max(t.left, 0))
		}
	}
}

// pausedFor is how long the time stood still, by the clock of the trial.
func (l *timeLimit) pausedFor() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paused
}
