package cli

import (
	"errors"
	"io"
	"syscall"
)

// Streams are the streams of a command. Data goes to Out, everything else to Err.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

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

// UntilGone writes as long as somebody reads, and then nothing, so that the
// other outputs are completed.
type UntilGone struct {
	W    io.Writer
	gone bool
}

// Write writes to W, unless its reader is gone.
func (u *UntilGone) Write(p []byte) (int, error) {
	if u.gone {
		return len(p), nil
	}
	n, err := u.W.Write(p)
	if readerGone(err) {
		u.gone = true
		return len(p), nil
	}
	return n, err
}
