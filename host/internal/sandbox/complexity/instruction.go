package complexity

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"

// instruction counts one.
func (w *walk) instruction(in wasmfile.Instruction) {
	if w.dead > 0 {
		w.skip(in)
		return
	}
	w.counts.instructions += weight(in.Op)
	switch in.Op {
	case wasmfile.OpBlock, wasmfile.OpLoop, wasmfile.OpIf:
		w.open(in)
	case wasmfile.OpElse:
		w.otherwise()
	case wasmfile.OpEnd:
		w.end()
	case wasmfile.OpBr:
		w.branch(in.Index, w.now)
		w.dead = 1
	case wasmfile.OpBrIf:
		w.push(-1)
		w.branch(in.Index, w.now)
		w.add(block{count: 1, edges: 1}) // splits the edge
		w.fork()
		w.add(block{count: 1, edges: 1})
	case wasmfile.OpBrTable:
		w.table(in)
		w.dead = 1
	case wasmfile.OpReturn, wasmfile.OpUnreachable:
		w.dead = 1
	case wasmfile.OpCall, wasmfile.OpCallIndirect:
		w.call(in)
	case wasmfile.OpLocalGet:
		w.counts.searches += w.now.chain
		w.live.use(in.Index)
		w.push(1)
		w.stack[len(w.stack)-1] = int32(in.Index) + 1
	case wasmfile.OpLocalSet:
		w.define(in.Index)
		w.push(-1)
	case wasmfile.OpLocalTee:
		w.define(in.Index)
	default:
		w.plain(in)
	}
}

// skip passes over code that is never reached.
func (w *walk) skip(in wasmfile.Instruction) {
	switch in.Op {
	case wasmfile.OpBlock, wasmfile.OpLoop, wasmfile.OpIf:
		w.dead++
	case wasmfile.OpElse:
		if w.dead == 1 {
			w.otherwise()
		}
	case wasmfile.OpEnd:
		if w.dead == 1 {
			w.end()
		} else {
			w.dead--
		}
	}
}

// plain counts an instruction that neither branches nor names a local.
func (w *walk) plain(in wasmfile.Instruction) {
	switch {
	case in.Op == wasmfile.OpGlobalGet:
		w.counts.searches += w.now.chain
	case accesses(in.Op):
		w.access(in.Op)
	case in.Op == wasmfile.OpMemoryFill, in.Op == wasmfile.OpTableFill: // loops
		w.fork()
		w.counts.depths += 3 * (w.now.depth + 1)
		w.add(block{count: 3, edges: 4, searches: 4 * (w.now.chain + 1), params: 1, join: true})
		w.now.depth++
		w.now.bounds, w.now.chain = 0, 0
		w.epoch++
	}
	w.push(effect(in.Op))
	if top := len(w.stack) - 1; top >= 0 && in.Op != 0x1a { // drop
		w.stack[top] = 0
	}
}

// access counts what reads or writes memory. An address that is known to be in
// memory is not checked again.
func (w *walk) access(op wasmfile.Opcode) {
	w.counts.searches += 2 * w.now.chain
	at := len(w.stack) - 1
	if effect(op) < 0 && op != 0xfd_0054 { // a store, or the load of a lane: below a value
		at--
	}
	if at >= 0 {
		if local := w.stack[at] - 1; local >= 0 && int(local) < len(w.known) {
			if w.known[local] == w.epoch {
				return
			}
			w.known[local] = w.epoch
		}
	}
	w.counts.instructions += weightCheck
	w.now.bounds++
	w.read++
}

func (w *walk) define(local uint32) {
	w.live.define(local)
	if int(local) < len(w.known) {
		w.known[local] = 0
	}
	if top := len(w.stack) - 1; top >= 0 {
		w.stack[top] = 0
	}
}

func (w *walk) call(in wasmfile.Instruction) {
	var t wasmfile.FuncType
	switch {
	case in.Op == wasmfile.OpCallIndirect:
		w.push(-1)
		if int(in.Index) < len(w.file.Types) {
			t = w.file.Types[in.Index]
		}
	case int(in.Index) < w.file.Funcs():
		t = w.file.FuncType(in.Index)
		if int(in.Index) < w.file.ImportedFuncs {
			w.counts.searches += float64(in.Index) // the compiler counts imports
		}
	}
	w.counts.instructions += weightPassed*float64(len(t.Params)+len(t.Results)) + weightReload*w.module.global
	w.push(-len(t.Params))
	w.push(len(t.Results))
}

// push changes the height of the stack.
func (w *walk) push(n int) {
	if n < 0 {
		w.stack = w.stack[:max(0, len(w.stack)+n)]
		return
	}
	for range n {
		w.stack = append(w.stack, 0)
	}
}

// cut sets the height of the stack.
func (w *walk) cut(height int) {
	w.stack = w.stack[:min(height, len(w.stack))]
	w.push(height - len(w.stack))
}

// accesses reports whether an instruction reads or writes memory at an address.
func accesses(op wasmfile.Opcode) bool {
	return op >= 0x28 && op <= 0x3e || op >= 0xfd_0000 && op <= 0xfd_000b || op >= 0xfd_0054 && op <= 0xfd_005d
}

// How many simple instructions of the compiler's own the others count for.
const (
	weightCheck  = 19 // of an address
	weightPassed = 2  // a parameter or result
	weightReload = 0.8
)

func weight(op wasmfile.Opcode) float64 {
	switch {
	case op == wasmfile.OpNop, op == wasmfile.OpBlock, op == wasmfile.OpEnd, op == 0x1a:
		return 0.1
	case op == wasmfile.OpLocalSet, op == wasmfile.OpLocalTee, op == wasmfile.OpLocalGet:
		return 0.25
	case accesses(op):
		return 3
	case op == wasmfile.OpCall, op == wasmfile.OpMemoryGrow, op == wasmfile.OpRefFunc:
		return 10
	case op == wasmfile.OpCallIndirect:
		return 55
	case op == 0x25, op == wasmfile.OpTableSet, op >= 0x6d && op <= 0x70, op >= 0x7f && op <= 0x82: // table.get, divisions
		return 22
	case op >= 0xa8 && op <= 0xab, op >= 0xae && op <= 0xb1, op >= 0xfc_0000 && op <= 0xfc_0007: // floating point to integer
		return 30
	case op >= 0xb2 && op <= 0xba: // integer to floating point
		return 14
	case op>>16 == 0xfc:
		return 100
	case op.IsVector():
		return 16
	case op == 0x96, op == 0x97, op == 0xa4, op == 0xa5: // min, max
		return 13
	}
	return 1
}
