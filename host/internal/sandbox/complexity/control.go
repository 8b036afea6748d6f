package complexity

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"

// function counts one function.
func (w *walk) function(body wasmfile.Body, signature wasmfile.FuncType) error {
	locals := len(signature.Params) + body.Locals
	w.counts = counts{locals: float64(locals)}
	w.frames, w.blocks, w.stack, w.now = w.frames[:0], w.blocks[:0], w.stack[:0], place{}
	w.dead, w.loops, w.nesting, w.epoch, w.read = 0, 0, 0, 1, 0
	w.known = append(w.known[:0], make([]int32, locals)...)
	w.live.begin(locals)
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
	f := frame{op: in.Op, base: max(len(w.stack)-params, 0), params: params, results: results}
	number := int32(-1)
	switch in.Op {
	case wasmfile.OpLoop:
		w.counts.bounds += w.now.bounds
		w.counts.depths += w.now.depth + 1
		f.header = len(w.blocks)
		w.add(block{count: 1, edges: 1, searches: w.now.chain + 1, params: float64(params), join: true})
		w.now.chain = 0
		w.now.depth++
		w.epoch++
		w.nesting++
		w.counts.nesting = max(w.counts.nesting, float64(w.nesting))
		number = w.loops
		w.loops++
	case wasmfile.OpIf:
		w.fork()
		f.start = w.now
		w.add(block{count: 2, edges: 2}) // then and else
	}
	w.live.open(number)
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
	w.live.close(false)
	w.live.open(-1)
	w.dead, f.op = 0, wasmfile.OpElse
	w.now = f.start
	w.epoch++
	w.cut(f.base + f.params)
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
	w.live.close(f.op == wasmfile.OpLoop)
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
	w.epoch++
	if f.end.edges > 1 {
		w.counts.compared += f.end.edges * min(f.end.bounds, w.read)
		w.now.chain = 0
	}
	w.cut(f.base + f.results)
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
	b.extra = float64(len(w.stack)) + w.now.bounds + min(w.module.global, w.read+w.counts.instructions) + 4
	w.counts.widest = max(w.counts.widest, w.now.bounds)
	w.counts.blocks += b.count
	w.counts.edges += b.edges
	if len(w.blocks) > 0 {
		w.live.block()
	}
	w.blocks = append(w.blocks, b)
}

// finish adds up what depends on the locals that are live in each block.
func (w *walk) finish() {
	c := &w.counts
	for i, locals := range w.live.end() {
		b, live := w.blocks[i], float64(locals)
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
