//go:build wasm

package codec

import (
	"math"
	"unsafe"
)

// Guests read and write msgpack without a library.
type (
	tokens  = guestTokens
	encoder = guestEncoder
)

// decodeMessage reads one message with nothing behind it. It returns the zero value if the message has a problem. Canonical messages, which
// is what the host sends, are read by their layout; everything else by the strict decoder. The layout is nil for a type that has none.
func decodeMessage[T any](data []byte, maxBytes int, l *layout, read func(*decoder, *T)) (T, error) {
	var v, zero T
	if err := checkSize(data, maxBytes); err != nil {
		return zero, err
	}
	message := padded(data)
	if l != nil {
		if readCanonical(message, l, unsafe.Pointer(&v)) {
			return v, nil
		}
		v = zero
	}
	d := &decoder{tokens: tokens{data: data, whole: message[:len(data)]}}
	read(d, &v)
	if err := d.finish(); err != nil {
		return zero, err
	}
	return v, nil
}

func appendMessage[T any](dst []byte, v *T, write func(*encoder, *T)) []byte {
	e := &encoder{b: dst}
	write(e, v)
	return e.b
}

// guestEncoder appends canonical msgpack, for guests. Its methods are not inlined: they are called from every field of every type, and
// their bodies would add a tenth of a megabyte to a guest.
type guestEncoder struct{ b []byte }

// number writes a code and the low bytes of n, big-endian.
//
//go:noinline
func (e *guestEncoder) number(code byte, bytes int, n uint64) {
	e.b = append(e.b, code)
	for shift := 8 * (bytes - 1); shift >= 0; shift -= 8 {
		e.b = append(e.b, byte(n>>shift))
	}
}

// sized writes a length with its code: fixed up to most, else the first of
// the codes whose width holds it. narrow is the width of the first code.
//
//go:noinline
func (e *guestEncoder) sized(n int, fixed byte, most int, first byte, narrow int) {
	switch {
	case n <= most:
		e.b = append(e.b, fixed|byte(n))
	case narrow == 1 && n <= math.MaxUint8:
		e.b = append(e.b, first, byte(n))
	case n <= math.MaxUint16:
		e.number(first+byte(2-narrow), 2, uint64(n))
	default:
		e.number(first+byte(3-narrow), 4, uint64(n))
	}
}

//go:noinline
func (e *guestEncoder) mapLen(n int) { e.sized(n, 0x80, 15, 0xde, 2) }

//go:noinline
func (e *guestEncoder) listLen(n int) { e.sized(n, 0x90, 15, 0xdc, 2) }

//go:noinline
func (e *guestEncoder) text(s string) {
	if n := len(s); n <= 31 { // as most are
		e.b = append(append(e.b, 0xa0|byte(n)), s...)
		return
	}
	e.sized(len(s), 0xa0, 31, 0xd9, 1)
	e.b = append(e.b, s...)
}

//go:noinline
func (e *guestEncoder) boolean(v bool) {
	if v {
		e.b = append(e.b, 0xc3)
	} else {
		e.b = append(e.b, 0xc2)
	}
}

//go:noinline
func (e *guestEncoder) float(f float64) {
	if f == 0 {
		f = 0 // not -0
	}
	n := math.Float64bits(f)
	e.b = append(e.b, 0xcb, byte(n>>56), byte(n>>48), byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

//go:noinline
func (e *guestEncoder) integer(n int64) {
	switch {
	case n >= -32 && n <= math.MaxInt8:
		e.b = append(e.b, byte(n))
	case n >= 0 && n <= math.MaxUint8:
		e.b = append(e.b, 0xcc, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		e.number(0xcd, 2, uint64(n))
	case n >= 0 && n <= math.MaxUint32:
		e.number(0xce, 4, uint64(n))
	case n >= 0:
		e.number(0xcf, 8, uint64(n))
	case n >= math.MinInt8:
		e.b = append(e.b, 0xd0, byte(n))
	case n >= math.MinInt16:
		e.number(0xd1, 2, uint64(n))
	case n >= math.MinInt32:
		e.number(0xd2, 4, uint64(n))
	default:
		e.number(0xd3, 8, uint64(n))
	}
}

// guestTokens reads single msgpack tokens from bytes. A method that returns false has reached the end of the bytes.
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
