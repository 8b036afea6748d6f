package wire

import (
	"errors"
	"unsafe"
)

// Laid says whether messages of a type are read by its layout, and Reads
// whether this one is.
func Laid(name string) bool { return types[name].laid }

func Reads(name string, data []byte) bool { return types[name].reads(data) }

// Canonical decodes a message of a type and encodes it again.
func Canonical(name string, data []byte) ([]byte, error) {
	t, ok := types[name]
	if !ok {
		return nil, errors.New("wire: no type " + name)
	}
	return t.canonical(data)
}

// tested is what the tests need of a type.
type tested struct {
	canonical func([]byte) ([]byte, error)
	laid      bool
	reads     func([]byte) bool
}

func testedOf[T any](l *layout, read func(*decoder, *T), write func(*encoder, *T)) tested {
	return tested{
		canonical: func(data []byte) ([]byte, error) {
			var v T
			if err := decodeMessage(data, &v, l, read); err != nil {
				return nil, err
			}
			return appendMessage(nil, &v, write), nil
		},
		laid: l != nil,
		reads: func(data []byte) bool {
			var v T
			return l != nil && readCanonical(padded(data), l, unsafe.Pointer(&v))
		},
	}
}
