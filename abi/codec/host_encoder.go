//go:build !wasm

package codec

import (
	"github.com/vmihailenco/msgpack/v5"
)

// hostEncoder appends canonical msgpack through the library's token methods. They only fail when their writer does, which sink never does.
type hostEncoder struct {
	sink sink
	lib  *msgpack.Encoder // writes to sink
}

func (e *hostEncoder) mapLen(n int) { _ = e.lib.EncodeMapLen(n) }

func (e *hostEncoder) listLen(n int) { _ = e.lib.EncodeArrayLen(n) }

func (e *hostEncoder) text(s string) { _ = e.lib.EncodeString(s) }

func (e *hostEncoder) boolean(v bool) { _ = e.lib.EncodeBool(v) }

func (e *hostEncoder) integer(n int64) { _ = e.lib.EncodeInt(n) }

func (e *hostEncoder) float(f float64) {
	if f == 0 {
		f = 0 // not -0
	}
	_ = e.lib.EncodeFloat64(f)
}

// sink appends what is written to it.
type sink struct{ b []byte }

// Write implements io.Writer.
func (s *sink) Write(p []byte) (int, error) {
	s.b = append(s.b, p...)
	return len(p), nil
}

// WriteByte implements io.ByteWriter.
func (s *sink) WriteByte(c byte) error {
	s.b = append(s.b, c)
	return nil
}
