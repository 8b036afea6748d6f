package instrument

import (
	"encoding/binary"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// Fuel is paid for each basic block, at its beginning, so that what is paid
// for is what runs: the Go toolchain makes one loop of a function, around a
// br_table over all its blocks. Paying happens before the work, and ahead of
// what a trap cuts off.
//
// Whether any is left is asked at the beginning of functions and loops, where
// alone a call can go on for long, and before instructions that move memory or
// table entries in bulk. Between two questions lies at most the straight code
// of one function.
//
// Asking calls out, because the runtime keeps globals in registers and reads
// them again only after a call.

// meter pays for one function.
type meter struct {
	*writer
	copier // what was copied of the block
	done   []byte
	cost   int64
	asks   bool // the block begins with the question
	frames []frame
}

// frame is a structured instruction that has not ended.
type frame struct {
	op     wasmfile.Opcode
	joined bool // a branch goes to its end
}

// begin starts a function at the offset of its code.
func (m *meter) begin(out []byte, code int) {
	m.done, m.out, m.from = out, m.out[:0], code
	m.cost, m.asks = 0, true
	m.frames = append(m.frames[:0], frame{op: wasmfile.OpBlock})
}

// instruction counts one, which has been copied up to some place in it.
func (m *meter) instruction(in wasmfile.Instruction) {
	m.cost += cost(in.Op)
	switch in.Op {
	case wasmfile.OpBlock, wasmfile.OpIf, wasmfile.OpLoop:
		m.frames = append(m.frames, frame{op: in.Op})
	case wasmfile.OpBr, wasmfile.OpBrIf:
		m.branch(in.Index)
	case wasmfile.OpBrTable:
		r := m.file.Reader(in.Operand, in.End)
		for n := r.U32("branch targets") + 1; n > 0 && r.Left() > 0; n-- {
			m.branch(r.U32("branch target"))
		}
	case wasmfile.OpMemoryGrow, wasmfile.OpTableGrow:
		m.grow(in)
	case wasmfile.OpMemoryInit, wasmfile.OpMemoryCopy, wasmfile.OpMemoryFill:
		m.move(in, moveShift)
	case wasmfile.OpTableInit, wasmfile.OpTableCopy, wasmfile.OpTableFill:
		m.move(in, 0)
	}
	if m.ends(in) {
		m.pay(in.End)
		m.asks = in.Op == wasmfile.OpLoop
	}
}

// branch notes that an end is reached from somewhere else.
func (m *meter) branch(depth uint32) {
	if int64(depth) < int64(len(m.frames)) {
		m.frames[len(m.frames)-1-int(depth)].joined = true
	}
}

// ends reports whether an instruction is the last of its block.
func (m *meter) ends(in wasmfile.Instruction) bool {
	switch in.Op {
	case wasmfile.OpUnreachable, wasmfile.OpLoop, wasmfile.OpIf, wasmfile.OpElse,
		wasmfile.OpBr, wasmfile.OpBrIf, wasmfile.OpBrTable, wasmfile.OpReturn:
		return true
	case wasmfile.OpEnd:
		if len(m.frames) == 0 {
			return true
		}
		f := m.frames[len(m.frames)-1]
		m.frames = m.frames[:len(m.frames)-1]
		return f.op == wasmfile.OpIf || f.op == wasmfile.OpBlock && f.joined
	}
	return false
}

// pay writes the block that ends here, behind the payment for it.
func (m *meter) pay(end int) {
	m.upTo(end)
	if m.cost > 0 {
		m.done = global(m.done, wasmfile.OpGlobalGet, m.fuel())
		m.done = appendSigned(append(m.done, byte(wasmfile.OpI64Const)), m.cost)
		m.done = global(append(m.done, opI64Sub), wasmfile.OpGlobalSet, m.fuel())
		if m.asks {
			m.done = m.ask(m.done)
		}
	}
	m.done = append(m.done, m.out...)
	m.out, m.cost = m.out[:0], 0
}

// ask calls out if the fuel is below zero.
func (m *meter) ask(code []byte) []byte {
	code = global(code, wasmfile.OpGlobalGet, m.fuel())
	code = append(code, byte(wasmfile.OpI64Const), 0, opI64LtS, byte(wasmfile.OpIf), blockVoid)
	code = binary.AppendUvarint(append(code, byte(wasmfile.OpCall)), uint64(m.file.ImportedFuncs))
	return append(code, byte(wasmfile.OpEnd))
}

// move pays for the length on top of the stack, and asks.
func (m *meter) move(in wasmfile.Instruction, shift byte) {
	m.upTo(in.Start)
	m.out = global(m.out, wasmfile.OpGlobalSet, m.operand())
	m.out = global(m.out, wasmfile.OpGlobalGet, m.fuel())
	m.out = append(global(m.out, wasmfile.OpGlobalGet, m.operand()), opI64ExtendI32U)
	m.out = append(m.out, byte(wasmfile.OpI64Const), shift, opI64ShrU, opI64Sub)
	m.out = m.ask(global(m.out, wasmfile.OpGlobalSet, m.fuel()))
	m.out = global(m.out, wasmfile.OpGlobalGet, m.operand())
}

// grow pays for what was added: it gets back the price of the size before,
// and pays that of the size after. Growing that fails is free.
func (m *meter) grow(in wasmfile.Instruction) {
	m.upTo(in.Start)
	m.size(in, opI64Add)
	m.upTo(in.End)
	m.size(in, opI64Sub)
}

func (m *meter) size(in wasmfile.Instruction, op byte) {
	m.out = global(m.out, wasmfile.OpGlobalGet, m.fuel())
	shift := byte(pageShift)
	if in.Op == wasmfile.OpMemoryGrow {
		m.out = append(m.out, opMemorySize, 0)
	} else {
		m.out = binary.AppendUvarint(append(m.out, 0xfc, 16), uint64(in.Index)) // table.size
		shift = 0
	}
	m.out = append(m.out, opI64ExtendI32U, byte(wasmfile.OpI64Const), shift, opI64Shl, op)
	m.out = global(m.out, wasmfile.OpGlobalSet, m.fuel())
}

const (
	blockVoid       = 0x40
	opMemorySize    = 0x3f
	opI64LtS        = 0x53
	opI64Add        = 0x7c
	opI64Sub        = 0x7d
	opI64Shl        = 0x86
	opI64ShrU       = 0x88
	opI64ExtendI32U = 0xad
)

func global(code []byte, op wasmfile.Opcode, index uint64) []byte {
	return binary.AppendUvarint(append(code, byte(op)), index)
}

// appendSigned appends a signed LEB128 number.
func appendSigned(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
