package instrument

import (
	"encoding/binary"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// segments takes the active data segments out. Where code may name segments by
// their index, an empty passive one stays in the place of each: nothing can be
// had from either once the instance is there.
//
// An offset that is no constant comes from an imported global. Such a module
// keeps its data as it is.
func (w *writer) segments() {
	s := w.sections[wasmfile.SectionData]
	_, r, count := w.list(s)
	w.payload = make([]byte, 0, s.End-s.Body)
	var kept []byte
	n := 0
	for i := range count {
		start := r.Offset()
		segment := r.DataSegment()
		switch {
		case r.Err() != nil:
			w.check(r.Err())
			return
		case segment.Active && !segment.Constant:
			w.retire("has a data segment whose place is not constant")
			w.program.Segments = nil
			w.data = w.file.Bytes(s.Start, s.End)
			return
		case !segment.Active:
			w.passiveData[uint32(i)] = len(segment.Payload) > 0
			kept = append(kept, w.file.Bytes(start, r.Offset())...)
			n++
			continue
		case w.file.DataCount:
			kept = append(kept, 1, 0) // passive, no bytes
			n++
		}
		w.takeOut(start, segment)
	}
	if n > 0 {
		w.data = appendSection(nil, wasmfile.SectionData, binary.AppendUvarint(nil, uint64(n)), kept)
	}
}

// takeOut hands a segment to the host, which writes what the compiler would
// reject if it saw it.
func (w *writer) takeOut(start int, segment wasmfile.DataSegment) {
	if segment.Memory != 0 || !w.hasMemory {
		w.fail(start, "data segment for memory %d, which is not there", segment.Memory)
		return
	}
	from := len(w.payload)
	w.payload = append(w.payload, segment.Payload...)
	w.program.Segments = append(w.program.Segments, Segment{Offset: segment.Offset, Data: w.payload[from:len(w.payload):len(w.payload)]})
}
