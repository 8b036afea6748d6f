package codec

import "math"

// guestTokens reads single msgpack tokens from bytes. A method that returns false has
// reached the end of the bytes. It is compiled for the host as well, for the tests.
type guestTokens struct {
	data  []byte
	whole string // data again, of which all strings are parts
	pos   int
}

func (t *guestTokens) rest() int { return len(t.data) - t.pos }

func (t *guestTokens) peek() (byte, bool) {
	if t.pos >= len(t.data) {
		return 0, false
	}
	return t.data[t.pos], true
}

// take gives the next n bytes, which must be there.
func (t *guestTokens) take(n int) []byte {
	b := t.data[t.pos : t.pos+n : t.pos+n]
	t.pos += n
	return b
}

// own gives the bytes that were just taken as a string.
func (t *guestTokens) own(b []byte) string { return t.whole[t.pos-len(b) : t.pos] }

// number reads a big-endian number of 1<<width bytes behind a code.
func (t *guestTokens) number(width int) (uint64, bool) {
	n := 1 << width
	if t.rest() < 1+n {
		return 0, false
	}
	var v uint64
	for _, b := range t.take(1 + n)[1:] {
		v = v<<8 | uint64(b)
	}
	return v, true
}

func (t *guestTokens) length(width int) (uint32, bool) {
	n, ok := t.number(width)
	return uint32(n), ok
}

// stringLen reads the header of a string or a binary.
func (t *guestTokens) stringLen() (uint32, bool) {
	switch c := t.data[t.pos]; {
	case c <= 0xbf:
		t.pos++
		return uint32(c & 0x1f), true
	case c <= 0xc6:
		return t.length(int(c - 0xc4))
	default:
		return t.length(int(c - 0xd9))
	}
}

// extensionLen reads the header of an extension, its type included.
func (t *guestTokens) extensionLen() (n uint32, ok bool) {
	if c := t.data[t.pos]; c >= 0xd4 {
		t.pos++
		n, ok = 1<<(c-0xd4), true
	} else {
		n, ok = t.length(int(c - 0xc7))
	}
	if !ok || t.rest() < 1 {
		return 0, false
	}
	t.pos++
	return n, true
}

func (t *guestTokens) listLen() (uint32, bool) {
	c := t.data[t.pos]
	if c <= 0x9f {
		t.pos++
		return uint32(c & 0x0f), true
	}
	return t.length(int(c-0xdc) + 1)
}

func (t *guestTokens) mapLen() (uint32, bool) {
	c := t.data[t.pos]
	if c <= 0x8f {
		t.pos++
		return uint32(c & 0x0f), true
	}
	return t.length(int(c-0xde) + 1)
}

// int reads an integer of any width. One above 1<<63 - 1 is in big.
func (t *guestTokens) int() (n int64, big uint64, ok bool) {
	c := t.data[t.pos]
	if c <= 0x7f || c >= 0xe0 {
		t.pos++
		return int64(int8(c)), 0, true
	}
	width := int(c-0xcc) & 3
	u, ok := t.number(width)
	if c >= 0xd0 { // sign of its width
		shift := 64 - 8<<width
		return int64(u<<shift) >> shift, 0, ok
	}
	if u > math.MaxInt64 {
		return 0, u, ok
	}
	return int64(u), 0, ok
}

// double reads a float of either width.
func (t *guestTokens) double() (float64, bool) {
	if t.data[t.pos] == 0xca {
		n, ok := t.number(2)
		return float64(math.Float32frombits(uint32(n))), ok
	}
	n, ok := t.number(3)
	return math.Float64frombits(n), ok
}
