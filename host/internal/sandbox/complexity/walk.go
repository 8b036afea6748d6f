package complexity

import (
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// walk follows the code of one function from block to block, and counts.
type walk struct {
	counts
	file   *wasmfile.File
	read   []bool // by local
	frames []frame
	now    place
	height int // of the operand stack, at most
	loops  int // that are open
	dead   int // open frames in code that is never reached, the reached one included; 0: reached
}

// place is what the compiler knows at a place in the code.
type place struct {
	chain float64 // blocks since ways joined
	known float64 // addresses that were checked on every way to it, at most
}

// frame is a structured instruction that has not ended.
type frame struct {
	op              wasmfile.Opcode
	base            int // height of the stack below its parameters
	params, results int
	ways            int   // to its end
	start, end      place // of several ways to its end what all of them know
}

// function counts one function.
func (w *walk) function(body wasmfile.Body, signature wasmfile.FuncType) error {
	locals := len(signature.Params) + body.Locals
	w.counts = counts{locals: float64(locals)}
	w.read = append(w.read[:0], make([]bool, locals)...)
	w.frames = append(w.frames[:0], frame{op: wasmfile.OpBlock, results: len(signature.Results)})
	w.now, w.height, w.loops, w.dead = place{}, 0, 0, 0
	r := w.file.Reader(body.Code, body.End)
	for r.Left() > 0 && len(w.frames) > 0 {
		in := r.Instruction()
		switch err := r.Err(); {
		case err != nil:
			return err
		case w.dead > 0:
			w.skip(in.Op)
		default:
			w.instruction(in)
		}
	}
	return nil
}

func (w *walk) instruction(in wasmfile.Instruction) {
	w.instructions += weight(in.Op)
	w.height = max(0, w.height+effect(in.Op))
	switch in.Op {
	case wasmfile.OpBlock, wasmfile.OpLoop, wasmfile.OpIf:
		w.open(in)
	case wasmfile.OpElse:
		w.otherwise()
	case wasmfile.OpEnd:
		w.end()
	case wasmfile.OpBr:
		w.branch(in.Index)
		w.dead = 1
	case wasmfile.OpBrIf:
		w.branch(in.Index)
		w.fork()
	case wasmfile.OpBrTable:
		r := w.file.Reader(in.Operand, in.End)
		for range int(r.U32("branch targets")) + 1 {
			w.branch(r.U32("branch target"))
		}
		w.dead = 1
	case wasmfile.OpReturn, wasmfile.OpUnreachable:
		w.dead = 1
	case wasmfile.OpCall, wasmfile.OpCallIndirect:
		w.call(in)
	case wasmfile.OpLocalGet:
		w.looked += w.now.chain
		if int(in.Index) < len(w.read) && !w.read[in.Index] {
			w.read[in.Index] = true
			w.alive++
		}
	case wasmfile.OpGlobalGet:
		w.looked += w.now.chain
	case wasmfile.OpMemoryFill, wasmfile.OpTableFill: // loops
		for range 4 {
			w.way()
		}
		w.now = place{}
	}
	if accesses(in.Op) {
		w.looked += 2 * w.now.chain
		w.accesses++
		w.now.known++
	}
}

// skip passes over code that is never reached.
func (w *walk) skip(op wasmfile.Opcode) {
	switch {
	case op == wasmfile.OpBlock || op == wasmfile.OpLoop || op == wasmfile.OpIf:
		w.dead++
	case op == wasmfile.OpElse && w.dead == 1:
		w.otherwise()
	case op == wasmfile.OpEnd && w.dead == 1:
		w.end()
	case op == wasmfile.OpEnd:
		w.dead--
	}
}

// way counts a way from here to another block.
func (w *walk) way() {
	held := w.now.known + float64(w.height+len(w.file.Globals))
	w.ways++
	w.searched += w.now.chain + 1
	w.held += held
	w.widest = max(w.widest, held)
}

// fork ends a block that branches, and begins one that only it leads to.
func (w *walk) fork() {
	w.way()
	w.now.chain++
}

// to counts a way from here to the end of a frame.
func (w *walk) to(f *frame) {
	w.way()
	if f.ways++; f.ways == 1 {
		f.end = w.now
	}
	f.end.known = min(f.end.known, w.now.known)
}

func (w *walk) branch(depth uint32) {
	i := len(w.frames) - 1 - int(depth)
	if i < 0 {
		return // invalid
	}
	f := &w.frames[i]
	w.instructions += float64(max(f.params, f.results))
	if f.op == wasmfile.OpLoop {
		w.way()
	} else {
		w.to(f)
	}
}

func (w *walk) open(in wasmfile.Instruction) {
	f := frame{op: in.Op, start: w.now}
	switch {
	case in.HasType && int(in.Index) < len(w.file.Types):
		t := w.file.Types[in.Index]
		f.params, f.results = len(t.Params), len(t.Results)
	case !in.HasType && !in.Empty:
		f.results = 1
	}
	f.base = max(w.height-f.params, 0)
	w.frames = append(w.frames, f)
	w.instructions += float64(f.params + f.results)
	w.passed = max(w.passed, float64(f.params), float64(f.results))
	switch in.Op {
	case wasmfile.OpLoop:
		w.way()
		w.now.chain = 0
		w.loops++
		w.nesting = max(w.nesting, float64(w.loops))
	case wasmfile.OpIf:
		w.fork()
	}
}

// otherwise ends the first part of an if.
func (w *walk) otherwise() {
	f := &w.frames[len(w.frames)-1]
	if f.op != wasmfile.OpIf {
		return // invalid
	}
	if w.dead == 0 {
		w.to(f)
	}
	f.op, w.dead = wasmfile.OpElse, 0
	w.now, w.height = f.start, f.base+f.params
	w.fork()
}

// end ends the innermost frame, and begins the block behind it.
func (w *walk) end() {
	f := &w.frames[len(w.frames)-1]
	if w.dead == 0 {
		w.to(f)
	}
	switch f.op {
	case wasmfile.OpIf:
		w.now = f.start
		w.to(f)
	case wasmfile.OpLoop:
		w.loops--
	}
	w.frames = w.frames[:len(w.frames)-1]
	w.now, w.height, w.dead = f.end, f.base+f.results, 0
	switch f.ways {
	case 0:
		w.dead = 1
	case 1:
		w.now.chain++
	default:
		w.now.chain = 0
	}
}

func (w *walk) call(in wasmfile.Instruction) {
	var t wasmfile.FuncType
	switch {
	case in.Op == wasmfile.OpCallIndirect && int(in.Index) < len(w.file.Types):
		t = w.file.Types[in.Index]
	case in.Op == wasmfile.OpCall && int(in.Index) < w.file.Funcs():
		t = w.file.FuncType(in.Index)
		w.looked += float64(min(int(in.Index), w.file.ImportedFuncs)) // the compiler counts imports
	}
	w.instructions += 2*float64(len(t.Params)+len(t.Results)) + float64(len(w.file.Globals)) // which are read again
	w.height = max(0, w.height-len(t.Params)) + len(t.Results)
}

// accesses reports whether an instruction reads or writes memory at an address.
func accesses(op wasmfile.Opcode) bool {
	return op >= 0x28 && op <= 0x3e || op >= 0xfd_0000 && op <= 0xfd_000b || op >= 0xfd_0054 && op <= 0xfd_005d
}

// weight is how many simple instructions of the compiler's own an instruction counts for: what it makes many of by itself, others by the fuel that
// they cost.
func weight(op wasmfile.Opcode) float64 {
	switch {
	case op == wasmfile.OpCallIndirect:
		return 55
	case op >= 0xfc_0008 && op <= 0xfc_ffff: // moves in memories and tables
		return 100
	case op >= 0xfc_0000 && op < 0xfc_0008, op >= 0xa8 && op <= 0xb1: // floating point to integers
		return 30
	case op == 0xfd_000c: // v128.const
		return 16
	}
	switch class, _ := instrument.Price(op); {
	case class.Units == 0:
		return 0.5
	case class.Units == 1:
		return 1
	case class.Units <= 4:
		return 16
	}
	return 22
}

// effect is by how much an instruction changes the height of the operand stack, at most: of some vector instructions that take values it is 0.
// What depends on a type comes on top.
func effect(op wasmfile.Opcode) int {
	v := func(from, to wasmfile.Opcode) bool { return op >= 0xfd_0000|from && op <= 0xfd_0000|to }
	switch {
	case op == 0x20, op == 0x23, op == 0x3f, op >= 0x41 && op <= 0x44, op == 0xd0, op == 0xd2, op == 0xfc_0010, v(0x0c, 0x0c):
		return 1 // local.get, global.get, memory.size, constants, references, table.size, v128.const
	case op == 0x1b, op == 0x1c, op == 0x26, op >= 0x36 && op <= 0x3e, v(0x0b, 0x0b): // select, table.set, stores
		return -2
	case op == 0xfc_0008, op >= 0xfc_000a && op <= 0xfc_000c, op == 0xfc_000e, op == 0xfc_0011: // bulk moves
		return -3
	case op == 0x04, op == 0x0d, op == 0x0e, op == 0x11, op == 0x1a, op == 0x21, op == 0x24, // if, br_if, br_table, call_indirect, drop, local.set, global.set
		op >= 0x46 && op <= 0x4f, op >= 0x51 && op <= 0x66, op >= 0x6a && op <= 0x78, op >= 0x7c && op <= 0x8a, // comparisons and arithmetic
		op >= 0x92 && op <= 0x98, op >= 0xa0 && op <= 0xa6,
		v(0x23, 0x4c), v(0x4e, 0x51), v(0x6b, 0x73), v(0x8b, 0x93), v(0x95, 0x9f), v(0xab, 0xbf), v(0xcb, 0xdf), v(0xe4, 0xeb), v(0xf0, 0xf7):
		return -1
	}
	return 0
}
