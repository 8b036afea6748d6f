package wire

import (
	"bufio"
	"errors"
	"io"
)

// LineReader reads lines of bounded length. A last line without its end was cut off: io.ErrUnexpectedEOF.
type LineReader struct {
	In   *bufio.Reader
	Most int // bytes of a line, its end included
	line []byte
}

// ErrTooLong says that a line has more bytes than it may.
var ErrTooLong = errors.New("the line is too long")

// Next gives a line with its end, which is valid until the next call.
func (r *LineReader) Next() ([]byte, error) {
	for r.line = r.line[:0]; ; {
		part, err := r.In.ReadSlice('\n')
		if len(r.line)+len(part) > r.Most {
			return nil, ErrTooLong
		}
		r.line = append(r.line, part...)
		switch {
		case err == nil:
			return r.line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(r.line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}
