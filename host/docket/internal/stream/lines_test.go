package stream

import (
	"io"
	"strings"
	"testing"
)

// endless gives n times the byte b, then the rest.
func endless(b byte, n int64, rest string) io.Reader {
	return io.MultiReader(io.LimitReader(repeat(b), n), strings.NewReader(rest))
}

type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

// watched calls look before every read.
type watched struct {
	io.Reader
	look func()
}

func (w watched) Read(p []byte) (int, error) {
	w.look()
	return w.Reader.Read(p)
}

func TestLineReaderHoldsNoLongLine(t *testing.T) {
	t.Parallel()
	const limit = 1 << 16
	var l *Lines
	most := 0
	l = NewLines(watched{endless('x', 16<<20, "\nshort\n"), func() { most = max(most, cap(l.buf)) }}, limit)
	line, length, err := l.Next()
	if line != nil || length != 16<<20 || err != nil {
		t.Fatalf("got %d bytes of %d, %v", len(line), length, err)
	}
	if most > 4*limit {
		t.Errorf("%d bytes of a line beyond the limit of %d are held", most, limit)
	}
	if line, _, err = l.Next(); string(line) != "short" || err != nil {
		t.Errorf("then: %q, %v", line, err)
	}
}
