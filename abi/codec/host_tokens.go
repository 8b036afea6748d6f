//go:build !wasm

package codec

import (
	"io"
	"math"

	"github.com/vmihailenco/msgpack/v5"
)

const codeUint64 = 0xcf

// hostTokens reads single msgpack tokens through the library's token methods. Its methods are only called when a code of the right kind
// comes next, since the library takes nil for a number and binary for a string; what it can then still complain of is the end of the bytes,
// for which they give false.
type hostTokens struct {
	src source
	lib *msgpack.Decoder // reads src
}

func (t *hostTokens) rest() int { return len(t.src.data) - t.src.pos }

func (t *hostTokens) peek() (byte, bool) {
	code, err := t.lib.PeekCode()
	return code, err == nil
}

// take gives the next n bytes, which must be there.
func (t *hostTokens) take(n int) []byte {
	b := t.src.data[t.src.pos : t.src.pos+n : t.src.pos+n]
	t.src.pos += n
	return b
}

// own gives the bytes that were just taken as a string. It is a copy, so that a value that is kept does not keep the message.
func (t *hostTokens) own(b []byte) string { return string(b) }

func length(n int, err error) (uint32, bool) {
	if err != nil || n < 0 || n > math.MaxUint32 {
		return 0, false
	}
	return uint32(n), true
}

// stringLen reads the header of a string or a binary.
func (t *hostTokens) stringLen() (uint32, bool) { return length(t.lib.DecodeBytesLen()) }

// extensionLen reads the header of an extension, its type included.
func (t *hostTokens) extensionLen() (uint32, bool) {
	_, n, err := t.lib.DecodeExtHeader()
	return length(n, err)
}

func (t *hostTokens) listLen() (uint32, bool) { return length(t.lib.DecodeArrayLen()) }

func (t *hostTokens) mapLen() (uint32, bool) { return length(t.lib.DecodeMapLen()) }

// int reads an integer of any width. One above 1<<63 - 1 is in big.
func (t *hostTokens) int() (n int64, big uint64, ok bool) {
	code, ok := t.peek()
	if ok && code == codeUint64 {
		u, err := t.lib.DecodeUint64()
		if u > math.MaxInt64 {
			return 0, u, true
		}
		return int64(u), 0, err == nil
	}
	n, err := t.lib.DecodeInt64()
	return n, 0, err == nil
}

// double reads a float of either width.
func (t *hostTokens) double() (float64, bool) {
	f, err := t.lib.DecodeFloat64()
	return f, err == nil
}

// source is the bytes under the library's decoder. It reads them in place, so that the number of bytes left is known at every token.
type source struct {
	data []byte
	pos  int
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	if s.pos >= len(s.data) {
		return 0, io.EOF
	}
	n := copy(p, s.data[s.pos:])
	s.pos += n
	return n, nil
}

// ReadByte implements io.ByteReader.
func (s *source) ReadByte() (byte, error) {
	if s.pos >= len(s.data) {
		return 0, io.EOF
	}
	s.pos++
	return s.data[s.pos-1], nil
}

// UnreadByte implements io.ByteScanner.
func (s *source) UnreadByte() error {
	s.pos--
	return nil
}
