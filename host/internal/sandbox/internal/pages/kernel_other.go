//go:build !linux

package pages

// Only Linux tells which pages of a private mapping were written.
type (
	kernel    struct{}
	mapping   struct{}
	imageFile struct{}
)

func (*kernel) open(Way) error { return ErrUnsupported }
func (*kernel) close() error   { return nil }

func (*kernel) newImage([]byte) (*Image, error) { return nil, ErrUnsupported }
func (*kernel) reset(*Memory) error             { return ErrUnsupported }

func (*mapping) reserve(uint64) error             { return ErrUnsupported }
func (*mapping) begin(*Memory, *Image) error      { return ErrUnsupported }
func (*mapping) grow(_, _ uint64) ([]byte, error) { return nil, ErrUnsupported }
func (*mapping) free()                            {}

func (*imageFile) close() error { return nil }

// NewRegion gives a region of up to size bytes.
func NewRegion(size uint64) (*Region, error) { return &Region{limit: size}, nil }

// Grow makes the region as large as asked for, or larger. It keeps what it holds; what was never written is zero.
func (r *Region) Grow(to uint64) error {
	if to > uint64(len(r.buf)) {
		grown := make([]byte, stepped(max(to, uint64(len(r.buf))*3/2), r.limit))
		copy(grown, r.buf)
		r.buf = grown
	}
	return nil
}

// Drop releases all memory of the region, which is zero afterwards.
func (r *Region) Drop() error {
	r.buf = nil
	return nil
}

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
