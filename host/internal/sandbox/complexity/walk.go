package complexity

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// walk follows the code of one function as the compiler does: it cuts it into basic blocks, and counts.
type walk struct {
	file   *wasmfile.File
	module *module
	used   []bool  // by local: whether it is read
	live   float64 // how many are read, which bounds what is live in any block

	frames  []frame
	blocks  []block
	now     place
	dead    int // open frames in code that is never reached, the reached one included; 0: reached
	nesting int

	counts counts
	height int     // of the operand stack
	most   float64 // instructions, beyond which there is no need to go on
	read   float64 // accesses of memory, up to now
}

// place is where the code is in the compiler's graph of blocks.
type place struct {
	chain  float64 // blocks since the last join
	depth  float64 // in the dominator tree, at most
	bounds float64 // addresses known to be in memory, at most
}

// target is a block that branches lead to.
type target struct {
	edges, searches, bounds float64 // bounds of all its sources
	nearest                 place   // the least of each of its sources
}

// frame is a structured instruction that has not ended.
type frame struct {
	op              wasmfile.Opcode
	base            int // height of the stack below its parameters
	params, results int
	end             target
	start           place // of an if: where its else begins
	header          int   // of a loop: its block
}

// block is one block, or several that are alike.
type block struct {
	count, edges, searches float64
	extra                  float64 // values that live across its beginning and are no locals
	params                 float64
	join                   bool
}

// function counts one function.
func (w *walk) function(body wasmfile.Body, signature wasmfile.FuncType) error {
	locals := len(signature.Params) + body.Locals
	w.counts = counts{locals: float64(locals)}
	w.frames, w.blocks, w.now = w.frames[:0], w.blocks[:0], place{}
	w.dead, w.nesting, w.height, w.read = 0, 0, 0, 0
	w.used, w.live = append(w.used[:0], make([]bool, locals)...), 0
	w.add(block{count: 1})
	w.frames = append(w.frames, frame{op: wasmfile.OpBlock, results: len(signature.Results)})
	r := w.file.Reader(body.Code, body.End)
	for r.Left() > 0 && len(w.frames) > 0 {
		in := r.Instruction()
		if err := r.Err(); err != nil {
			return err
		}
		w.instruction(in)
		if w.counts.instructions > w.most || w.counts.blocks*(bytesBlock/bytesInstruction) > w.most {
			break // too much already
		}
	}
	w.finish()
	return nil
}

func (w *walk) blockType(in wasmfile.Instruction) (params, results int) {
	switch {
	case in.Empty:
		return 0, 0
	case !in.HasType:
		return 0, 1
	case int(in.Index) < len(w.file.Types):
		t := w.file.Types[in.Index]
		return len(t.Params), len(t.Results)
	}
	return 0, 0 // invalid
}

func (w *walk) open(in wasmfile.Instruction) {
	params, results := w.blockType(in)
	w.counts.instructions += float64(params + results)
	if in.Op == wasmfile.OpIf {
		w.push(-1)
	}
	f := frame{op: in.Op, base: max(w.height-params, 0), params: params, results: results}
	switch in.Op {
	case wasmfile.OpLoop:
		w.counts.bounds += w.now.bounds
		w.counts.depths += w.now.depth + 1
		f.header = len(w.blocks)
		w.add(block{count: 1, edges: 1, searches: w.now.chain + 1, params: float64(params), join: true})
		w.now.chain = 0
		w.now.depth++
		w.nesting++
		w.counts.nesting = max(w.counts.nesting, float64(w.nesting))
	case wasmfile.OpIf:
		w.fork()
		f.start = w.now
		w.add(block{count: 2, edges: 2}) // then and else
	}
	w.frames = append(w.frames, f)
}

// otherwise ends the first part of an if.
func (w *walk) otherwise() {
	f := &w.frames[len(w.frames)-1]
	if f.op != wasmfile.OpIf {
		return // invalid
	}
	w.counts.bounds += w.now.bounds
	if w.dead == 0 {
		w.edge(&f.end, w.now)
	}
	w.dead, f.op = 0, wasmfile.OpElse
	w.now = f.start
	w.height = f.base + f.params
	w.add(block{})
}

// end ends the innermost frame.
func (w *walk) end() {
	last := len(w.frames) - 1
	f := w.frames[last]
	w.counts.bounds += w.now.bounds
	if w.dead == 0 {
		w.edge(&f.end, w.now)
	}
	if f.op == wasmfile.OpIf {
		from := f.start
		from.bounds = 0
		w.edge(&f.end, from)
	}
	w.frames = w.frames[:last]
	w.counts.squares += f.end.edges * f.end.edges
	if last == 0 {
		return
	}
	if f.op == wasmfile.OpLoop {
		w.nesting--
		edges := w.blocks[f.header].edges
		w.counts.squares += edges * edges
	}
	w.after(&f)
}

// after begins the block behind a frame.
func (w *walk) after(f *frame) {
	w.dead = 0
	if f.end.edges == 0 {
		w.dead = 1
	}
	w.now = f.end.nearest
	w.now.depth++
	w.now.chain++
	if f.end.edges > 1 {
		w.counts.compared += f.end.edges * min(f.end.bounds, w.read)
		w.now.chain = 0
	}
	w.height = f.base + f.results
	w.add(block{count: 1, edges: f.end.edges, searches: f.end.searches, params: float64(f.results), join: f.end.edges > 1})
}

// fork ends a block that branches, and begins one that only it leads to.
func (w *walk) fork() {
	w.counts.bounds += w.now.bounds
	w.counts.depths += w.now.depth + 1
	w.now.chain++
	w.now.depth++
}

// branch counts a branch to a frame, from a place.
func (w *walk) branch(depth uint32, from place) {
	i := len(w.frames) - 1 - int(depth)
	if i < 0 {
		return // invalid
	}
	f := &w.frames[i]
	if f.op != wasmfile.OpLoop {
		w.counts.instructions += float64(f.results)
		w.edge(&f.end, from)
		return
	}
	w.counts.instructions += float64(f.params)
	header := &w.blocks[f.header]
	header.edges++
	header.searches += from.chain + 1
	w.counts.depths += from.depth + 1
}

// edge counts an edge to a block that begins later.
func (w *walk) edge(t *target, from place) {
	if t.edges == 0 {
		t.nearest = from
	}
	t.nearest.depth = min(t.nearest.depth, from.depth)
	t.nearest.bounds = min(t.nearest.bounds, from.bounds)
	t.edges++
	t.bounds += from.bounds
	t.searches += from.chain + 1
	w.counts.depths += from.depth + 1
}

// table counts a br_table. There is a block on each edge.
func (w *walk) table(in wasmfile.Instruction) {
	w.push(-1)
	r := w.file.Reader(in.Operand, in.End)
	n := int(r.U32("branch targets")) + 1
	from := w.now
	w.fork()
	w.add(block{count: float64(n), edges: float64(n)})
	from.chain, from.depth, from.bounds = from.chain+1, from.depth+1, 0
	w.counts.depths += float64(n) * from.depth
	for range n {
		w.branch(r.U32("branch target"), from)
	}
}

// add begins a block, or several.
func (w *walk) add(b block) {
	b.extra = float64(w.height) + w.now.bounds + min(w.module.global, w.read+w.counts.instructions) + 4
	w.counts.widest = max(w.counts.widest, w.now.bounds)
	w.counts.blocks += b.count
	w.counts.edges += b.edges
	w.blocks = append(w.blocks, b)
}

// finish adds up what depends on the locals that are live in each block.
func (w *walk) finish() {
	c := &w.counts
	live := w.live
	for _, b := range w.blocks {
		c.live += (b.count + b.edges) * (live + b.extra)
		if b.count > 0 {
			c.widestLive = max(c.widestLive, live+b.extra)
		}
		if b.join {
			passed := live + b.params
			c.searches += 2 * b.searches * live
			c.joined += b.edges * passed
			c.redundant += b.edges * passed * passed
			c.widestJoin = max(c.widestJoin, passed)
		}
	}
}

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
		w.use(in.Index)
		w.push(1)
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
		w.counts.searches += 2 * w.now.chain
		w.counts.instructions += weightCheck // as if no address were known to be in memory
		w.now.bounds++
		w.read++
	case in.Op == wasmfile.OpMemoryFill, in.Op == wasmfile.OpTableFill: // loops
		w.fork()
		w.counts.depths += 3 * (w.now.depth + 1)
		w.add(block{count: 3, edges: 4, searches: 4 * (w.now.chain + 1), params: 1, join: true})
		w.now.depth++
		w.now.bounds, w.now.chain = 0, 0
	}
	w.push(effect(in.Op))
}

func (w *walk) use(local uint32) {
	if int(local) < len(w.used) && !w.used[local] {
		w.used[local] = true
		w.live++
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
func (w *walk) push(n int) { w.height = max(0, w.height+n) }

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

// effects are the instructions that change the height of the operand stack: by how much, and the first and last opcode of each range. What
// depends on a type is in walk.instruction. Of an instruction that is not here, the height stays as it is.
var effects = []struct {
	by     int8
	ranges []wasmfile.Opcode
}{
	{-3, []wasmfile.Opcode{
		0xfc_0008, 0xfc_0008, 0xfc_000a, 0xfc_000c, 0xfc_000e, 0xfc_000e, 0xfc_0011, 0xfc_0011,
	}},
	{-2, []wasmfile.Opcode{
		0x1b, 0x1c, 0x26, 0x26, 0x36, 0x3e, 0xfd_000b, 0xfd_000b, 0xfd_0052, 0xfd_0052, 0xfd_0058, 0xfd_005b,
	}},
	{-1, []wasmfile.Opcode{
		0x1a, 0x1a, 0x21, 0x21, 0x24, 0x24, 0x46, 0x4f, 0x51, 0x66, 0x6a, 0x78, 0x7c, 0x8a, 0x92, 0x98, 0xa0, 0xa6, 0xfc_000f, 0xfc_000f,
		0xfd_000d, 0xfd_000e, 0xfd_0017, 0xfd_0017, 0xfd_001a, 0xfd_001a, 0xfd_001c, 0xfd_001c, 0xfd_001e, 0xfd_001e, 0xfd_0020, 0xfd_0020,
		0xfd_0022, 0xfd_0022, 0xfd_0023, 0xfd_004c, 0xfd_004e, 0xfd_0051, 0xfd_0054, 0xfd_0057, 0xfd_0065, 0xfd_0066, 0xfd_006b, 0xfd_0073,
		0xfd_0076, 0xfd_0079, 0xfd_007b, 0xfd_007b, 0xfd_0082, 0xfd_0082, 0xfd_0085, 0xfd_0086, 0xfd_008b, 0xfd_0093, 0xfd_0095, 0xfd_009f,
		0xfd_00ab, 0xfd_00bf, 0xfd_00cb, 0xfd_00df, 0xfd_00e4, 0xfd_00eb, 0xfd_00f0, 0xfd_00f7,
	}},
	{1, []wasmfile.Opcode{
		0x20, 0x20, 0x23, 0x23, 0x3f, 0x3f, 0x41, 0x44, 0xd0, 0xd0, 0xd2, 0xd2, 0xfc_0010, 0xfc_0010, 0xfd_000c, 0xfd_000c,
	}},
}

// effectTables index the effects by prefix and number.
var effectTables = func() (tables [3][256]int8) {
	for _, e := range effects {
		for r := range slices.Chunk(e.ranges, 2) {
			for op := r[0]; op <= r[1]; op++ {
				tables[table(op)][op&0xff] = e.by
			}
		}
	}
	return tables
}()

func table(op wasmfile.Opcode) int {
	switch op >> 16 {
	case 0xfc:
		return 1
	case 0xfd:
		return 2
	}
	return 0
}

// effect is by how much an instruction changes the height of the stack.
func effect(op wasmfile.Opcode) int { return int(effectTables[table(op)][op&0xff]) }
