package fuelzoo

import (
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// Form is an instruction on floats, with what it takes and gives in letters of signatures.
type Form struct {
	Op             wasmfile.Opcode
	Name           string
	Code           []byte
	Params, Result string
}

// Type is the value type of a letter.
func Type(letter byte) byte { return types[letter] }

// Wide reports whether the lanes of a vector are f64.
func (f Form) Wide() bool {
	switch n := f.Op & 0xff; {
	case f.Op>>16 != 0xfd:
		return false
	default:
		return n == 94 || n == 116 || n == 117 || n == 122 || n == 148 || n >= 236 && n <= 247
	}
}

// WideResult reports whether the lanes of the result are f64.
func (f Form) WideResult() bool {
	if f.Op == vector(94) || f.Op == vector(95) { // demotes, promotes
		return !f.Wide()
	}
	return f.Wide()
}

// CopiesBits reports whether the instruction gives a NaN as it takes it, with its sign at most changed: abs, neg, copysign, pmin and pmax.
func (f Form) CopiesBits() bool {
	switch f.Op {
	case 0x8b, 0x8c, 0x98, 0x99, 0x9a, 0xa6,
		vector(224), vector(225), vector(234), vector(235), vector(236), vector(237), vector(246), vector(247):
		return true
	}
	return false
}

// Floats are the instructions that take and give floats.
func Floats() []Form {
	var all []Form
	for _, s := range signatures {
		for op := s.from; op <= s.to; op++ {
			if isFloat(op) {
				all = append(all, Form{op, fmt.Sprintf("0x%x", op), encode(op), s.params, s.result})
			}
		}
	}
	return all
}

func isFloat(op wasmfile.Opcode) bool {
	if op>>16 == 0xfd {
		n := op & 0xff
		return n == 94 || n == 95 || n >= 103 && n <= 106 || n == 116 || n == 117 || n == 122 || n == 148 || n >= 224 && n <= 247
	}
	return op >= 0x8b && op <= 0xa6 || op == 0xb6 || op == 0xbb
}
