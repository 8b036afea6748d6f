package pages

// Region is host memory beside the linear memory of an instance. It takes up
// machine memory only where it was written, and never any of Go's heap where the
// kernel helps, so that what it held is returned at once.
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
