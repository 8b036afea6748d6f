package sandbox

import "encoding/binary"

// kernelModel is the kernel in the simplest way: bytes, and the lengths of the
// blocks by their offsets. It stands apart from the kernel's own arithmetic.
type kernelModel struct {
	bytes     []byte            // of all blocks since the call began
	lengths   map[uint64]uint64 // of the blocks that are not freed
	end       uint64            // of the last of them
	input     block
	variables map[string]string
}

func newKernelModel() kernelModel {
	return kernelModel{bytes: make([]byte, granule), lengths: map[uint64]uint64{}, end: granule, variables: map[string]string{}}
}

// begin frees all blocks. It reports whether the request fits.
func (m *kernelModel) begin(request []byte, held uint64) bool {
	m.bytes, m.lengths, m.end = make([]byte, granule), map[uint64]uint64{}, granule
	m.input = block{}
	offset, ok := m.store(request, held)
	m.input = block{offset, uint64(len(request))}
	return ok
}

// taken is what the blocks count against the memory limit.
func (m *kernelModel) taken() uint64 { return sizeWithTable(uint64(len(m.bytes))) }

func sizeWithTable(size uint64) uint64 { return size * (granule + entryBytes) / granule }

func (m *kernelModel) alloc(length, held uint64) (offset uint64, ok bool) {
	if length == 0 {
		return 0, true
	}
	if length > fuzzMemory {
		return 0, false
	}
	offset, end := m.end, m.end+padded(length)
	if end > uint64(len(m.bytes)) {
		if sizeWithTable(end)+held > fuzzMemory {
			return 0, false
		}
		m.bytes = append(m.bytes, make([]byte, end-uint64(len(m.bytes)))...)
	}
	clear(m.bytes[offset:end])
	m.lengths[offset], m.end = length, end
	return offset, true
}

func padded(length uint64) uint64 {
	for length%granule != 0 {
		length++
	}
	return length
}

func (m *kernelModel) store(b []byte, held uint64) (offset uint64, ok bool) {
	offset, ok = m.alloc(uint64(len(b)), held)
	if ok {
		copy(m.bytes[offset:], b)
	}
	return offset, ok
}

func (m *kernelModel) free(offset uint64) {
	length, found := m.lengths[offset]
	if !found || offset == m.input.offset {
		return
	}
	delete(m.lengths, offset)
	if offset+padded(length) == m.end {
		m.end = offset
	}
}

// load reads 8 bytes; 0 if they are not all there.
func (m *kernelModel) load(at uint64) uint64 {
	if at >= uint64(len(m.bytes)) || len(m.bytes[at:]) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(m.bytes[at:])
}

func (m *kernelModel) load8(at uint64) uint64 {
	if at >= uint64(len(m.bytes)) {
		return 0
	}
	return uint64(m.bytes[at])
}

func (m *kernelModel) content(offset uint64) []byte {
	return m.bytes[min(offset, uint64(len(m.bytes))):][:m.lengths[offset]]
}

// value of the variable that a block names.
func (m *kernelModel) value(name uint64) []byte {
	return []byte(m.variables[string(m.content(name))])
}

func (m *kernelModel) setVariable(name, value uint64) {
	switch {
	case name > uint64(len(m.bytes)): // names nothing
	case value == 0:
		delete(m.variables, string(m.content(name)))
	default:
		m.variables[string(m.content(name))] = string(m.content(value))
	}
}

// run makes a call that cannot fail. It says what it gives, if anything.
func (m *kernelModel) run(name string, a, b uint64) (result uint64, has bool) {
	switch name {
	case "free", "log_info":
		m.free(a)
	case "length", "length_unsafe":
		return m.lengths[a], true
	case "load_u8":
		return m.load8(a), true
	case "load_u64":
		return m.load(a), true
	case "store_u8":
		if a < uint64(len(m.bytes)) {
			m.bytes[a] = byte(b)
		}
	case "store_u64":
		if a < uint64(len(m.bytes)) && len(m.bytes[a:]) >= 8 {
			binary.LittleEndian.PutUint64(m.bytes[a:], b)
		}
	case "input_offset":
		return m.input.offset, true
	case "input_length":
		return m.input.length, true
	case "input_load_u8":
		if a < m.input.length {
			return m.load8(m.input.offset + a), true
		}
		return 0, true
	case "input_load_u64":
		if a < m.input.length && m.input.length-a >= 8 {
			return m.load(m.input.offset + a), true
		}
		return 0, true
	}
	return 0, false
}
