package sandbox

import (
	"context"
	"sync"
)

// gate counts the calls in flight, because freeing code or memory under a
// running guest kills the process.
type gate struct {
	mu      sync.Mutex
	inside  int
	closed  bool
	free    func() error
	freed   chan struct{}
	freeErr error
}

func newGate() gate { return gate{freed: make(chan struct{})} }

// enter reports whether the gate is open, and counts the caller in.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside++
	return true
}

// leave is called once for each enter that was let in. The last one out of a
// closed gate frees.
func (g *gate) leave() {
	g.mu.Lock()
	g.inside--
	last := g.closed && g.inside == 0
	g.mu.Unlock()
	if last {
		g.finish()
	}
}

// close shuts the gate and waits until free has run, once, after the last
// call inside has left.
func (g *gate) close(ctx context.Context, free func() error) error {
	g.mu.Lock()
	first := !g.closed
	if first {
		g.closed, g.free = true, free
	}
	idle := first && g.inside == 0
	g.mu.Unlock()
	if idle {
		g.finish()
	}
	select {
	case <-g.freed: // also after the end of the context, as after Ctrl-C
		return g.freeErr
	default:
	}
	select {
	case <-g.freed:
		return g.freeErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) finish() {
	g.freeErr = g.free()
	close(g.freed)
}
