package main

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"
)

// dataWriter is the standard output. It keeps the first error of a write, so
// that no command ends well whose data did not arrive.
type dataWriter struct {
	w   io.Writer
	err error
}

// Write fails for good after its first error.
func (d *dataWriter) Write(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.w.Write(p)
	d.err = err
	return n, err
}

// readerGone says that an error is nobody's fault: the program that read our
// output has ended, as `head` does.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }

// untilGone writes as long as somebody reads, and then nothing, so that the
// other outputs are completed.
type untilGone struct {
	w    io.Writer
	gone bool
}

func (u *untilGone) Write(p []byte) (int, error) {
	if u.gone {
		return len(p), nil
	}
	n, err := u.w.Write(p)
	if readerGone(err) {
		u.gone = true
		return len(p), nil
	}
	return n, err
}

// terminalFile gives the terminal behind a stream, or nil.
func terminalFile(stream any) *os.File {
	switch s := stream.(type) {
	case *dataWriter:
		return terminalFile(s.w)
	case *untilGone:
		return terminalFile(s.w)
	case *os.File:
		if term.IsTerminal(int(s.Fd())) {
			return s
		}
	}
	return nil
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

func newInterruptible(ctx context.Context, in io.Reader) *interruptible {
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
