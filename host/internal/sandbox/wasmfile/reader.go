package wasmfile

import (
	"fmt"
	"unicode/utf8"
)

// Error says what is wrong with a file and where. Offset counts bytes from
// the start of the file.
type Error struct {
	Offset int
	Msg    string
}

func (e *Error) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Msg) }

// reader walks bytes that nobody has checked. The first fault sticks: from
// then on every read gives zero, so that a section parser tests for it once
// in each loop and once at its end. Offsets are those of the whole file.
type reader struct {
	b   []byte // the whole file up to the end of the part being read
	off int
	err *Error
}

func (r *reader) fail(offset int, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: offset, Msg: fmt.Sprintf(format, args...)}
	}
}

func (r *reader) left() int {
	if r.err != nil {
		return 0
	}
	return len(r.b) - r.off
}

// sub gives a reader of the next n bytes, which are skipped here.
func (r *reader) sub(n int) *reader {
	start := r.off
	r.bytes(n, "section")
	if r.err != nil {
		return &reader{err: r.err}
	}
	return &reader{b: r.b[:start+n], off: start}
}

func (r *reader) byte(what string) byte {
	if r.err != nil {
		return 0
	}
	if r.off >= len(r.b) {
		r.fail(r.off, "%s is missing: unexpected end", what)
		return 0
	}
	c := r.b[r.off]
	r.off++
	return c
}

// bytes gives a view of the next n bytes, never a copy.
func (r *reader) bytes(n int, what string) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.b)-r.off {
		r.fail(r.off, "%s needs %d bytes, %d are left", what, n, len(r.b)-r.off)
		return nil
	}
	v := r.b[r.off : r.off+n : r.off+n]
	r.off += n
	return v
}

func (r *reader) skip(n int, what string) { r.bytes(n, what) }

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32(what string) uint32 {
	start := r.off
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte(what)
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
	r.fail(start, "%s does not fit 32 bits", what)
	return 0
}

// skipLEB passes over a LEB128 number of at most the given number of bytes.
func (r *reader) skipLEB(maxBytes int, what string) {
	start := r.off
	for range maxBytes {
		if c := r.byte(what); r.err != nil || c < 0x80 {
			return
		}
	}
	r.fail(start, "%s is longer than %d bytes", what, maxBytes)
}

// count reads the length of a list. Every entry takes at least entryBytes, so
// a length that the rest of the section cannot hold is refused before
// anybody allocates for it.
func (r *reader) count(what string, entryBytes, limit int) int {
	start := r.off
	n := uint64(r.u32("number of " + what))
	if r.err != nil {
		return 0
	}
	if n*uint64(entryBytes) > uint64(r.left()) {
		r.fail(start, "%d %s cannot be in the %d bytes that are left", n, what, r.left())
		return 0
	}
	if n > uint64(limit) {
		r.fail(start, "%d %s are more than the limit of %d", n, what, limit)
		return 0
	}
	return int(n)
}

func (r *reader) name(what string) string {
	n := r.u32("length of " + what)
	start := r.off
	b := r.bytes(int(n), what)
	if r.err == nil && !utf8.Valid(b) {
		r.fail(start, "%s is not UTF-8", what)
		return ""
	}
	return string(b)
}

// end fails if the part has bytes that its parser did not expect.
func (r *reader) end(what string) {
	if r.err == nil && r.off != len(r.b) {
		r.fail(r.off, "%s has %d bytes too many", what, len(r.b)-r.off)
	}
}
