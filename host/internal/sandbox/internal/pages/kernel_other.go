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

func (*kernel) spans(*Memory) ([]span, error) { return nil, ErrUnsupported }

func (*mapping) reserve(uint64) error             { return ErrUnsupported }
func (*mapping) begin(*Memory, *Image) error      { return ErrUnsupported }
func (*mapping) grow(_, _ uint64) ([]byte, error) { return nil, ErrUnsupported }
func (*mapping) free()                            {}

func (*imageFile) close() error { return nil }
