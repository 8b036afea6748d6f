package pages

import (
	"bytes"
	"errors"
)

// ErrTooMuch says that more of a memory changed than may be kept.
var ErrTooMuch = errors.New("pages: too much of the memory changed")

// Changes are what was written to a memory since it began with its image, page by page. They do not change, and can be applied to any
// memory that begins with an equal image.
type Changes struct {
	size  uint64 // of the memory
	at    []uint64
	bytes []byte // of the pages, one behind the other
}

// Size of the memory in bytes.
func (c *Changes) Size() uint64 { return c.size }

// Bytes of the pages that changed.
func (c *Changes) Bytes() int { return len(c.bytes) }

// span is a part of a memory.
type span struct{ from, to uint64 }

// Changes gives the pages that differ from the image, up to most bytes together; more is ErrTooMuch.
func (m *Memory) Changes(most int) (*Changes, error) {
	if m.image == nil {
		return nil, errNoImage
	}
	spans := []span{{0, uint64(len(m.buf))}}
	if len(m.buf) > 0 && m.pager.way == Scan {
		var err error
		if spans, err = m.pager.kernel.spans(m); err != nil {
			return nil, err
		}
	}
	c := &Changes{size: uint64(len(m.buf))}
	for _, s := range spans {
		for at := s.from; at < s.to; at += pageBytes {
			page := m.buf[at : at+pageBytes]
			if m.unchanged(at, page) {
				continue
			}
			if len(c.bytes)+pageBytes > most {
				return nil, ErrTooMuch
			}
			c.at, c.bytes = append(c.at, at), append(c.bytes, page...)
		}
	}
	return c, nil
}

// unchanged says whether a page is what the image has there.
func (m *Memory) unchanged(at uint64, page []byte) bool {
	var content []byte
	if at < uint64(len(m.image.content)) {
		content = m.image.content[at:min(at+pageBytes, uint64(len(m.image.content)))]
	}
	return bytes.Equal(page[:len(content)], content) && bytes.Equal(page[len(content):], zeroPage[len(content):])
}

//nolint:gochecknoglobals // a constant that Go has no syntax for
var zeroPage [pageBytes]byte

// Apply writes the changes into a memory of their size or larger, which is as its image says.
func (m *Memory) Apply(c *Changes) {
	for i, at := range c.at {
		copy(m.buf[at:at+pageBytes], c.bytes[i*pageBytes:])
	}
}
