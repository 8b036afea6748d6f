package client

import (
	"context"
	"io"
	"sync/atomic"
)

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
