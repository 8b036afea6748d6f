package pages

import (
	"bytes"
	"errors"
)

// errNoImage is a memory that began with nothing, and cannot be reset.
var errNoImage = errors.New("pages: the memory has no image")

// pageBytes is the unit of putting back. Mappings use the machine's own page size, of which this is a divisor or which divides it.
const pageBytes = 4096

// Image is what a memory held. It does not change.
type Image struct {
	content []byte // a view of the file, or the bytes
	size    uint64 // what lies behind the content is zero
	file    imageFile
}

// Size of the image in bytes.
func (i *Image) Size() uint64 { return i.size }

// Bytes is a view of the image, to be read only, until it is closed. Zeros at its end may be missing.
func (i *Image) Bytes() []byte { return i.content }

// Close frees the image. No memory that began with it may be reset any more.
func (i *Image) Close() error {
	i.content = nil
	return i.file.close()
}

// NewImage keeps a copy of some bytes, a multiple of 64 KiB.
func (p *Pager) NewImage(content []byte) (*Image, error) {
	if p.way == Compare || len(content) == 0 {
		return &Image{content: bytes.Clone(content), size: uint64(len(content))}, nil
	}
	return p.kernel.newImage(content)
}

// Memory is a linear memory. It has the methods of wazero's LinearMemory.
type Memory struct {
	pager *Pager
	image *Image // nil: it began empty
	buf   []byte // what the instance sees
	limit uint64 // of the memory and what is held beside it
	held  uint64 // beside the memory

	rejected bool
	shrunk   bool // Reset made it smaller, and Reallocate has not said so yet
	failed   error
	mapping  mapping // of the ways that have the kernel help
}

// NewMemory gives an empty memory that grows up to a limit, a multiple of 64 KiB, less what is held beside it. Free frees it.
func (p *Pager) NewMemory(limit uint64) (*Memory, error) {
	m := &Memory{pager: p, limit: limit}
	if p.way == Compare {
		return m, nil
	}
	return m, m.mapping.reserve(limit)
}

// Begin makes the memory an image's content, and of its size. Whatever it held is gone. Bytes that Reallocate gave before stay valid if the
// size is the same, and show the new content.
func (m *Memory) Begin(image *Image) error {
	m.image, m.rejected, m.shrunk, m.failed = image, false, false, nil
	if m.pager.way != Compare {
		return m.mapping.begin(m, image)
	}
	if len(m.buf) != len(image.content) {
		m.buf = make([]byte, len(image.content))
	}
	copy(m.buf, image.content)
	return nil
}

// Reset puts the memory back to what it began with. One that had grown is small again: the next Reallocate, whatever it asks for, gives
// what there is, for the instance to notice.
func (m *Memory) Reset() error {
	m.rejected = false
	if m.image == nil {
		return errNoImage
	}
	if m.pager.way != Compare {
		if len(m.buf) > 0 {
			if err := m.pager.kernel.reset(m); err != nil {
				return err
			}
		}
		m.shrink()
		return nil
	}
	clear(m.buf[m.image.Size():])
	m.shrink()
	from := m.image.content
	for at := 0; at < len(m.buf); at += pageBytes {
		if page := m.buf[at : at+pageBytes]; !bytes.Equal(page, from[at:at+pageBytes]) {
			copy(page, from[at:])
		}
	}
	return nil
}

// shrink takes away what came by growing, which is zero again.
func (m *Memory) shrink() {
	if m.Grown() {
		m.buf, m.shrunk = m.buf[:m.image.Size()], true
	}
}

// Hold says how many bytes the host holds for the instance beside its memory: they count against the limit. It reports whether they fit
// beside what the memory has grown to; if not, nothing changes.
func (m *Memory) Hold(bytes uint64) bool {
	if bytes > m.limit || uint64(len(m.buf)) > m.limit-bytes {
		return false
	}
	m.held = bytes
	return true
}

// Grown reports whether the memory is larger than what it began with.
func (m *Memory) Grown() bool { return m.image == nil || uint64(len(m.buf)) != m.image.Size() }

// Rejected reports whether growth beyond the limit was asked for since Begin, Reset or Forgive.
func (m *Memory) Rejected() bool { return m.rejected }

// Forgive forgets that growth was rejected.
func (m *Memory) Forgive() { m.rejected = false }

// Err is the failure of the machine to give memory within the limit. Growth was then rejected, which another machine would have granted.
func (m *Memory) Err() error { return m.failed }

// Bytes is what the memory holds, until it grows or is freed.
func (m *Memory) Bytes() []byte { return m.buf }

// Reallocate gives the beginning of the memory, of some size, or nil if that is beyond the limit. What was never there is zero. An instance
// that is new asks for what its module declares first, and grows to the image's size then.
func (m *Memory) Reallocate(size uint64) []byte {
	switch {
	case m.shrunk:
		m.shrunk = false
		return m.buf
	case size > m.limit-m.held:
		m.rejected = true
		return nil
	case size <= uint64(len(m.buf)):
		return m.buf[:size:size]
	case m.pager.way != Compare:
		return m.grow(size)
	case size > uint64(cap(m.buf)):
		grown := make([]byte, size, min(max(size, uint64(cap(m.buf))*3/2), m.limit-m.held))
		copy(grown, m.buf)
		m.buf = grown
	default:
		m.buf = m.buf[:size]
	}
	return m.buf
}

func (m *Memory) grow(size uint64) []byte {
	buf, err := m.mapping.grow(uint64(len(m.buf)), size)
	if err != nil {
		m.failed = err
		return nil
	}
	m.buf = buf
	return buf
}

// Free frees the memory. No call may run in its instance, nor may anything that Reallocate gave be read any more.
func (m *Memory) Free() {
	m.buf = nil
	m.mapping.free()
}

// Region is host memory beside the linear memory of an instance. It takes up machine memory only where it was written, and never any of
// Go's heap where the kernel helps, so that what it held is returned at once.
//
// One goroutine at a time uses it.
type Region struct {
	buf     []byte
	limit   uint64 // of bytes
	mapping mapping
}

// regionStep is how much of a region becomes usable at a time.
const regionStep = 1 << 20

// Bytes are the region's, until it grows or is freed.
func (r *Region) Bytes() []byte { return r.buf }

// Free frees the region. Nothing that it gave may be used any more.
func (r *Region) Free() {
	r.buf = nil
	r.mapping.free()
}

func stepped(size, limit uint64) uint64 {
	return min((size+regionStep-1)/regionStep*regionStep, limit)
}
