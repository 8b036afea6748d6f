// Package wire is the guests' codec: a strict decoder and a canonical encoder
// for every type of package abi, generated, without reflection and fmt, so
// that a module that links it stays small. The host's is package codec; both
// come from one template and agree on every byte and every problem.
//
// Functions may be called concurrently; decoded values share no memory with
// the bytes that they come from. Their strings are parts of one copy of the
// message, since a guest's memory is gone after the call: who keeps a string
// keeps that copy.
package wire

import (
	"math"
	"unsafe"
)

// tokens reads the parts of msgpack from bytes. A method that gives false has
// found the bytes at their end.
type tokens struct {
	data  []byte
	whole string // data once more, of which all strings are parts
	pos   int
}

func (t *tokens) rest() int { return len(t.data) - t.pos }

func (t *tokens) peek() (byte, bool) {
	if t.pos >= len(t.data) {
		return 0, false
	}
	return t.data[t.pos], true
}

// take gives the next n bytes, which must be there.
func (t *tokens) take(n int) []byte {
	b := t.data[t.pos : t.pos+n : t.pos+n]
	t.pos += n
	return b
}

// own gives the bytes that were just taken as a string.
func (t *tokens) own(b []byte) string { return t.whole[t.pos-len(b) : t.pos] }

// number reads a big-endian number of 1<<width bytes behind a code.
func (t *tokens) number(width int) (uint64, bool) {
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

func (t *tokens) length(width int) (uint32, bool) {
	n, ok := t.number(width)
	return uint32(n), ok
}

// stringLen reads the header of a string or a binary.
func (t *tokens) stringLen() (uint32, bool) {
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
func (t *tokens) extensionLen() (n uint32, ok bool) {
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

func (t *tokens) listLen() (uint32, bool) {
	c := t.data[t.pos]
	if c <= 0x9f {
		t.pos++
		return uint32(c & 0x0f), true
	}
	return t.length(int(c-0xdc) + 1)
}

func (t *tokens) mapLen() (uint32, bool) {
	c := t.data[t.pos]
	if c <= 0x8f {
		t.pos++
		return uint32(c & 0x0f), true
	}
	return t.length(int(c-0xde) + 1)
}

// int reads an integer of any width. One above 1<<63 - 1 is in big.
func (t *tokens) int() (n int64, big uint64, ok bool) {
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
func (t *tokens) double() (float64, bool) {
	if t.data[t.pos] == 0xca {
		n, ok := t.number(2)
		return float64(math.Float32frombits(uint32(n))), ok
	}
	n, ok := t.number(3)
	return math.Float64frombits(n), ok
}

// decodeMessage reads one message with nothing behind it. l is nil for a type
// without a layout.
func decodeMessage[T any](data []byte, v *T, l *layout, read func(*decoder, *T)) error {
	var zero T
	*v = zero
	whole := padded(data)
	if l != nil {
		if readCanonical(whole, l, unsafe.Pointer(v)) {
			return nil
		}
		*v = zero
	}
	d := &decoder{tokens: tokens{data: data, whole: whole[:len(data)]}}
	read(d, v)
	err := d.finish()
	if err != nil {
		*v = zero
	}
	return err
}
