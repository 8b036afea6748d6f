package pages

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime"
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
}

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

// mapping is the address space of one memory: what the instance has, and behind it what it may grow to, which cannot be touched.
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

// begin maps the image, whose pages are then copied on the first write. What lies behind its content is zero, and belongs to no file.
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
	if err = k.scan(s, m); err == nil && s.full() {
		err = discard(m.buf)
	}
	return err
}

// restore copies a span of the image back, and clears what lies behind it. Clearing costs less than having the kernel drop pages, which
// interrupts every processor that runs this process.
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

// A private mapping of a file shows the file's own pages until they are written, and then pages that belong to nobody else, which are in
// memory or swapped out. Those, and no others, were written.

// scanArg is struct pm_scan_arg, and region struct page_region, of the kernel's <linux/fs.h>.
type scanArg struct {
	size, flags                uint64
	start, end, walkEnd        uint64
	vec, vecLen, maxPages      uint64
	inverted, mask, anyOf, out uint64
}

type region struct{ start, end, categories uint64 }

const (
	pagemapScan = 3<<30 | uint(unsafe.Sizeof(scanArg{}))<<16 | 'f'<<8 | 16 // _IOWR('f', 16, struct pm_scan_arg)

	pageIsFile    = 1 << 2
	pageIsPresent = 1 << 3
	pageIsSwapped = 1 << 4
)

// scan restores the spans that were written, until there are too many.
func (k *kernel) scan(s *scratch, m *Memory) error {
	base := uint64(uintptr(unsafe.Pointer(&m.buf[0])))
	s.arg = scanArg{
		size:  uint64(unsafe.Sizeof(s.arg)),
		start: base, end: base + uint64(len(m.buf)),
		vec: uint64(uintptr(unsafe.Pointer(&s.regions[0]))), vecLen: uint64(len(s.regions)),
		inverted: pageIsFile, mask: pageIsFile, anyOf: pageIsPresent | pageIsSwapped, out: pageIsPresent,
	}
	for s.arg.start < s.arg.end && !s.full() {
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, k.fd, uintptr(pagemapScan), uintptr(unsafe.Pointer(&s.arg)))
		runtime.KeepAlive(s)
		if errno != 0 {
			return os.NewSyscallError("PAGEMAP_SCAN", errno)
		}
		if n > uintptr(len(s.regions)) || s.arg.walkEnd <= s.arg.start || s.arg.walkEnd > s.arg.end {
			return fmt.Errorf("PAGEMAP_SCAN gave %d regions up to %#x", n, s.arg.walkEnd)
		}
		for _, r := range s.regions[:n] {
			s.restore(m, r.start-base, r.end-base)
		}
		s.arg.start = s.arg.walkEnd
	}
	return nil
}

// NewRegion reserves address space for a region of up to size bytes.
func NewRegion(size uint64) (*Region, error) {
	r := &Region{limit: size}
	return r, r.mapping.reserve(size)
}

// Grow makes the region as large as asked for, or larger. It keeps what it holds; what was never written is zero.
func (r *Region) Grow(to uint64) error {
	if to <= uint64(len(r.buf)) {
		return nil
	}
	buf, err := r.mapping.grow(uint64(len(r.buf)), stepped(to, r.limit))
	if err == nil {
		r.buf = buf
	}
	return err
}

// Drop releases all memory of the region, which is zero afterwards.
func (r *Region) Drop() error {
	if len(r.buf) == 0 {
		return nil
	}
	return discard(r.buf)
}

// Stack is memory that is used from its end downwards, and takes up as much of
// the machine's as was used. The rest of it, below, cannot be touched.
type Stack struct {
	base         unsafe.Pointer
	size, usable uintptr
}

// NewStack reserves size bytes of address space of which the last may be used. Both are multiples of 64 KiB.
func NewStack(size, usable uintptr) (*Stack, error) {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE
	base, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_NONE, flags)
	if err != nil {
		return nil, fmt.Errorf("pages: reserve a stack of %d bytes: %w", size, err)
	}
	s := &Stack{base: base, size: size, usable: usable}
	if err := unix.Mprotect(s.Bytes()[size-usable:], unix.PROT_READ|unix.PROT_WRITE); err != nil {
		s.Free()
		return nil, fmt.Errorf("pages: make %d bytes of a stack usable: %w", usable, err)
	}
	return s, nil
}

// Bytes is the stack with what cannot be touched.
func (s *Stack) Bytes() []byte { return unsafe.Slice((*byte)(s.base), s.size) }

// Drop releases what was used beyond the bytes to keep at the end.
func (s *Stack) Drop(keep uintptr) error {
	return discard(s.Bytes()[s.size-s.usable : s.size-keep])
}

// Free frees the stack. Nothing may run on it.
func (s *Stack) Free() {
	_ = unix.MunmapPtr(s.base, s.size) // ours, and whole: nothing to fail
}
