package msgtree

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrNotWellFormed says that bytes are not one well-formed message.
var ErrNotWellFormed = errors.New("msgtree: not one well-formed message")

// Parse reads a message of any kind. Maps are not Keyed, and nothing is kept
// of how wide heads were.
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
