package stream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Lines hands out the lines of a stream. It holds at most one line, and of a line beyond the limit only its length.
type Lines struct {
	in    *bufio.Reader
	limit int
	buf   []byte
}

// NewLines makes a reader whose lines have at most limit bytes, without their breaks.
func NewLines(in io.Reader, limit int) *Lines {
	return &Lines{in: bufio.NewReaderSize(in, bufferBytes), limit: limit}
}

// Next returns the next line without its line break; it is valid until the next call. length is that of the whole line,
// above limit when the line was too long, and then line is nil. At the end err is io.EOF.
func (l *Lines) Next() (line []byte, length int, err error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		length += len(part)
		if length <= l.limit+len("\r\n") {
			l.buf = append(l.buf, part...)
		}
		switch {
		case err == nil:
			return l.finish(length, part)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && length > 0:
			return l.finish(length, part)
		default:
			return nil, length, err
		}
	}
}

func (l *Lines) finish(length int, last []byte) ([]byte, int, error) {
	if length <= l.limit+len("\r\n") {
		if line := withoutBreak(l.buf); len(line) <= l.limit {
			return line, len(line), nil
		}
	}
	if cap(l.buf) > 1<<20 {
		l.buf = nil
	}
	return nil, length - (len(last) - len(withoutBreak(last))), nil
}

func withoutBreak(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}
