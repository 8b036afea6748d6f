// Package codec is the strict decoder and canonical encoder of every type of package abi, for host and guests. The code of each type is
// generated; only the layer that reads and writes single msgpack tokens differs: the host uses vmihailenco/msgpack, WebAssembly modules a
// small reader without reflection and fmt, so that they stay small. The host does not use the library's decoding into structs, which
// accepts nil for numbers, binary for strings, bad UTF-8, repeated keys and missing fields.
//
// A decoder reads the whole message and reports everything that is wrong with it in one *abi.ValidationError, each problem with its path
// and its stable code; SPEC.md says what it rejects. Decoded values share no memory with the bytes that they come from, and take memory in
// proportion to their number. In a module, the strings of a value are parts of one copy of the message: keeping one keeps the copy. Empty
// lists and maps are nil.
//
// Messages have AppendX and DecodeX; the types that are only parts of messages are reached by Lookup.
//
// The encoding is canonical: equal values give equal bytes. AppendX does not check its value: what breaks a rule is rejected where it is
// decoded. DecodeX takes a limit of bytes, where 0 stands for abi.DefaultInputBytes.
//
// All functions may be called concurrently.
package codec

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Type is a type of the contract, for tools that take its name.
type Type struct {
	// Name is the wire name, such as "node_request".
	Name string

	canonical func(data []byte, maxBytes int) ([]byte, error)
}

// Canonical decodes data strictly, as a DecodeX does, and encodes it again.
func (t Type) Canonical(data []byte, maxBytes int) ([]byte, error) {
	return t.canonical(data, maxBytes)
}

// Lookup finds a type by its wire name.
func Lookup(name string) (Type, bool) {
	for _, t := range types() {
		if t.Name == name {
			return t, true
		}
	}
	return Type{}, false
}

func typeOf[T any](name string, l *layout, read func(*decoder, *T), write func(*encoder, *T)) Type {
	return Type{name, func(data []byte, maxBytes int) ([]byte, error) {
		v, err := decodeMessage(data, maxBytes, l, read)
		if err != nil {
			return nil, err
		}
		return appendMessage(nil, &v, write), nil
	}}
}

// checkSize rejects a message of more than maxBytes; 0 stands for abi.DefaultInputBytes.
func checkSize(data []byte, maxBytes int) error {
	if maxBytes <= 0 {
		maxBytes = abi.DefaultInputBytes
	}
	var problems abi.Collector
	if len(data) > maxBytes { // check: size
		problems.Add(abi.CodeTooLarge, strconv.Itoa(len(data))+" bytes are more than "+strconv.Itoa(maxBytes))
	}
	return problems.Err()
}
