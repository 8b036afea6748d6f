package codec

import "unsafe"

// Message is a type of the contract without type parameters, so that all fit in one list.
type Message struct {
	Name string
	// New returns a pointer to a zero value, which Encode accepts.
	New    func() any
	Encode func(v any) []byte
	// Decode returns a pointer to the value.
	Decode func(data []byte) (any, error)
	// HasLayout says whether guests read canonical messages of the type by layout, and ReadByLayout does it.
	HasLayout    bool
	ReadByLayout func(data []byte) (any, bool)
}

func messageOf[T any](name string, l *layout, read func(*decoder, *T), write func(*encoder, *T)) Message {
	return Message{
		Name:   name,
		New:    func() any { return new(T) },
		Encode: func(v any) []byte { return appendMessage(nil, v.(*T), write) },
		Decode: func(data []byte) (any, error) {
			v, err := decodeMessage(data, 0, l, read)
			return &v, err
		},
		HasLayout: l != nil,
		ReadByLayout: func(data []byte) (any, bool) {
			v := new(T)
			return v, l != nil && readCanonical(padded(data), l, unsafe.Pointer(v))
		},
	}
}
