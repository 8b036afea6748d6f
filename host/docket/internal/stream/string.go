package stream

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string, of which the head and the tail are kept.
func (r *JSON) String(head, tail int) (string, error) {
	if b, err := r.space(); err != nil {
		return "", err
	} else if b != '"' {
		return "", r.Fail("found " + quote(b) + " where a string is expected")
	}
	r.take('"')
	if r.Bad != nil {
		var whole bytes.Buffer
		err := r.characters(func(piece []byte) { whole.Write(piece) })
		r.check(whole.Bytes())
		return whole.String(), err
	}
	kept := NewClip(head, tail)
	err := r.characters(func(piece []byte) { kept.Write(string(piece)) })
	return kept.Text(), err
}

// check tells of text that is no UTF-8.
func (r *JSON) check(text []byte) {
	if utf8.Valid(text) {
		return
	}
	for at := 0; at < len(text); {
		c, size := utf8.DecodeRune(text[at:])
		if c == utf8.RuneError && size == 1 {
			r.Bad("is no valid UTF-8 from its byte " + strconv.Itoa(at+1) + " on (0x" + strconv.FormatInt(int64(text[at]), 16) + ")")
			return
		}
		at += size
	}
}

// characters reads up to the quote that ends a string. Lone surrogates become U+FFFD.
func (r *JSON) characters(write func([]byte)) error {
	var escaped []byte
	for {
		if _, err := r.peek(); err != nil {
			return err
		}
		// What is buffered is read at once: a call for each byte takes most of the time that a docket takes.
		plain, _ := r.in.Peek(r.in.Buffered())
		end, later := 0, 0 // bytes, and those of them that are not the first of a character
		for ; end < len(plain) && plain[end] >= ' ' && plain[end] != '"' && plain[end] != '\\'; end++ {
			if plain[end]&0xC0 == 0x80 {
				later++
			}
		}
		write(plain[:end])
		r.offset, r.column = r.offset+end, r.column+end-later
		if end == len(plain) {
			_, _ = r.in.Discard(end)
			continue
		}
		stop := plain[end]
		_, _ = r.in.Discard(end)
		switch stop {
		case '"':
			r.take(stop)
			return nil
		case '\\':
			c, err := r.escape()
			if err != nil {
				return err
			}
			escaped = utf8.AppendRune(escaped[:0], c)
			write(escaped)
		default:
			return r.Fail("a string holds a raw control character")
		}
	}
}

func (r *JSON) escape() (rune, error) {
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
	return 0, r.Fail("there is no escape " + quote(b))
}

// unicode reads \u's four digits, and the second half of a pair.
func (r *JSON) unicode() (rune, error) {
	high, err := r.hex()
	if err != nil || !utf16.IsSurrogate(high) {
		return high, err
	}
	next, _ := r.in.Peek(2)
	if string(next) != `\u` || high >= 0xDC00 {
		return r.lone(high), nil
	}
	if ahead, _ := r.in.Peek(6); len(ahead) == 6 {
		low, err := strconv.ParseUint(string(ahead[2:]), 16, 32)
		if err != nil || low < 0xDC00 || low > 0xDFFF {
			return r.lone(high), nil //nolint:nilerr // the next escape is read by itself, and rejected if it is none
		}
	}
	r.take('\\')
	r.take('u')
	low, err := r.hex()
	return utf16.DecodeRune(high, low), err
}

func (r *JSON) lone(surrogate rune) rune {
	if r.Bad != nil {
		r.Bad(`holds a lone surrogate \u` + strconv.FormatInt(int64(surrogate), 16))
	}
	return utf8.RuneError
}

func (r *JSON) hex() (rune, error) {
	var c rune
	for range 4 {
		b, err := r.peek()
		if err != nil {
			return 0, err
		}
		digit, err := strconv.ParseUint(string(rune(b)), 16, 8)
		if err != nil {
			return 0, r.Fail("found " + quote(b) + " where a hexadecimal digit is expected")
		}
		r.take(b)
		c = c<<4 | rune(digit)
	}
	return c, nil
}
