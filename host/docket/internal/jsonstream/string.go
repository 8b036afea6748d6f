package jsonstream

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// characters reads up to the quote that ends a string. Invalid UTF-8 and lone surrogates become U+FFFD.
func (r *Reader) characters(to *testlog.Clip) error {
	piece := make([]byte, 0, 512)
	for {
		b, err := r.peek()
		if err != nil {
			return err
		}
		switch {
		case b == '"':
			r.take(b)
			to.Write(string(piece))
			return nil
		case b == '\\':
			c, err := r.escape()
			if err != nil {
				return err
			}
			piece = utf8.AppendRune(piece, c)
		case b < ' ':
			return r.fail("there is a control character in a string")
		default:
			r.take(b)
			piece = append(piece, b)
		}
		if len(piece) > 500 {
			to.Write(string(piece))
			piece = piece[:0]
		}
	}
}

func (r *Reader) escape() (rune, error) {
	r.take('\\')
	b, err := r.peek()
	if err != nil {
		return 0, err
	}
	if b == 'u' {
		r.take(b)
		return r.unicode()
	}
	for i := range len(`"\/bfnrt`) {
		if `"\/bfnrt`[i] == b {
			r.take(b)
			return rune("\"\\/\b\f\n\r\t"[i]), nil
		}
	}
	return 0, r.fail("there is no escape " + quote(b))
}

// unicode reads \u's four digits, and the second half of a pair.
func (r *Reader) unicode() (rune, error) {
	high, err := r.hex()
	if err != nil || !utf16.IsSurrogate(high) {
		return high, err
	}
	next, _ := r.in.Peek(2)
	if string(next) != `\u` || high >= 0xDC00 {
		return utf8.RuneError, nil
	}
	if ahead, _ := r.in.Peek(6); len(ahead) == 6 {
		low, err := strconv.ParseUint(string(ahead[2:]), 16, 32)
		if err != nil || low < 0xDC00 || low > 0xDFFF {
			return utf8.RuneError, nil //nolint:nilerr // the next escape is read by itself, and rejected if it is none
		}
	}
	r.take('\\')
	r.take('u')
	low, err := r.hex()
	return utf16.DecodeRune(high, low), err
}

func (r *Reader) hex() (rune, error) {
	var c rune
	for range 4 {
		b, err := r.peek()
		if err != nil {
			return 0, err
		}
		digit, err := strconv.ParseUint(string(rune(b)), 16, 8)
		if err != nil {
			return 0, r.fail("found " + quote(b) + " where a hexadecimal digit is expected")
		}
		r.take(b)
		c = c<<4 | rune(digit)
	}
	return c, nil
}
