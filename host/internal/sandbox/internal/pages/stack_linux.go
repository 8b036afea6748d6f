package pages

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stack is memory that is used from its end downwards, and takes up as much of
// the machine's as was used. The rest of it, below, cannot be touched.
type Stack struct {
	base         unsafe.Pointer
	size, usable uintptr
}

// NewStack reserves size bytes of address space of which the last may be used.
// Both are multiples of 64 KiB.
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
