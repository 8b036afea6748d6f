// Package linger closes the connections of a server so that clients read answers that came before they had sent all.
//
// A connection that is closed with unread bytes is reset, and a client whose write fails for that may never look at the answer. net/http
// avoids it for some requests only: not for those with Expect: 100-continue, and not where its http.ResponseWriter is wrapped. So
// connections close as RFC 9112, section 9.6 asks: the server says that it has said all, and reads on until the client closes, too.
package linger

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// How long a closed connection is kept for its client. One that stays longer, or sends more, costs the server no more than this.
const (
	maxTime  = 5 * time.Second
	maxBytes = 16 << 20
)

// Listener gives connections of TCP that linger when they are closed: they are half closed at once, and whatever comes is discarded, until
// the client closes, for 5 s and 16 MiB at most. Close does not wait for that, nor does a process that ends. Safe for concurrent use.
func Listener(l net.Listener) net.Listener { return NewPool(0).Listener(l) }

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
