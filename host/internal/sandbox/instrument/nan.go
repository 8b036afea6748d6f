package instrument

import (
	"encoding/binary"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// WebAssembly leaves the sign and the payload of a NaN open that arithmetic gives, and processors differ: amd64 makes negative ones where
// arm64 makes positive ones, and each prefers another operand's payload. A module could see which by storing it. So the result of every
// instruction that may make a NaN is replaced by the canonical NaN, if it is one. What copies bits (loads, stores, abs, neg, copysign,
// pmin, pmax, reinterpretation) is left alone: the same bits come out wherever the same went in.
//
// A result that the next instruction takes and of which it shows no bits needs
// no replacing: arithmetic of the same type, comparisons and conversions.

// nanKind is how numbers are tested for NaN.
type nanKind int

const (
	nanF32 nanKind = iota
	nanF64
	nanF32x4
	nanF64x2
	nanKinds
)

// nans replaces NaNs in one function.
type nans struct {
	locals  [nanKinds]uint64 // to keep a number in
	waiting bool             // a result is on the stack that may have to be replaced
	kind    nanKind
	end     int  // where in the file it is there
	beneath bool // something was put on top of it since
}

// added are the groups of locals that a function needs for its NaNs.
func (n *nans) added(used [nanKinds]bool, next uint64) (count int, groups []byte) {
	n.waiting = false
	for kind, t := range [nanKinds]wasmfile.ValueType{wasmfile.F32, wasmfile.F64, wasmfile.V128, wasmfile.V128} {
		if used[kind] {
			n.locals[kind] = next
			next++
			count++
			groups = append(groups, 1, byte(t))
		}
	}
	return count, groups
}

// before looks at the next instruction, and replaces what it would show. It copies up to the result then.
func (n *nans) before(c *copier, in wasmfile.Instruction) {
	if !n.waiting {
		return
	}
	taken, operands := takesNumbers(in.Op, n.kind)
	switch {
	case taken && (operands == 2 || !n.beneath):
	case !n.beneath && in.Op == wasmfile.OpLocalGet, !n.beneath && isNumber(in.Op):
		n.beneath = true
		return
	default:
		c.upTo(n.end)
		c.out = n.replace(c.out)
	}
	n.waiting = false
}

// after notes the result of an instruction.
func (n *nans) after(in wasmfile.Instruction) {
	if kind, ok := mayBeNaN(in.Op); ok {
		n.waiting, n.kind, n.end, n.beneath = true, kind, in.End, false
	}
}

// The canonical NaNs, and comparisons of numbers.
var canonical = [nanKinds]struct{ number, equal []byte }{
	nanF32:   {[]byte{0x43, 0, 0, 0xc0, 0x7f}, []byte{0x5c}},
	nanF64:   {[]byte{0x44, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, []byte{0x62}},
	nanF32x4: {[]byte{0xfd, 12, 0, 0, 0xc0, 0x7f, 0, 0, 0xc0, 0x7f, 0, 0, 0xc0, 0x7f, 0, 0, 0xc0, 0x7f}, []byte{0xfd, 65}},
	nanF64x2: {[]byte{0xfd, 12, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, []byte{0xfd, 71}},
}

// replace replaces what is on top of the stack, if it is no number. A branch that
// is never taken costs less than choosing; of vectors, lanes are chosen.
func (n *nans) replace(code []byte) []byte {
	local, c := n.locals[n.kind], &canonical[n.kind]
	code = variable(code, wasmfile.OpLocalTee, local)
	if n.kind < nanF32x4 {
		code = variable(code, wasmfile.OpLocalGet, local)
		code = append(code, c.equal...)
		code = append(code, byte(wasmfile.OpIf), blockVoid)
		code = append(code, c.number...)
		code = append(variable(code, wasmfile.OpLocalSet, local), byte(wasmfile.OpEnd))
		return variable(code, wasmfile.OpLocalGet, local)
	}
	code = append(code, c.number...)
	code = variable(variable(code, wasmfile.OpLocalGet, local), wasmfile.OpLocalGet, local)
	return append(append(code, c.equal...), 0xfd, 82) // v128.bitselect
}

// mayBeNaN is how the result of an instruction has to be tested.
func mayBeNaN(op wasmfile.Opcode) (nanKind, bool) {
	switch {
	case op >= 0x8d && op <= 0x97, op == 0xb6: // f32: ceil to max, demote
		return nanF32, true
	case op >= 0x9b && op <= 0xa5, op == 0xbb: // f64: ceil to max, promote
		return nanF64, true
	case op>>16 != 0xfd:
		return 0, false
	}
	switch n := op & 0xff; n {
	case 94, 103, 104, 105, 106, 227, 228, 229, 230, 231, 232, 233: // f32x4: demote, ceil, ..., sqrt, ..., max
		return nanF32x4, true
	case 95, 116, 117, 122, 148, 239, 240, 241, 242, 243, 244, 245: // f64x2
		return nanF64x2, true
	}
	return 0, false
}

// takesNumbers reports whether an instruction takes numbers of a kind alone, how
// many, and shows no bits of them but in what is replaced in turn.
func takesNumbers(op wasmfile.Opcode, kind nanKind) (ok bool, operands int) {
	in := func(from, to wasmfile.Opcode) bool { return op >= from && op <= to }
	v := func(from, to wasmfile.Opcode) bool { return in(0xfd<<16|from, 0xfd<<16|to) }
	switch kind {
	case nanF32:
		switch {
		case in(0x5b, 0x60), in(0x92, 0x97): // comparisons, add to max
			return true, 2
		case in(0x8d, 0x91), in(0xa8, 0xa9), in(0xae, 0xaf), op == 0xbb, in(0xfc<<16, 0xfc<<16|1), in(0xfc<<16|4, 0xfc<<16|5):
			return true, 1 // rounding and sqrt, conversions
		}
	case nanF64:
		switch {
		case in(0x61, 0x66), in(0xa0, 0xa5):
			return true, 2
		case in(0x9b, 0x9f), in(0xaa, 0xab), in(0xb0, 0xb1), op == 0xb6, in(0xfc<<16|2, 0xfc<<16|3), in(0xfc<<16|6, 0xfc<<16|7):
			return true, 1
		}
	case nanF32x4:
		switch {
		case v(65, 70), v(228, 233):
			return true, 2
		case v(103, 106), v(95, 95), v(227, 227), v(248, 249):
			return true, 1
		}
	case nanF64x2:
		switch {
		case v(71, 76), v(240, 245):
			return true, 2
		case v(116, 117), v(122, 122), v(148, 148), v(94, 94), v(239, 239), v(252, 253):
			return true, 1
		}
	}
	return false, 0
}

// isNumber reports whether an instruction is a constant that arithmetic takes.
func isNumber(op wasmfile.Opcode) bool { return op == 0x43 || op == 0x44 || op == 0xfd<<16|12 }

// header writes the list of locals of a body with groups added.
func (w *writer) header(out []byte, b wasmfile.Body, count int, added []byte) []byte {
	r := w.file.Reader(b.Start, b.Code)
	groups := r.U32("groups of locals")
	out = binary.AppendUvarint(out, uint64(groups)+uint64(count))
	out = append(out, w.file.Bytes(r.Offset(), b.Code)...)
	return append(out, added...)
}
