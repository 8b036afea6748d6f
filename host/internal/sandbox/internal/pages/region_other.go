//go:build !linux

package pages

// NewRegion gives a region of up to size bytes.
func NewRegion(size uint64) (*Region, error) { return &Region{limit: size}, nil }

// Grow makes the region as large as asked for, or larger. It keeps what it
// holds; what was never written is zero.
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
