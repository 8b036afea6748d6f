//go:build wasm

package codec

import (
	"unsafe"
)

// Guests read and write msgpack without a library.
type (
	tokens  = guestTokens
	encoder = guestEncoder
)

// decodeMessage reads one message with nothing behind it. It returns the zero
// value if the message has a problem. Canonical messages, which is what the
// host sends, are read by their layout; everything else by the strict decoder.
// The layout is nil for a type that has none.
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
