package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// cutter finds what a decoder says of a valid message that ends too early.
type cutter struct {
	at, end int
	found   problem
}

// cut gives the problem of the first end bytes of a valid message.
func cut(n mt.Node, end int) problem {
	c := &cutter{end: end}
	c.value(n, "")
	return c.found
}

// value reports whether the value is there whole.
func (c *cutter) value(n mt.Node, at path) bool {
	switch n.Kind {
	case mt.String, mt.Binary, mt.List, mt.Map:
	default:
		return c.take(len(n.Bytes()), abi.CodeTruncated, at)
	}
	if !c.take(n.HeaderBytes(), abi.CodeTruncated, at) {
		return false
	}
	switch n.Kind {
	case mt.List:
		return c.list(n, at)
	case mt.Map:
		return c.entries(n, at)
	default:
		return c.take(len(n.Text), abi.CodeBadLength, at)
	}
}

func (c *cutter) list(n mt.Node, at path) bool {
	if !c.hasRoom(len(n.Items), at) {
		return false
	}
	for i, item := range n.Items {
		if !c.value(item, at.index(i)) {
			return false
		}
	}
	return true
}

func (c *cutter) entries(n mt.Node, at path) bool {
	if !c.hasRoom(2*len(n.Entries), at) {
		return false
	}
	for _, e := range n.Entries {
		if !c.value(e.Key, at) {
			return false
		}
		inner := at.field(e.Key.Text)
		if n.Keyed {
			inner = at.key(e.Key.Text)
		}
		if !c.value(e.Value, inner) {
			return false
		}
	}
	return true
}

// hasRoom checks a number of values against the bytes left, of which each
// needs one at least.
func (c *cutter) hasRoom(values int, at path) bool {
	if values <= c.end-c.at {
		return true
	}
	c.found = at.is(abi.CodeBadLength)
	return false
}

func (c *cutter) take(n int, code abi.Code, at path) bool {
	if c.at+n > c.end {
		c.found = at.is(code)
		return false
	}
	c.at += n
	return true
}
