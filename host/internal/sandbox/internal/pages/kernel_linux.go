package pages

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keepBytes is how much written memory is copied back and kept private, so
// that the next call takes no page faults. What a larger call wrote is dropped.
const keepBytes = 1 << 20

// kernel is what a pager asks the kernel with.
type kernel struct {
	pagemap *os.File // of this process; nil for Discard
	fd      uintptr
	scratch sync.Pool
}

// scratch is what one question and its answer take.
type scratch struct {
	arg     scanArg
	regions [128]region
	kept    int // bytes that were copied back
	spans   []span
}

// use does something with a part of a memory, from a byte to a byte.
type use func(s *scratch, m *Memory, from, to uint64)

func (k *kernel) open(way Way) (err error) {
	k.scratch.New = func() any { return new(scratch) }
	if way != Discard {
		k.pagemap, err = os.Open("/proc/self/pagemap")
	}
	if err != nil {
		return errors.Join(ErrUnsupported, err)
	}
	if k.pagemap != nil {
		k.fd = k.pagemap.Fd()
	}
	return nil
}

func (k *kernel) close() error {
	if k.pagemap == nil {
		return nil
	}
	return k.pagemap.Close()
}

// imageFile is a sealed file in memory.
type imageFile struct {
	file *os.File // nil: none
	view []byte
}

func (f *imageFile) close() error {
	if f.file == nil {
		return nil
	}
	return errors.Join(unix.Munmap(f.view), f.file.Close())
}

// trimmed is the content without the zeros at its end, in whole pages of any
// machine. A file would hold them, too, as soon as somebody wrote there.
func trimmed(content []byte) []byte {
	const unit = 64 << 10
	var zero [unit]byte
	for len(content) > unit && string(content[len(content)-unit:]) == string(zero[:]) {
		content = content[:len(content)-unit]
	}
	return content
}

// sealTries is how often a file is sealed whose pages the kernel holds, as it may under load. Each try waits for a moment.
const sealTries = 10

// written gives the bounds of each run of pages that are not all zeros.
func written(content []byte) iter.Seq2[int, int] {
	var zero [pageBytes]byte
	return func(yield func(int, int) bool) {
		from := 0
		for at := 0; at < len(content); at += pageBytes {
			if string(content[at:at+pageBytes]) != string(zero[:]) {
				continue
			}
			if from < at && !yield(from, at) {
				return
			}
			from = at + pageBytes
		}
		if from < len(content) {
			yield(from, len(content))
		}
	}
}

func (k *kernel) newImage(whole []byte) (_ *Image, err error) {
	content := trimmed(whole)
	fd, err := unix.MemfdCreate("shadowcourt-image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("pages: image: %w", err)
	}
	file := os.NewFile(uintptr(fd), "image")
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("pages: image: %w", err), file.Close())
		}
	}()
	if err := file.Truncate(int64(len(content))); err != nil {
		return nil, err
	}
	for from, to := range written(content) {
		if _, err := file.WriteAt(content[from:to], int64(from)); err != nil {
			return nil, err
		}
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL
	for range sealTries {
		if _, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); !errors.Is(err, unix.EBUSY) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	view, err := unix.Mmap(fd, 0, len(content), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &Image{content: view, size: uint64(len(whole)), file: imageFile{file: file, view: view}}, nil
}

// mapping is the address space of one memory: what the instance has, and
// behind it what it may grow to, which cannot be touched.
type mapping struct {
	base   unsafe.Pointer
	size   uint64
	usable uint64 // how much may be touched; what shrinks stays usable
}

func (p *mapping) reserve(limit uint64) error {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(max(limit, pageBytes)), unix.PROT_NONE, flags)
	if err != nil {
		return fmt.Errorf("pages: reserve %d bytes: %w", limit, err)
	}
	p.base, p.size = base, max(limit, pageBytes)
	return nil
}

// begin maps the image, whose pages are then copied on the first write. What
// lies behind its content is zero, and belongs to no file.
func (p *mapping) begin(m *Memory, image *Image) error {
	size, content := image.Size(), uint64(len(image.content))
	const flags = unix.MAP_PRIVATE | unix.MAP_FIXED | unix.MAP_NORESERVE
	if content > 0 {
		if _, err := unix.MmapPtr(int(image.file.file.Fd()), 0, p.base, uintptr(content), unix.PROT_READ|unix.PROT_WRITE, flags); err != nil {
			return fmt.Errorf("pages: map an image: %w", err)
		}
	}
	if behind := max(p.usable, size) - content; behind > 0 {
		at := unsafe.Add(p.base, content)
		if _, err := unix.MmapPtr(-1, 0, at, uintptr(behind), unix.PROT_READ|unix.PROT_WRITE, flags|unix.MAP_ANON); err != nil {
			return fmt.Errorf("pages: map zeros behind an image: %w", err)
		}
	}
	m.buf = unsafe.Slice((*byte)(p.base), size)
	p.usable = max(p.usable, size)
	return nil
}

// grow makes more of the reservation usable. It holds zeros.
func (p *mapping) grow(from, to uint64) ([]byte, error) {
	all := unsafe.Slice((*byte)(p.base), to)
	if to <= p.usable {
		return all, nil
	}
	if err := unix.Mprotect(all[from:], unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return nil, fmt.Errorf("pages: grow to %d bytes: %w", to, err)
	}
	p.usable = to
	return all, nil
}

func (p *mapping) free() {
	if p.base != nil {
		_ = unix.MunmapPtr(p.base, uintptr(p.size)) // ours, and whole: nothing to fail
		p.base = nil
	}
}

// reset copies back what was written.
func (k *kernel) reset(m *Memory) (err error) {
	if m.pager.way == Discard {
		return discard(m.buf)
	}
	s, _ := k.scratch.Get().(*scratch) // the pool holds nothing else
	defer k.scratch.Put(s)
	s.kept = 0
	if err = k.scan(s, m, (*scratch).restore); err == nil && s.full() {
		err = discard(m.buf)
	}
	return err
}

// spans gives every part that was written, and perhaps others.
func (k *kernel) spans(m *Memory) ([]span, error) {
	s, _ := k.scratch.Get().(*scratch) // the pool holds nothing else
	defer k.scratch.Put(s)
	s.kept, s.spans = 0, s.spans[:0]
	err := k.scan(s, m, func(s *scratch, _ *Memory, from, to uint64) { s.spans = append(s.spans, span{from, to}) })
	return slices.Clone(s.spans), err
}

// restore copies a span of the image back, and clears what lies behind it.
// Clearing costs less than having the kernel drop pages, which interrupts
// every processor that runs this process.
func (s *scratch) restore(m *Memory, from, to uint64) {
	content := uint64(len(m.image.content))
	if from < content {
		s.kept += copy(m.buf[from:min(to, content)], m.image.content[from:])
	}
	if to > content {
		tail := m.buf[max(from, content):to]
		clear(tail)
		s.kept += len(tail)
	}
}

// full says that so much was written that it is not worth keeping.
func (s *scratch) full() bool { return s.kept > keepBytes }

func discard(buf []byte) error { return unix.Madvise(buf, unix.MADV_DONTNEED) }
