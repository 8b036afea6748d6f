package codec

import (
	"maps"
	"slices"
	"sync"

	"github.com/vmihailenco/msgpack/v5"
)

// encoder appends canonical msgpack through the library's token methods. They
// only fail when their writer does, which sink never does.
type encoder struct {
	sink sink
	lib  *msgpack.Encoder // writes to sink
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.lib = msgpack.NewEncoder(&e.sink)
	return e
}}

func appendMessage[T any](dst []byte, v *T, write func(*encoder, *T)) []byte {
	e := encoders.Get().(*encoder) //nolint:forcetypeassert // the pool holds nothing else
	e.sink.b = dst
	write(e, v)
	dst = e.sink.b
	e.sink.b = nil
	encoders.Put(e)
	return dst
}

func (e *encoder) mapLen(n int) { _ = e.lib.EncodeMapLen(n) }

func (e *encoder) listLen(n int) { _ = e.lib.EncodeArrayLen(n) }

func (e *encoder) text(s string) { _ = e.lib.EncodeString(s) }

func (e *encoder) boolean(v bool) { _ = e.lib.EncodeBool(v) }

func (e *encoder) integer(n int64) { _ = e.lib.EncodeInt(n) }

func (e *encoder) float(f float64) {
	if f == 0 {
		f = 0 // not -0
	}
	_ = e.lib.EncodeFloat64(f)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

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
