package instrument

import (
	"encoding/binary"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// Fuel is paid for each basic block, at its beginning, so that what is paid for is what runs: the Go toolchain makes one loop of a
// function, around a br_table over all its blocks. Paying happens before the work, and ahead of what a trap cuts off.
//
// Whether any is left is asked at the beginning of functions and loops, where alone a call can go on for long, and before instructions that
// move memory or table entries in bulk. Between two questions lies at most the straight code of one function, or one move of all memory,
// which takes some milliseconds.
//
// In a function the fuel is a local, which the compiler keeps in a register. It is in the global whenever anybody else may look: before
// calls, and where the function ends. What a trap leaves in the global is older, and the same in every run.

// meter pays for one function.
type meter struct {
	*writer
	copier        // what was copied of the block
	done   []byte // the body up to the block
	cost   int64
	entry  bool // the block is the first
	asks   bool // the block begins with the question
	frames []frame
	sets   int    // local.set and local.tee so far
	loop   int    // how many have begun
	locals int    // of the file
	local  uint64 // the fuel
	survey survey
	nans   nans
}

// frame is a structured instruction that has not ended.
type frame struct {
	op      wasmfile.Opcode
	joined  bool // a branch goes to its end
	sets    int  // before it
	results int64
}

// body writes a body with its payments.
func (m *meter) body(out []byte, b wasmfile.Body, params int) []byte {
	m.begin(out, b, params)
	r := m.file.Reader(b.Code, b.End)
	for r.Left() > 0 {
		in := r.Instruction()
		if r.Err() == nil {
			m.changes(in)
			m.instruction(in)
		}
	}
	m.check(r.Err())
	m.pay(b.End)
	return m.done
}

// begin starts the function of a body, with a local for the fuel, and those for NaNs.
func (m *meter) begin(out []byte, b wasmfile.Body, params int) {
	m.survey.look(m.file, b, params)
	m.locals = params + b.Locals
	m.local = uint64(m.locals)
	count, groups := m.nans.added(m.survey.nans, m.local+1)
	m.done = m.header(out, b, 1+count, append([]byte{1, byte(wasmfile.I64)}, groups...))
	m.out, m.from, m.cost = m.out[:0], b.Code, 0
	m.entry, m.asks = true, true
	m.sets, m.loop = 0, 0
	m.frames = append(m.frames[:0], frame{op: wasmfile.OpBlock})
}

// instruction counts one, which has been copied up to some place in it.
func (m *meter) instruction(in wasmfile.Instruction) {
	m.nans.before(&m.copier, in)
	switch in.Op {
	case wasmfile.OpBlock, wasmfile.OpIf, wasmfile.OpLoop:
		if len(m.frames) > maxNesting {
			m.fail(in.Start, "blocks are nested more than %d deep", maxNesting)
		}
		m.frames = append(m.frames, frame{op: in.Op, sets: m.sets, results: operandsOf(m.file, in).results})
	case wasmfile.OpMemoryGrow, wasmfile.OpTableGrow:
		m.grow(in)
	case wasmfile.OpMemoryInit, wasmfile.OpMemoryCopy, wasmfile.OpMemoryFill:
		m.move(in, moveShift)
	case wasmfile.OpTableInit, wasmfile.OpTableCopy, wasmfile.OpTableFill:
		m.move(in, 0)
	}
	if m.leaves(in) {
		m.upTo(in.Start)
		m.out = m.save(m.out)
	}
	m.names(&m.copier, in)
	m.localIndex(in, m.locals)
	if in.Op == wasmfile.OpLocalSet || in.Op == wasmfile.OpLocalTee {
		m.sets++
	}
	if in.Op == wasmfile.OpCall || in.Op == wasmfile.OpCallIndirect {
		m.upTo(in.End)
		m.out = m.load(m.out)
	}
	m.nans.after(in)
	m.cost += m.price(in)
	if ends, joining := m.ends(in); ends {
		m.pay(in.End)
		m.cost = joining
		m.asks = in.Op == wasmfile.OpLoop
	}
}

// price is what an instruction costs, beside what depends on operands.
func (m *meter) price(in wasmfile.Instruction) int64 {
	units := int64(0)
	if class := *prices.at(in.Op); class > 0 {
		units = classes[class-1].Units
	} else {
		m.fail(in.Start, "instruction 0x%x is not supported", in.Op)
	}
	var v values
	switch in.Op {
	case wasmfile.OpCall:
		if int64(in.Index) < int64(m.file.ImportedFuncs+len(m.file.Bodies)) {
			v = valuesOfType(m.file.FuncType(in.Index))
		}
	case wasmfile.OpCallIndirect:
		v = valuesOf(m.file, in.Index)
	}
	return units + v.params + v.results
}

// leaves reports whether others may see the fuel next: in a function that is
// called, or after the end of this one. It notes where branches go.
func (m *meter) leaves(in wasmfile.Instruction) bool {
	switch in.Op {
	case wasmfile.OpCall, wasmfile.OpCallIndirect, wasmfile.OpReturn, wasmfile.OpUnreachable:
		return true
	case wasmfile.OpEnd:
		return len(m.frames) == 1
	case wasmfile.OpBr, wasmfile.OpBrIf:
		return m.branch(in.Index)
	case wasmfile.OpBrTable:
		leaves := false
		r := m.file.Reader(in.Operand, in.End)
		for n := uint64(r.U32("branch targets")) + 1; n > 0 && r.Left() > 0; n-- {
			leaves = m.branch(r.U32("branch target")) || leaves
		}
		return leaves
	}
	return false
}

// branch notes that an end is reached from somewhere else, and reports whether that is the function's.
func (m *meter) branch(depth uint32) bool {
	outer := len(m.frames) - 1 - int(depth)
	if outer >= 0 {
		m.frames[outer].joined = true
	}
	return outer == 0
}

// ends reports whether an instruction is the last of its block, and what the next one pays because ways join before it.
func (m *meter) ends(in wasmfile.Instruction) (ends bool, joins int64) {
	switch in.Op {
	case wasmfile.OpLoop:
		m.loop++
		return true, m.survey.loops[m.loop-1]
	case wasmfile.OpUnreachable, wasmfile.OpIf, wasmfile.OpElse,
		wasmfile.OpBr, wasmfile.OpBrIf, wasmfile.OpBrTable, wasmfile.OpReturn:
		return true, 0
	case wasmfile.OpEnd:
		if len(m.frames) == 0 {
			return true, 0
		}
		f := m.frames[len(m.frames)-1]
		m.frames = m.frames[:len(m.frames)-1]
		if len(m.frames) > 0 && (f.op == wasmfile.OpIf || f.op == wasmfile.OpBlock && f.joined) {
			return true, joinUnits + joining(m.sets-f.sets, m.locals) + f.results
		}
	}
	return false, 0
}

// pay writes the block that ends here, behind the payment for it.
func (m *meter) pay(end int) {
	m.upTo(end)
	switch {
	case m.entry:
		m.done = variable(m.done, wasmfile.OpGlobalGet, m.fuel())
		m.done = m.spend(m.done)
	case m.cost > 0:
		m.done = variable(m.done, wasmfile.OpLocalGet, m.local)
		m.done = m.spend(m.done)
	}
	if m.asks && m.cost > 0 {
		m.done = m.ask(m.done)
	}
	m.done = append(m.done, m.out...)
	m.out, m.entry = m.out[:0], false
}

// spend takes the cost from the fuel on the stack.
func (m *meter) spend(code []byte) []byte {
	if m.cost > 0 {
		code = append(appendSigned(append(code, byte(wasmfile.OpI64Const)), m.cost), opI64Sub)
	}
	return variable(code, wasmfile.OpLocalSet, m.local)
}

// save and load move the fuel between the local and the global.
func (m *meter) save(code []byte) []byte {
	return variable(variable(code, wasmfile.OpLocalGet, m.local), wasmfile.OpGlobalSet, m.fuel())
}

func (m *meter) load(code []byte) []byte {
	return variable(variable(code, wasmfile.OpGlobalGet, m.fuel()), wasmfile.OpLocalSet, m.local)
}

// ask calls out as long as the fuel is below zero. It is a loop, although once is mostly enough, because the compiler keeps registers as
// they were before a loop, but as they are after a call where two ways join.
func (m *meter) ask(code []byte) []byte {
	code = variable(append(code, byte(wasmfile.OpLoop), blockVoid), wasmfile.OpLocalGet, m.local)
	code = append(code, byte(wasmfile.OpI64Const), 0, opI64LtS, byte(wasmfile.OpIf), blockVoid)
	code = m.save(code)
	code = binary.AppendUvarint(append(code, byte(wasmfile.OpCall)), uint64(m.file.ImportedFuncs))
	return append(m.load(code), byte(wasmfile.OpBr), 1, byte(wasmfile.OpEnd), byte(wasmfile.OpEnd))
}

// move pays for the length on top of the stack, and asks.
func (m *meter) move(in wasmfile.Instruction, shift byte) {
	m.upTo(in.Start)
	m.out = variable(m.out, wasmfile.OpGlobalSet, m.operand())
	m.out = variable(m.out, wasmfile.OpLocalGet, m.local)
	m.out = append(variable(m.out, wasmfile.OpGlobalGet, m.operand()), opI64ExtendI32U)
	m.out = append(m.out, byte(wasmfile.OpI64Const), shift, opI64ShrU, opI64Sub)
	m.out = m.ask(variable(m.out, wasmfile.OpLocalSet, m.local))
	m.out = variable(m.out, wasmfile.OpGlobalGet, m.operand())
}

// grow pays for what was added: it gets back the price of the size before, and pays that of the size after. Growing that fails is free.
func (m *meter) grow(in wasmfile.Instruction) {
	m.upTo(in.Start)
	m.size(in, opI64Add)
	m.upTo(in.End)
	m.size(in, opI64Sub)
}

func (m *meter) size(in wasmfile.Instruction, op byte) {
	m.out = variable(m.out, wasmfile.OpLocalGet, m.local)
	shift := byte(pageShift)
	if in.Op == wasmfile.OpMemoryGrow {
		m.out = append(m.out, opMemorySize, 0)
	} else {
		m.out = binary.AppendUvarint(append(m.out, 0xfc, 16), uint64(in.Index)) // table.size
		shift = 0
	}
	m.out = append(m.out, opI64ExtendI32U, byte(wasmfile.OpI64Const), shift, opI64Shl, op)
	m.out = variable(m.out, wasmfile.OpLocalSet, m.local)
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

func variable(code []byte, op wasmfile.Opcode, index uint64) []byte {
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

// survey is what has to be known of a body before it is written: what joining ways costs, which is paid where a loop begins, and of which
// types numbers may turn out not to be one.
type survey struct {
	loops []int64 // for each loop, in their order, what each turn costs
	open  []construct
	sets  int // local.set and local.tee so far
	nans  [nanKinds]bool
}

// construct is a structured instruction that has not ended.
type construct struct {
	sets int // before it
	loop int // its index, or -1
}

// look reads a body. Faults are found when it is written.
func (s *survey) look(f *wasmfile.File, b wasmfile.Body, params int) {
	locals := params + b.Locals
	s.loops, s.open, s.sets, s.nans = s.loops[:0], s.open[:0], 0, [nanKinds]bool{}
	r := f.Reader(b.Code, b.End)
	for r.Left() > 0 && r.Err() == nil {
		in := r.Instruction()
		switch in.Op {
		case wasmfile.OpLocalSet, wasmfile.OpLocalTee:
			s.sets++
		case wasmfile.OpBlock, wasmfile.OpIf:
			s.open = append(s.open, construct{loop: -1})
		case wasmfile.OpLoop:
			s.open = append(s.open, construct{s.sets, len(s.loops)})
			s.loops = append(s.loops, joinUnits+operandsOf(f, in).params)
		case wasmfile.OpEnd:
			s.close(locals)
		default:
			if kind, ok := mayBeNaN(in.Op); ok {
				s.nans[kind] = true
			}
		}
	}
}

func (s *survey) close(locals int) {
	if len(s.open) == 0 {
		return // of the function
	}
	c := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if c.loop >= 0 {
		s.loops[c.loop] += joining(s.sets-c.sets, locals)
	}
}

// joining is what it costs where ways join on which locals were set: those that find no register are moved.
func joining(sets, locals int) int64 { return int64(max(0, min(sets, locals)-freeLocals)) }

// values are how many a block or a function takes and gives.
type values struct{ params, results int64 }

func operandsOf(f *wasmfile.File, in wasmfile.Instruction) values {
	if !in.HasType {
		return values{}
	}
	return valuesOf(f, in.Index)
}

// valuesOf is what a type says; one that is not there is rejected later.
func valuesOf(f *wasmfile.File, index uint32) values {
	if int64(index) >= int64(len(f.Types)) {
		return values{}
	}
	return valuesOfType(f.Types[index])
}

func valuesOfType(t wasmfile.FuncType) values {
	return values{int64(len(t.Params)), int64(len(t.Results))}
}
