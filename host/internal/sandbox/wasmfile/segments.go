package wasmfile

import "encoding/binary"

const (
	// maxGap is how many zeros between two data segments are written out to
	// join them.
	maxGap = 64
	// maxJump is the most memory between the segments of one stretch.
	maxJump = 4096
	// maxStretches is how many stretches are kept apart. Go modules have four.
	maxStretches = 64
)

// span is memory from start up to, not including, end.
type span struct{ start, end uint64 }

// joiner writes data segments again, neighbours as one. Segments are written
// to memory in order, and later ones may lie over earlier ones: a gap is
// filled with zeros only where no earlier segment can have written.
type joiner struct {
	out      []byte
	count    uint64
	at       uint64 // where pending begins
	pending  []byte
	stretch  span   // ascending segments, close together, up to now
	earlier  []span // the stretches before
	anywhere bool   // earlier segments may have been written anywhere
}

// appendData joins the data segments that are neighbours in memory. The Go
// toolchain cuts its data at every few zeros, into tens of thousands of
// segments that an instance would spend half of its start on.
//
// It must not be used on a module with a data count: its code may name
// segments by their index.
func (f *File) appendData(out []byte, s Section) []byte {
	r := &Reader{b: f.wasm[:s.End], off: s.Body}
	n := r.Count("data segments", 2, maxDataSegments)
	var j joiner
	for i := 0; i < n && r.err == nil; i++ {
		start := r.off
		segment := r.DataSegment()
		if segment.Constant && len(segment.Payload) > 0 {
			j.add(uint64(segment.Offset), segment.Payload)
			continue
		}
		j.flush()
		j.anywhere = j.anywhere || !segment.Constant
		j.out = append(j.out, f.wasm[start:r.off]...)
		j.count++
	}
	j.flush()
	return appendSection(out, SectionData, append(binary.AppendUvarint(nil, j.count), j.out...))
}

func (j *joiner) add(offset uint64, payload []byte) {
	end := j.at + uint64(len(j.pending))
	if len(j.pending) == 0 || offset < end || !j.clear(span{end, offset}) {
		j.flush()
		j.at, end = offset, offset
	}
	j.pending = append(j.pending, make([]byte, offset-end)...)
	j.pending = append(j.pending, payload...)
	j.grow(span{offset, offset + uint64(len(payload))})
}

// clear reports whether a gap may be filled with zeros.
func (j *joiner) clear(gap span) bool {
	if gap.start == gap.end {
		return true
	}
	if j.anywhere || gap.end-gap.start > maxGap {
		return false
	}
	for _, s := range j.earlier {
		if gap.start < s.end && s.start < gap.end {
			return false
		}
	}
	return true
}

// grow notes what was written.
func (j *joiner) grow(s span) {
	switch {
	case j.stretch.end == 0:
		j.stretch = s
	case s.start >= j.stretch.end && s.start-j.stretch.end <= maxJump:
		j.stretch.end = s.end
	case len(j.earlier) == maxStretches:
		j.anywhere = true
	default:
		j.earlier = append(j.earlier, j.stretch)
		j.stretch = s
	}
}

func (j *joiner) flush() {
	if len(j.pending) == 0 {
		return
	}
	j.out = appendSigned(append(j.out, 0, 0x41), int32(uint32(j.at))) // active, i32.const
	j.out = binary.AppendUvarint(append(j.out, 0x0b), uint64(len(j.pending)))
	j.out = append(j.out, j.pending...)
	j.count++
	j.pending = j.pending[:0]
}

// signed32 reads a signed LEB128 number, and gives the bytes it took, 0 if it
// is cut off or does not fit.
func signed32(b []byte) (value int32, n int) {
	var v int64
	for i, c := range b[:min(len(b), 5)] {
		v |= int64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if c&0x40 != 0 {
				v |= -1 << (7 * (i + 1))
			}
			if v != int64(int32(v)) {
				return 0, 0
			}
			return int32(v), i + 1
		}
	}
	return 0, 0
}

func appendSigned(b []byte, v int32) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
