// Package codec is the host's strict decoder and canonical encoder of every
// type of package abi, on the tokens of vmihailenco/msgpack. The library's own
// decoding into structs is not used: it takes nil for numbers, binary for
// strings, bad UTF-8, repeated keys and missing fields.
//
// A decoder reads the whole message and reports everything that is wrong with
// it in one *abi.ValidationError, each problem with its path and its stable
// code; what it rejects stands in SPEC.md. Decoded values share no memory
// with the bytes they come from, and take memory in proportion to their
// number. Empty lists and maps are nil.
//
// The encoding is canonical: equal values give equal bytes, here and in
// package wire, which is the same codec for guests.
//
// All functions may be called concurrently.
package codec

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/shadowcourt/shadowcourt/abi"
)

const codeUint64 = 0xcf

var decoders = sync.Pool{New: func() any {
	d := &decoder{}
	d.lib = msgpack.NewDecoder(&d.src)
	return d
}}

// decodeMessage reads one message with nothing behind it. No part of a
// message with a problem is given back.
func decodeMessage[T any](data []byte, maxBytes int, read func(*decoder, *T)) (T, error) {
	var v, zero T
	if maxBytes <= 0 {
		maxBytes = abi.DefaultInputBytes
	}
	d := decoders.Get().(*decoder) //nolint:forcetypeassert // the pool holds nothing else
	defer d.release()
	if len(data) > maxBytes { // check: size
		d.problems.Add(abi.CodeTooLarge, strconv.Itoa(len(data))+" bytes are more than "+strconv.Itoa(maxBytes))
		return zero, d.problems.Err()
	}
	d.src.data = data
	read(d, &v)
	if err := d.finish(); err != nil {
		return zero, err
	}
	return v, nil
}

// release forgets the message and hands the decoder back to the pool.
func (d *decoder) release() {
	d.src, d.depth, d.dead = source{}, 0, false
	d.problems.Reset()
	decoders.Put(d)
}

// Type is a type of the contract, for tools that take its name.
type Type struct {
	// Name is the wire name, such as "node_request".
	Name string
	// GoName is the name in package abi, such as "NodeRequest".
	GoName string

	canonical func(data []byte, maxBytes int) ([]byte, error)
}

// Canonical decodes data strictly, as DecodeX of the type does, and encodes
// it again.
func (t Type) Canonical(data []byte, maxBytes int) ([]byte, error) {
	return t.canonical(data, maxBytes)
}

// Types gives every type of the contract, in order of Name.
func Types() []Type { return slices.Clone(types) }

// Lookup finds a type by its wire name.
func Lookup(name string) (Type, bool) {
	i, ok := slices.BinarySearchFunc(types, name, func(t Type, name string) int { return strings.Compare(t.Name, name) })
	if !ok {
		return Type{}, false
	}
	return types[i], true
}

func canonicalOf[T any](read func(*decoder, *T), write func(*encoder, *T)) func([]byte, int) ([]byte, error) {
	return func(data []byte, maxBytes int) ([]byte, error) {
		v, err := decodeMessage(data, maxBytes, read)
		if err != nil {
			return nil, err
		}
		return appendMessage(nil, &v, write), nil
	}
}
