package instrument

import (
	"encoding/binary"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// One memory.copy may move 32 MiB, which takes several milliseconds in which
// the guest does not come to the host. So what is longer than a piece is moved
// by a function that is added to the module, piece by piece, with a yield after
// each. It is paid for before, like any other, and a move that is out of bounds
// traps before anything is written, as it did.
const pieceBytes = 256 << 10

// moved reports whether functions for moves are added.
func (w *writer) moved() bool {
	return w.options.Fuel && w.hasMemory && len(w.file.Bodies) > 0
}

// The types that are added, and the indices of the functions.
func (w *writer) yieldType() uint64  { return uint64(len(w.file.Types)) }
func (w *writer) placeType() uint64  { return w.yieldType() + 1 } // (i32, i32) -> ()
func (w *writer) moverType() uint64  { return w.yieldType() + 2 } // (i32, i32, i32) -> ()
func (w *writer) copyMover() uint64  { return uint64(w.file.ImportedFuncs+len(w.file.Bodies)) + 1 }
func (w *writer) fillMover() uint64  { return w.copyMover() + 1 }
func (w *writer) yieldIndex() uint64 { return uint64(w.file.ImportedFuncs) }

// functions adds the types of the functions for moves.
func (w *writer) functions(s wasmfile.Section) {
	c, _, count := w.list(s)
	c.upTo(s.End)
	var added []byte
	if w.moved() {
		for range 2 + len(w.long) {
			added = binary.AppendUvarint(added, w.moverType())
			count++
		}
	}
	w.write(wasmfile.SectionFunction, count, c.out, added)
}

// inPieces replaces an instruction whose length is on top of the stack, behind
// two other operands, by one that has the functions move what is long.
func (m *meter) inPieces(in wasmfile.Instruction) {
	mover, ok := m.mover(in)
	if !ok {
		return
	}
	c := code{m.out}
	c.piece().op(opI32GtU, byte(wasmfile.OpIf)).signed(m.placeType())
	c.index(wasmfile.OpLocalGet, m.local).index(wasmfile.OpGlobalSet, m.fuel())
	c.index(wasmfile.OpGlobalGet, m.operand()).index(wasmfile.OpCall, mover)
	c.index(wasmfile.OpGlobalGet, m.fuel()).index(wasmfile.OpLocalSet, m.local)
	c.op(byte(wasmfile.OpElse)).index(wasmfile.OpGlobalGet, m.operand())
	c.bytes = append(c.bytes, m.file.Bytes(in.Start, in.End)...)
	m.out = c.op(byte(wasmfile.OpEnd)).bytes
	m.from = in.End
}

// mover is the function for an instruction. What takes its bytes from a segment
// has one only if that is long.
func (w *writer) mover(in wasmfile.Instruction) (index uint64, ok bool) {
	switch in.Op {
	case wasmfile.OpMemoryCopy:
		return w.copyMover(), w.moved()
	case wasmfile.OpMemoryFill:
		return w.fillMover(), w.moved()
	}
	for i, s := range w.long {
		if s.index == in.Index {
			return w.fillMover() + 1 + uint64(i), w.moved()
		}
	}
	return 0, false
}

// longSegment is a passive data segment of more than a piece.
type longSegment struct {
	index uint32
	bytes int
}

// The parameters of the functions.
const (
	to   = iota
	what // the source, the place in the segment, or the value
	length
)

// movers are the bodies of the functions that are added, and how many.
func (w *writer) movers() ([]byte, int) {
	if !w.moved() {
		return nil, 0
	}
	copying, filling := []byte{0xfc, 10, 0, 0}, []byte{0xfc, 11, 0}
	var c code
	c.op(0) // no locals
	c.beyond(to).beyond(what).op(opI32Or, byte(wasmfile.OpIf), blockVoid).all(copying...).op(byte(wasmfile.OpEnd))
	c.local(to).local(what).op(opI32LeU, byte(wasmfile.OpIf), blockVoid)
	c.forward(w.yieldIndex(), copying, to, what)
	c.op(byte(wasmfile.OpElse))
	c.backward(w.yieldIndex(), copying)
	c.op(byte(wasmfile.OpEnd)).all(copying...).op(byte(wasmfile.OpEnd))

	var f code
	f.op(0)
	f.beyond(to).op(byte(wasmfile.OpIf), blockVoid).all(filling...).op(byte(wasmfile.OpEnd))
	f.forward(w.yieldIndex(), filling, to)
	f.all(filling...).op(byte(wasmfile.OpEnd))

	bodies := [][]byte{c.bytes, f.bytes}
	for _, s := range w.long {
		bodies = append(bodies, w.initMover(s))
	}
	var added []byte
	for _, body := range bodies {
		added = append(binary.AppendUvarint(added, uint64(len(body))), body...)
	}
	return added, len(bodies)
}

// initMover is the body of the function for a segment. After data.drop the
// segment is empty, and the first piece traps.
func (w *writer) initMover(s longSegment) []byte {
	move := append(binary.AppendUvarint([]byte{0xfc, 8}, uint64(s.index)), 0)
	var c code
	c.op(0)
	c.beyond(to)
	c.local(what).op(opI64ExtendI32U).local(length).op(opI64ExtendI32U, opI64Add)
	c.bytes = appendSigned(append(c.bytes, byte(wasmfile.OpI64Const)), int64(s.bytes))
	c.op(opI64GtU, opI32Or, byte(wasmfile.OpIf), blockVoid).all(move...).op(byte(wasmfile.OpEnd))
	c.forward(w.yieldIndex(), move, to, what)
	return c.all(move...).op(byte(wasmfile.OpEnd)).bytes
}

// code appends instructions.
type code struct{ bytes []byte }

func (c *code) op(ops ...byte) *code {
	c.bytes = append(c.bytes, ops...)
	return c
}

func (c *code) index(op wasmfile.Opcode, index uint64) *code {
	c.bytes = variable(c.bytes, op, index)
	return c
}

// signed appends an index where a negative number would mean something else.
func (c *code) signed(index uint64) *code {
	c.bytes = appendSigned(c.bytes, int64(index))
	return c
}

func (c *code) piece() *code {
	c.bytes = appendSigned(append(c.bytes, byte(wasmfile.OpI32Const)), pieceBytes)
	return c
}

func (c *code) local(index uint64) *code { return c.index(wasmfile.OpLocalGet, index) }

// all moves everything that is left.
func (c *code) all(move ...byte) *code {
	return c.local(to).local(what).local(length).op(move...)
}

// beyond asks whether what begins at an operand is not in the memory.
func (c *code) beyond(from uint64) *code {
	c.local(from).op(opI64ExtendI32U).local(length).op(opI64ExtendI32U, opI64Add)
	return c.op(opMemorySize, 0, opI64ExtendI32U, byte(wasmfile.OpI64Const), 16, opI64Shl, opI64GtU)
}

// forward moves pieces from the beginning until no more than one is left, and
// advances operands.
func (c *code) forward(yield uint64, move []byte, advance ...uint64) {
	c.op(byte(wasmfile.OpLoop), blockVoid)
	c.local(to).local(what).piece().op(move...).index(wasmfile.OpCall, yield)
	for _, operand := range advance {
		c.local(operand).piece().op(opI32Add).index(wasmfile.OpLocalSet, operand)
	}
	c.shorten().again()
}

// backward moves pieces from the end, where the source lies before the
// destination.
func (c *code) backward(yield uint64, move []byte) {
	c.op(byte(wasmfile.OpLoop), blockVoid).shorten()
	c.local(to).local(length).op(opI32Add).local(what).local(length).op(opI32Add)
	c.piece().op(move...).index(wasmfile.OpCall, yield).again()
}

func (c *code) shorten() *code {
	return c.local(length).piece().op(opI32Sub).index(wasmfile.OpLocalSet, length)
}

// again ends a loop that goes on while more than a piece is left.
func (c *code) again() {
	c.local(length).piece().op(opI32GtU).index(wasmfile.OpBrIf, 0).op(byte(wasmfile.OpEnd))
}
