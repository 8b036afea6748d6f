package plan

import (
	"context"
	"sync"
)

// Turns give the turn to those who wait for it, first come, first served.
type Turns struct {
	mu      sync.Mutex
	waiting []chan struct{}
}

type key struct{}

// Run calls do for 0 to n-1, with at most so many begun at the same time. Only one has the turn; it keeps it until it ends or calls
// [Yield] with the context that do got. Run returns at once; ended is closed for each that is done.
func Run(ctx context.Context, n, most int, do func(ctx context.Context, i int)) (ended []chan struct{}) {
	t := &Turns{}
	ctx = context.WithValue(ctx, key{}, t)
	ended = make([]chan struct{}, n)
	for i := range ended {
		ended[i] = make(chan struct{})
	}
	next := 0
	var begin func() // the lock is held
	begin = func() {
		if next == n {
			return
		}
		i, turn := next, t.wait()
		next++
		go func() {
			<-turn
			do(ctx, i)
			close(ended[i])
			t.mu.Lock()
			defer t.mu.Unlock()
			begin()
			t.pass()
		}()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for range most {
		begin()
	}
	t.pass()
	return ended
}

// wait queues up. The lock is held.
func (t *Turns) wait() <-chan struct{} {
	turn := make(chan struct{})
	t.waiting = append(t.waiting, turn)
	return turn
}

// pass gives the turn to the next. The lock is held.
func (t *Turns) pass() {
	if len(t.waiting) > 0 {
		close(t.waiting[0])
		t.waiting = t.waiting[1:]
	}
}

// Yield hands the turn on and waits until it comes back. It says whether there was anybody else; without [Run] there is not.
func Yield(ctx context.Context) bool {
	t, ok := ctx.Value(key{}).(*Turns)
	if !ok {
		return false
	}
	t.mu.Lock()
	if len(t.waiting) == 0 {
		t.mu.Unlock()
		return false
	}
	turn := t.wait()
	t.pass()
	t.mu.Unlock()
	<-turn
	return true
}
