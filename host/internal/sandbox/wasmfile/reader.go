package wasmfile

import (
	"fmt"
	"unicode/utf8"
)

// Error says what is wrong with a file and where. Offset counts bytes from the start of the file.
type Error struct {
	Offset int
	Msg    string
}

func (e *Error) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Msg) }

// Reader walks bytes that nobody has checked. The first fault sticks: from then on every read gives zero, so that a section parser tests
// for it once in each loop and once at its end. Offsets are those of the whole file.
type Reader struct {
	b   []byte // the whole file up to the end of the part being read
	off int
	err *Error
}

// Err is the first fault, or nil.
func (r *Reader) Err() *Error { return r.err }

// Offset is where the next read begins.
func (r *Reader) Offset() int { return r.off }

// Fail notes a fault, if there was none before.
func (r *Reader) Fail(offset int, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: offset, Msg: fmt.Sprintf(format, args...)}
	}
}

// Left is how many bytes are left, none after a fault.
func (r *Reader) Left() int {
	if r.err != nil {
		return 0
	}
	return len(r.b) - r.off
}

// sub gives a reader of the next n bytes, which are skipped here.
func (r *Reader) sub(n int) *Reader {
	start := r.off
	r.Bytes(n, "section")
	if r.err != nil {
		return &Reader{err: r.err}
	}
	return &Reader{b: r.b[:start+n], off: start}
}

// Byte reads one byte.
func (r *Reader) Byte(what string) byte {
	if r.err != nil {
		return 0
	}
	if r.off >= len(r.b) {
		r.Fail(r.off, "%s is missing: unexpected end", what)
		return 0
	}
	c := r.b[r.off]
	r.off++
	return c
}

// Bytes gives a view of the next n bytes, never a copy.
func (r *Reader) Bytes(n int, what string) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.b)-r.off {
		r.Fail(r.off, "%s needs %d bytes, %d are left", what, n, len(r.b)-r.off)
		return nil
	}
	v := r.b[r.off : r.off+n : r.off+n]
	r.off += n
	return v
}

// Skip passes over n bytes.
func (r *Reader) Skip(n int, what string) { r.Bytes(n, what) }

// U32 reads an unsigned LEB128 number of at most 32 bits.
func (r *Reader) U32(what string) uint32 {
	if off := r.off; r.err == nil && off < len(r.b) && r.b[off] < 0x80 { // most numbers take one byte
		r.off++
		return uint32(r.b[off])
	}
	return r.longU32(what)
}

func (r *Reader) longU32(what string) uint32 {
	start := r.off
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		c := r.Byte(what)
		if r.err != nil {
			return 0
		}
		if shift == 28 && c > 0x0f {
			break
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.Fail(start, "%s does not fit 32 bits", what)
	return 0
}

// skipLEB passes over a LEB128 number of at most the given number of bytes.
func (r *Reader) skipLEB(maxBytes int, what string) {
	start := r.off
	for range maxBytes {
		if r.off < len(r.b) && r.err == nil && r.b[r.off] < 0x80 {
			r.off++
			return
		}
		if r.Byte(what); r.err != nil {
			return
		}
	}
	r.Fail(start, "%s is longer than %d bytes", what, maxBytes)
}

// Count reads the length of a list. Every entry takes at least entryBytes, so a length that the rest of the section cannot hold is rejected
// before anybody allocates for it.
func (r *Reader) Count(what string, entryBytes, limit int) int {
	start := r.off
	n := uint64(r.U32("number of " + what))
	if r.err != nil {
		return 0
	}
	if n*uint64(entryBytes) > uint64(r.Left()) {
		r.Fail(start, "%d %s cannot be in the %d bytes that are left", n, what, r.Left())
		return 0
	}
	if n > uint64(limit) {
		r.Fail(start, "%d %s are more than the limit of %d", n, what, limit)
		return 0
	}
	return int(n)
}

// Name reads a name, which is UTF-8.
func (r *Reader) Name(what string) string {
	n := r.U32("length of " + what)
	start := r.off
	b := r.Bytes(int(n), what)
	if r.err == nil && !utf8.Valid(b) {
		r.Fail(start, "%s is not UTF-8", what)
		return ""
	}
	return string(b)
}

// end fails if the part has bytes that its parser did not expect.
func (r *Reader) end(what string) {
	if r.err == nil && r.off != len(r.b) {
		r.Fail(r.off, "%s has %d bytes too many", what, len(r.b)-r.off)
	}
}

// ConstExpr passes over a constant expression and its end, and visits the instructions before that.
func (r *Reader) ConstExpr(visit func(Instruction)) {
	for r.err == nil {
		in := r.constInstruction()
		if r.err != nil || in.Op == OpEnd {
			return
		}
		if visit != nil {
			visit(in)
		}
	}
}

func (r *Reader) constInstruction() Instruction {
	if r.Left() == 0 {
		r.Byte("constant expression")
		return Instruction{}
	}
	start := r.off
	switch op := r.b[start]; op {
	case 0x0b, 0x23, 0x41, 0x42, 0x43, 0x44, 0xd0, 0xd2: // end, global.get, constants, ref.null, ref.func
		return r.Instruction()
	case prefixVector:
		in := r.Instruction()
		if r.err == nil && in.Op != prefixVector<<16|12 { // v128.const
			r.Fail(start, "vector instruction %d is not constant", in.Op&0xffff)
		}
		return in
	default:
		r.Fail(start, "instruction 0x%02x is not constant", op)
		return Instruction{}
	}
}
