package client

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// dial gives connections whose answers can be read although the rest of a request could not be written: see [answered].
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &answered{Conn: c, read: make(chan struct{})}, nil
}

// answerTime is how long an answer is read after a write failed, where the server does not end it.
const answerTime = 2 * time.Second

// answered is a connection that tells of a failed write when all is read. A server that rejects a docket may close its connection while the
// docket is sent; net/http would drop the connection at the failed write, with an answer that was already received.
type answered struct {
	net.Conn
	once sync.Once
	read chan struct{} // closed when nothing more can be read
}

func (c *answered) ended() { c.once.Do(func() { close(c.read) }) }

// Read notes the end of what can be read: net/http sets no deadlines.
func (c *answered) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.ended()
	}
	return n, err
}

// Write waits after an error, until all is read or the connection is closed.
func (c *answered) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		timer := time.NewTimer(answerTime)
		defer timer.Stop()
		select {
		case <-c.read:
		case <-timer.C:
		}
	}
	return n, err
}

// Close closes the connection, and ends the waiting of a write.
func (c *answered) Close() error {
	c.ended()
	return c.Conn.Close()
}

// stalled ends a request of which nothing comes or goes any more.
type stalled func()

// watched reads a stream of a request, in either direction. The request is ended when nothing comes for stallTime.
func (c *Client) watched(ctx context.Context, end stalled, in io.Reader) io.ReadCloser {
	ctx, stop := context.WithCancel(ctx)
	w := &watch{in: in, stop: stop}
	go func() {
		for before := w.reads.Load(); ; {
			if c.config.Wait(ctx, stallTime) != nil {
				return
			}
			now := w.reads.Load()
			if now == before {
				end()
				return
			}
			before = now
		}
	}()
	return w
}

// watch counts the reads of a stream.
type watch struct {
	in    io.Reader
	stop  context.CancelFunc
	reads atomic.Uint64
}

func (w *watch) Read(p []byte) (int, error) {
	n, err := w.in.Read(p)
	if w.reads.Add(1); err != nil {
		w.stop()
	}
	return n, err
}

// Close ends the watch, and leaves the stream open.
func (w *watch) Close() error {
	w.stop()
	return nil
}
