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
// the oldest whose client did not say who it is, or else of the oldest of the client that has most: clients that only hold connections
// disturb themselves. Safe for concurrent use.
type Pool struct {
	most int
	mu   sync.Mutex
	open []*conn // the oldest first
}

// NewPool makes a pool of at most so many connections; 0: any number.
func NewPool(most int) *Pool { return &Pool{most: most} }

// Listener gives connections of the pool that linger: see [Listener].
func (p *Pool) Listener(l net.Listener) net.Listener { return listener{l, maxTime, maxBytes, p} }

// add takes in a connection.
func (p *Pool) add(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.most > 0 && len(p.open) >= p.most {
		i := p.loser()
		_ = p.open[i].TCPConn.Close()
		p.open = slices.Delete(p.open, i, i+1)
	}
	p.open = append(p.open, c)
}

// loser is the connection that is given up for a new one.
func (p *Pool) loser() int {
	of := map[string]int{}
	for i, c := range p.open {
		if c.client == "" {
			return i
		}
		of[c.client]++
	}
	loser := 0
	for i, c := range p.open {
		if of[c.client] > of[p.open[loser].client] {
			loser = i
		}
	}
	return loser
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

// Known says who the client of a request's connection is.
func Known(ctx context.Context, client string) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.pool.mu.Lock()
		defer c.pool.mu.Unlock()
		c.client = client
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
