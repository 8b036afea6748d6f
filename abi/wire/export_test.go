package wire

import "errors"

// Canonical decodes a message of a type and encodes it again.
func Canonical(name string, data []byte) ([]byte, error) {
	f, ok := canonical[name]
	if !ok {
		return nil, errors.New("wire: no type " + name)
	}
	return f(data)
}

func canonicalOf[T any](read func(*decoder, *T), write func(*encoder, *T)) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) {
		var v T
		if err := decodeMessage(data, &v, read); err != nil {
			return nil, err
		}
		return appendMessage(nil, &v, write), nil
	}
}
