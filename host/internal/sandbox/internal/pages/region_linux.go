package pages

// NewRegion reserves address space for a region of up to size bytes.
func NewRegion(size uint64) (*Region, error) {
	r := &Region{limit: size}
	return r, r.mapping.reserve(size)
}

// Grow makes the region as large as asked for, or larger. It keeps what it
// holds; what was never written is zero.
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
