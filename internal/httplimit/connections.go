package httplimit

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A connection that is closed with unread bytes is reset, and a client whose write fails for that may never look at the answer. net/http
// avoids it for some requests only: not for those with Expect: 100-continue, and not where its http.ResponseWriter is wrapped. So
// connections close as RFC 9112, section 9.6 asks: the server says that it has said all, and reads on until the client closes, too.

// How long a closed connection is kept for its client. One that stays longer, or sends more, costs the server no more than this.
const (
	lingerTime  = 5 * time.Second
	lingerBytes = 16 << 20
)

type listener struct {
	net.Listener
	time  time.Duration
	bytes int64
	pool  *Pool
}

// Accept waits for the next connection. Those of other kinds than TCP are given as they are.
func (l listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	tcp, ok := accepted.(*net.TCPConn)
	if !ok {
		return accepted, err
	}
	c := &conn{TCPConn: tcp, time: l.time, bytes: l.bytes, pool: l.pool}
	l.pool.add(c)
	return c, err
}

// conn keeps the other methods of a TCP connection, which net/http looks for.
type conn struct {
	*net.TCPConn
	time    time.Duration
	bytes   int64
	reading atomic.Int32 // calls of Read that go on
	ended   atomic.Bool  // the client closed the connection, or it broke
	closed  atomic.Bool
	pool    *Pool
	client  string // see Known; under the lock of the pool
}

// Read notes when nothing more can come.
func (c *conn) Read(p []byte) (int, error) {
	c.reading.Add(1)
	defer c.reading.Add(-1)
	n, err := c.TCPConn.Read(p)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.ended.Store(true)
	}
	return n, err
}

// Close closes the connection for its user. A second call closes it for the client, too, and so does the first where somebody reads:
// net/http waits for the next request then, or gives the connection up.
func (c *conn) Close() error {
	if c.closed.Swap(true) || c.ended.Load() || c.reading.Load() > 0 || c.CloseWrite() != nil {
		return c.end()
	}
	go c.linger()
	return nil
}

func (c *conn) linger() {
	defer func() { _ = c.end() }()
	end := time.Now().Add(c.time) //nolint:forbidigo // deadlines of connections are by the kernel's clock
	if c.SetReadDeadline(end) != nil {
		return
	}
	if _, err := io.CopyN(io.Discard, c.TCPConn, c.bytes); err == nil {
		time.Sleep(time.Until(end)) // the client has as long to read, but what it sends stays with it
	}
}

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

// Listener gives TCP connections of the pool, which linger when they are closed: they are half closed at once, and whatever comes is
// discarded, until the client closes, for 5 s and 16 MiB at most. Close does not wait for that, nor does a process that ends. Safe for
// concurrent use.
func (p *Pool) Listener(l net.Listener) net.Listener { return listener{l, lingerTime, lingerBytes, p} }

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

// connContext is a http.Server's ConnContext, for [Known].
func connContext(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// Known says who the client of a request's connection is. It is for requests of [Times.Server].
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
