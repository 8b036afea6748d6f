//go:build !wasm

package codec

import (
	"sync"

	"github.com/vmihailenco/msgpack/v5"
)

// The host reads and writes msgpack with the token methods of vmihailenco/msgpack.
type (
	tokens  = hostTokens
	encoder = hostEncoder
)

var decoders = sync.Pool{New: func() any {
	d := &decoder{}
	d.lib = msgpack.NewDecoder(&d.src)
	return d
}}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.lib = msgpack.NewEncoder(&e.sink)
	return e
}}

// decodeMessage reads one message with nothing behind it. It returns the zero value if the message has a problem. The host never reads by
// layout: its messages come from modules that it does not trust, and the layout reader writes through unsafe pointers.
func decodeMessage[T any](data []byte, maxBytes int, _ *layout, read func(*decoder, *T)) (T, error) {
	var v, zero T
	if err := checkSize(data, maxBytes); err != nil {
		return zero, err
	}
	d := decoders.Get().(*decoder) //nolint:forcetypeassert // the pool holds nothing else
	defer d.release()
	d.src.data = data
	read(d, &v)
	if err := d.finish(); err != nil {
		return zero, err
	}
	return v, nil
}

// release forgets the message and puts the decoder back into the pool.
func (d *decoder) release() {
	d.src, d.depth, d.dead = source{}, 0, false
	d.problems.Reset()
	decoders.Put(d)
}

func appendMessage[T any](dst []byte, v *T, write func(*encoder, *T)) []byte {
	e := encoders.Get().(*encoder) //nolint:forcetypeassert // the pool holds nothing else
	e.sink.b = dst
	write(e, v)
	dst = e.sink.b
	e.sink.b = nil
	encoders.Put(e)
	return dst
}
