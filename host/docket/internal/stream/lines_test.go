package stream

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLineReaderHoldsNoLongLine(t *testing.T) {
	t.Parallel()
	const limit = 1 << 16
	l := NewLines(strings.NewReader(strings.Repeat("x", 16<<20)+"\nshort\n"), limit)
	line, length, err := l.Next()
	if line != nil || length != 16<<20 || err != nil {
		t.Fatalf("got %d bytes of %d, %v", len(line), length, err)
	}
	if cap(l.buf) > 4*limit {
		t.Errorf("%d bytes of a line beyond the limit of %d are held", cap(l.buf), limit)
	}
	if line, _, err = l.Next(); string(line) != "short" || err != nil {
		t.Errorf("then: %q, %v", line, err)
	}
}

func TestClipKeepsAShortLogWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.StringN(0, 10, 20)).Draw(t, "parts")
		c := NewClip(64, 64)
		for _, p := range parts {
			c.Write(p)
		}
		whole := strings.Join(parts, "")
		got := c.Text()
		if len(whole) <= 128 && got != whole {
			t.Fatalf("%q became %q", whole, got)
		}
		if len(got) > 128*3+64 || !utf8.ValidString(got) {
			t.Fatalf("%d bytes became %d", len(whole), len(got))
		}
	})
}

func TestClipCountsWhatItCuts(t *testing.T) {
	t.Parallel()
	c := NewClip(20, 20)
	for i := range 10_000 {
		c.Write(fmt.Sprintf("line %04d\n", i))
		if len(c.head)+len(c.tail) > 20+2*20 {
			t.Fatalf("holds %d bytes", len(c.head)+len(c.tail))
		}
	}
	want := "line 0000\nline 0001\n[... 99970 bytes cut here ...]\nline 9999\n"
	if got := c.Text(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
