//go:build !linux

package pages

// Stack is there on Linux only.
type Stack struct{}

// NewStack is unsupported.
func NewStack(_, _ uintptr) (*Stack, error) { return nil, ErrUnsupported }

// Bytes are none.
func (*Stack) Bytes() []byte { return nil }

// Drop does nothing.
func (*Stack) Drop(uintptr) error { return nil }

// Free does nothing.
func (*Stack) Free() {}
