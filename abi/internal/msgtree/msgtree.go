// Package msgtree writes msgpack from trees of values: canonical, wide, or broken on purpose. The test vectors and the examples of SPEC.md
// are made with it, so that they are an oracle that shares no code with the codecs.
package msgtree

import (
	"encoding/binary"
	"errors"
	"math"
)

// Kind says what a node is in msgpack.
type Kind uint8

// The kinds. Raw stands for bytes that are copied as they are.
const (
	Nil Kind = iota + 1
	Bool
	Int
	Uint
	Float
	Float32
	String
	Binary
	Extension
	List
	Map
	Raw
)

// Node is one value of a message.
type Node struct {
	Kind  Kind
	Bool  bool
	Int   int64
	Uint  uint64
	Float float64
	// Text of a String, payload of Binary, Extension and Raw.
	Text string
	// ExtType of an Extension.
	ExtType int8
	Items   []Node
	Entries []Entry
	// Keyed: the keys of a Map are data and stand as keys in paths, not as fields.
	Keyed bool
	// Wide: the longest header that msgpack knows instead of the shortest.
	Wide bool
	// Claim, when not nil, is written as the length instead of the true one.
	Claim *uint32
}

// Entry is one key of a map with its value.
type Entry struct {
	Key   Node
	Value Node
}

// NilNode gives nil.
func NilNode() Node { return Node{Kind: Nil} }

// BoolNode gives a boolean.
func BoolNode(b bool) Node { return Node{Kind: Bool, Bool: b} }

// IntNode gives an integer: a uint when it is not negative.
func IntNode(i int64) Node { return Node{Kind: Int, Int: i} }

// UintNode gives an unsigned integer.
func UintNode(u uint64) Node { return Node{Kind: Uint, Uint: u} }

// FloatNode gives a float64.
func FloatNode(f float64) Node { return Node{Kind: Float, Float: f} }

// Float32Node gives a float32.
func Float32Node(f float32) Node { return Node{Kind: Float32, Float: float64(f)} }

// StringNode gives a string, whose bytes need not be UTF-8.
func StringNode(s string) Node { return Node{Kind: String, Text: s} }

// BinaryNode gives bin.
func BinaryNode(s string) Node { return Node{Kind: Binary, Text: s} }

// ExtensionNode gives an extension of a type.
func ExtensionNode(t int8, payload string) Node {
	return Node{Kind: Extension, ExtType: t, Text: payload}
}

// ListNode gives a list.
func ListNode(items ...Node) Node { return Node{Kind: List, Items: items} }

// MapNode gives a map with the keys of a struct.
func MapNode(entries ...Entry) Node { return Node{Kind: Map, Entries: entries} }

// KeyedNode gives a map whose keys are data.
func KeyedNode(entries ...Entry) Node { return Node{Kind: Map, Entries: entries, Keyed: true} }

// RawNode gives bytes as they are.
func RawNode(s string) Node { return Node{Kind: Raw, Text: s} }

// F gives an entry with a string key.
func F(key string, value Node) Entry { return Entry{Key: StringNode(key), Value: value} }

// AsWide gives the node with the longest header.
func (n Node) AsWide() Node { n.Wide = true; return n }

// Claiming gives the node with a false length.
func (n Node) Claiming(length uint32) Node { n.Claim = &length; return n }

// Bytes writes the node.
func (n Node) Bytes() []byte { return n.Append(nil) }

// Append writes the node to b.
func (n Node) Append(b []byte) []byte {
	switch n.Kind {
	case Nil:
		return append(b, 0xc0)
	case Bool:
		if n.Bool {
			return append(b, 0xc3)
		}
		return append(b, 0xc2)
	case Int:
		return n.appendInt(b)
	case Uint:
		return appendUint(b, n.Uint, n.Wide)
	case Float:
		return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(n.Float))
	case Float32:
		return binary.BigEndian.AppendUint32(append(b, 0xca), math.Float32bits(float32(n.Float)))
	case Extension:
		return n.appendExtension(b)
	case Raw:
		return append(b, n.Text...)
	default:
		b = n.appendHeader(b)
	}
	switch n.Kind {
	case List:
		for _, item := range n.Items {
			b = item.Append(b)
		}
	case Map:
		for _, e := range n.Entries {
			b = e.Value.Append(e.Key.Append(b))
		}
	default:
		b = append(b, n.Text...)
	}
	return b
}

func (n Node) appendInt(b []byte) []byte {
	i := n.Int
	switch {
	case n.Wide:
		return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(i))
	case i >= 0:
		return appendUint(b, uint64(i), false)
	case i >= -32:
		return append(b, byte(i))
	case i >= math.MinInt8:
		return append(b, 0xd0, byte(i))
	case i >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, 0xd1), uint16(i))
	case i >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(i))
	default:
		return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(i))
	}
}

func appendUint(b []byte, u uint64, wide bool) []byte {
	switch {
	case wide || u > math.MaxUint32:
		return binary.BigEndian.AppendUint64(append(b, 0xcf), u)
	case u <= 0x7f:
		return append(b, byte(u))
	case u <= math.MaxUint8:
		return append(b, 0xcc, byte(u))
	case u <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(u))
	default:
		return binary.BigEndian.AppendUint32(append(b, 0xce), uint32(u))
	}
}

// HeaderBytes is how long the header of a string, bin, list or map is.
func (n Node) HeaderBytes() int { return len(n.appendHeader(nil)) }

// headers of a kind: the fixed form's base and its most, then the heads with a length of 1, 2 and 4 bytes; 0 where there is none.
type headers struct {
	fix, fixMost byte
	one, two     byte
	four         byte
}

var headersOf = map[Kind]headers{
	String: {0xa0, 31, 0xd9, 0xda, 0xdb},
	Binary: {0, 0, 0xc4, 0xc5, 0xc6},
	List:   {0x90, 15, 0, 0xdc, 0xdd},
	Map:    {0x80, 15, 0, 0xde, 0xdf},
}

func (n Node) appendHeader(b []byte) []byte {
	h := headersOf[n.Kind]
	length := n.length()
	switch {
	case n.Wide || length > math.MaxUint16:
		return binary.BigEndian.AppendUint32(append(b, h.four), length)
	case h.fix != 0 && length <= uint32(h.fixMost):
		return append(b, h.fix|byte(length))
	case h.one != 0 && length <= math.MaxUint8:
		return append(b, h.one, byte(length))
	default:
		return binary.BigEndian.AppendUint16(append(b, h.two), uint16(length))
	}
}

func (n Node) length() uint32 {
	switch {
	case n.Claim != nil:
		return *n.Claim
	case n.Kind == List:
		return uint32(len(n.Items))
	case n.Kind == Map:
		return uint32(len(n.Entries))
	default:
		return uint32(len(n.Text))
	}
}

func (n Node) appendExtension(b []byte) []byte {
	switch size := len(n.Text); size {
	case 1, 2, 4, 8, 16:
		head := map[int]byte{1: 0xd4, 2: 0xd5, 4: 0xd6, 8: 0xd7, 16: 0xd8}[size]
		b = append(b, head, byte(n.ExtType))
	default:
		b = append(b, 0xc7, byte(size), byte(n.ExtType))
	}
	return append(b, n.Text...)
}

// ErrNotWellFormed says that bytes are not one well-formed message.
var ErrNotWellFormed = errors.New("msgtree: not one well-formed message")

// Parse reads a message of any kind. Maps are not Keyed, and nothing is kept of how wide heads were.
func Parse(data []byte) (Node, error) {
	p := &parser{data: data}
	n := p.node()
	if p.failed || len(p.data) > 0 {
		return Node{}, ErrNotWellFormed
	}
	return n, nil
}

type parser struct {
	data   []byte
	failed bool
}

func (p *parser) take(n uint64) []byte {
	if n > uint64(len(p.data)) {
		p.failed, p.data = true, nil
		return nil
	}
	b := p.data[:n]
	p.data = p.data[n:]
	return b
}

// uint reads a big-endian number of 1, 2, 4 or 8 bytes.
func (p *parser) uint(size int) uint64 {
	var wide [8]byte
	copy(wide[8-size:], p.take(uint64(size)))
	return binary.BigEndian.Uint64(wide[:])
}

func (p *parser) text(kind Kind, n uint64) Node { return Node{Kind: kind, Text: string(p.take(n))} }

func (p *parser) list(n uint64) Node {
	out := ListNode()
	for ; n > 0 && !p.failed; n-- {
		out.Items = append(out.Items, p.node())
	}
	return out
}

func (p *parser) entries(n uint64) Node {
	out := MapNode()
	for ; n > 0 && !p.failed; n-- {
		key := p.node()
		out.Entries = append(out.Entries, Entry{Key: key, Value: p.node()})
	}
	return out
}

func (p *parser) extension(n uint64) Node {
	kind := p.uint(1)
	return ExtensionNode(int8(kind), string(p.take(n)))
}

func (p *parser) node() Node {
	code := byte(p.uint(1))
	switch {
	case p.failed:
		return Node{}
	case code <= 0x7f:
		return IntNode(int64(code))
	case code <= 0x8f:
		return p.entries(uint64(code & 0x0f))
	case code <= 0x9f:
		return p.list(uint64(code & 0x0f))
	case code <= 0xbf:
		return p.text(String, uint64(code&0x1f))
	case code >= 0xe0:
		return IntNode(int64(int8(code)))
	default:
		return p.headed(code)
	}
}

// headed reads a value with a head of its own.
func (p *parser) headed(code byte) Node {
	switch code {
	case 0xc0:
		return NilNode()
	case 0xc2, 0xc3:
		return BoolNode(code == 0xc3)
	case 0xc4, 0xc5, 0xc6:
		return p.text(Binary, p.uint(1<<(code-0xc4)))
	case 0xc7, 0xc8, 0xc9:
		return p.extension(p.uint(1 << (code - 0xc7)))
	case 0xca:
		return Float32Node(math.Float32frombits(uint32(p.uint(4))))
	case 0xcb:
		return FloatNode(math.Float64frombits(p.uint(8)))
	case 0xcc, 0xcd, 0xce, 0xcf:
		return UintNode(p.uint(1 << (code - 0xcc)))
	case 0xd0:
		return IntNode(int64(int8(p.uint(1))))
	case 0xd1:
		return IntNode(int64(int16(p.uint(2))))
	case 0xd2:
		return IntNode(int64(int32(p.uint(4))))
	case 0xd3:
		return IntNode(int64(p.uint(8)))
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8:
		return p.extension(1 << (code - 0xd4))
	case 0xd9, 0xda, 0xdb:
		return p.text(String, p.uint(1<<(code-0xd9)))
	case 0xdc, 0xdd:
		return p.list(p.uint(2 << (code - 0xdc)))
	case 0xde, 0xdf:
		return p.entries(p.uint(2 << (code - 0xde)))
	default:
		p.failed = true
		return Node{}
	}
}
