package linger

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"sync"
)

// Pool bounds how many connections are open at a time, those that linger included. Where there are as many, a new one takes the place of
// the oldest whose client did not say who it is, so that clients that only hold connections disturb each other alone. Safe for concurrent
// use.
type Pool struct {
	most int
	mu   sync.Mutex
	open []*conn // the oldest first
}

// NewPool makes a pool of at most so many connections; 0: any number.
func NewPool(most int) *Pool { return &Pool{most: most} }

// Listener gives connections of the pool that linger: see [Listener].
func (p *Pool) Listener(l net.Listener) net.Listener { return listener{l, maxTime, maxBytes, p} }

// add takes in a connection, and says whether there is room.
func (p *Pool) add(c *conn) bool {
	p.mu.Lock()
	var oldest *conn
	full := p.most > 0 && len(p.open) >= p.most
	if full {
		if i := slices.IndexFunc(p.open, func(c *conn) bool { return !c.known.Load() }); i >= 0 {
			oldest = p.open[i]
			p.open = slices.Delete(p.open, i, i+1)
		}
	}
	room := !full || oldest != nil
	if room {
		p.open = append(p.open, c)
	}
	p.mu.Unlock()
	if oldest != nil {
		_ = oldest.TCPConn.Close()
	}
	return room
}

func (p *Pool) remove(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.open, c); i >= 0 {
		p.open = slices.Delete(p.open, i, i+1)
	}
}

type connKey struct{}

// Context is a http.Server's ConnContext, for [Known].
func Context(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// Known says that the client of a request's connection said who it is: the connection is not given up for a new one.
func Known(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.known.Store(true)
	}
}

// end closes the connection for good.
func (c *conn) end() error {
	c.pool.remove(c)
	err := c.TCPConn.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
