package run

import (
	"context"
	"io"
	"os"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// OpenFile opens a file, and gives up when the context ends: a pipe that
// nobody writes to opens never.
func OpenFile(ctx context.Context, name string) (*os.File, error) {
	return Opened(ctx, func() (*os.File, error) { return os.Open(name) })
}

// Opened is OpenFile for a file that is opened in another way.
func Opened(ctx context.Context, open func() (*os.File, error)) (*os.File, error) {
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := open()
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// counted tells how much was read.
type counted struct {
	io.Reader

	name    string
	dockets *Dockets
	bytes   int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	before := c.bytes >> 20
	if c.bytes += int64(n); c.bytes>>20 > before && c.dockets.Read != nil {
		c.dockets.Read(c.name, c.bytes)
	}
	return n, err
}

// interruptible lets a read that waits for a terminal or a pipe end with the
// context. The goroutine of a read that never returns stays until the program
// ends.
type interruptible struct {
	ctx  context.Context //nolint:containedctx // io.Reader has no place for it
	in   io.Reader
	rest []byte
	err  error
}

type chunk struct {
	data []byte
	err  error
}

// NewReader lets a read that waits for a terminal or a pipe end with the context.
func NewReader(ctx context.Context, in io.Reader) io.Reader {
	return &interruptible{ctx: ctx, in: in}
}

func (r *interruptible) Read(p []byte) (int, error) {
	if len(r.rest) == 0 && r.err == nil {
		r.fill(max(len(p), 1))
	}
	if n := copy(p, r.rest); n > 0 {
		r.rest = r.rest[n:]
		return n, nil
	}
	return 0, r.err
}

func (r *interruptible) fill(size int) {
	done := make(chan chunk, 1)
	go func() {
		buf := make([]byte, size)
		n, err := r.in.Read(buf)
		done <- chunk{buf[:n], err}
	}()
	select {
	case c := <-done:
		r.rest, r.err = c.data, c.err
	case <-r.ctx.Done():
		r.err = context.Cause(r.ctx)
	}
}

// places says where the ids of dockets of several formats stand, so that none
// is that of two cases; each reader sees to that for its own. A nil one is for
// dockets of one format.
type places map[string]string

func (i *Dockets) places() places {
	for _, in := range i.list {
		if in.format != i.list[0].format {
			return make(places)
		}
	}
	return nil
}

// note gives the entry, or that its id was that of a case of another docket.
func (p places) note(entry docket.Entry) (docket.Entry, error) {
	if p == nil {
		return entry, nil
	}
	if first, twice := p[entry.Case.ID]; twice {
		return docket.Entry{}, &docket.LineError{File: entry.Source, Line: entry.Line, Problems: []abi.Problem{{
			Path: abi.Path{abi.Field("id")}, Code: abi.CodeDuplicateID, Detail: "the case at " + first + " has this id",
		}}}
	}
	p[entry.Case.ID] = entry.Source + ":" + strconv.Itoa(entry.Line)
	return entry, nil
}
