package wasmfile

// Instructions are told apart as far as it takes to pass over them, and to find what they name. The set is version 2 of WebAssembly;
// whatever is newer is rejected by its number.

// Opcode is the first byte of an instruction, or a prefix and the number after it.
type Opcode uint32

// The opcodes that somebody asks for by name.
const (
	OpUnreachable  Opcode = 0x00
	OpNop          Opcode = 0x01
	OpBlock        Opcode = 0x02
	OpLoop         Opcode = 0x03
	OpIf           Opcode = 0x04
	OpElse         Opcode = 0x05
	OpEnd          Opcode = 0x0b
	OpBr           Opcode = 0x0c
	OpBrIf         Opcode = 0x0d
	OpBrTable      Opcode = 0x0e
	OpReturn       Opcode = 0x0f
	OpCall         Opcode = 0x10
	OpCallIndirect Opcode = 0x11
	OpLocalGet     Opcode = 0x20
	OpLocalSet     Opcode = 0x21
	OpLocalTee     Opcode = 0x22
	OpGlobalGet    Opcode = 0x23
	OpGlobalSet    Opcode = 0x24
	OpTableSet     Opcode = 0x26
	OpMemoryGrow   Opcode = 0x40
	OpI32Const     Opcode = 0x41
	OpI64Const     Opcode = 0x42
	OpRefFunc      Opcode = 0xd2

	OpMemoryInit Opcode = prefixBulk<<16 | 8
	OpDataDrop   Opcode = prefixBulk<<16 | 9
	OpMemoryCopy Opcode = prefixBulk<<16 | 10
	OpMemoryFill Opcode = prefixBulk<<16 | 11
	OpTableInit  Opcode = prefixBulk<<16 | 12
	OpElemDrop   Opcode = prefixBulk<<16 | 13
	OpTableCopy  Opcode = prefixBulk<<16 | 14
	OpTableGrow  Opcode = prefixBulk<<16 | 15
	OpTableFill  Opcode = prefixBulk<<16 | 17

	prefixBulk   = 0xfc
	prefixVector = 0xfd
)

// Instruction is one instruction in the file: its bytes from Start to End, its operands from Operand.
type Instruction struct {
	Op                  Opcode
	Start, Operand, End int
	// Index is the first operand, where that is a number: what is called, read, written, or branched to. For a block it is the type index,
	// with HasType.
	Index   uint32
	HasType bool
	// Empty says that a block has no parameters and no results.
	Empty bool
}

// Instruction passes over one instruction.
func (r *Reader) Instruction() Instruction {
	in := Instruction{Start: r.off}
	first := r.Byte("instruction")
	in.Op, in.Operand = Opcode(first), r.off
	switch {
	case first == prefixBulk:
		r.bulkInstruction(&in)
	case first == prefixVector:
		r.vectorInstruction(&in)
	case first <= 0x01, first == 0x05, first == 0x0b, first == 0x0f, first == 0x1a, first == 0x1b, // unreachable, nop, else, end, return, drop, select
		first >= 0x45 && first <= 0xc4, first == 0xd1: // numeric instructions, ref.is_null
	case first >= 0x02 && first <= 0x04: // block, loop, if
		r.blockType(&in)
	case first == 0x0e: // br_table
		r.numbers(r.Count("branch targets", 1, maxBranchTargets) + 1)
	case first == 0x1c: // select with types
		r.Skip(r.Count("types of select", 1, maxParams), "types of select")
	case first == 0x0c, first == 0x0d, first == 0x10, // br, br_if, call
		first >= 0x20 && first <= 0x26, first == 0xd2: // variables, tables, ref.func
		in.Index = r.U32("operand")
	case first == 0x11, first >= 0x28 && first <= 0x3e: // call_indirect, loads and stores
		in.Index = r.U32("operand")
		r.U32("operand")
	case first == 0x3f, first == 0x40, first == 0xd0: // memory.size, memory.grow, ref.null
		r.Skip(1, "operand")
	case first == 0x41:
		r.skipLEB(5, "i32 constant")
	case first == 0x42:
		r.skipLEB(10, "i64 constant")
	case first == 0x43:
		r.Skip(4, "f32 constant")
	case first == 0x44:
		r.Skip(8, "f64 constant")
	default:
		r.Fail(in.Start, "instruction 0x%02x is not supported", first)
	}
	in.End = r.off
	return in
}

// blockType is a value type, nothing, or a type index, told apart by the sign of one LEB128 number.
func (r *Reader) blockType(in *Instruction) {
	start := r.off
	r.skipLEB(5, "block type")
	if r.err != nil {
		return
	}
	var v int64
	shift := 0
	for _, c := range r.b[start:r.off] {
		v |= int64(c&0x7f) << shift
		shift += 7
	}
	if r.b[r.off-1]&0x40 != 0 { // negative
		in.Empty = v == 0x40
		return
	}
	if v > 1<<32-1 {
		r.Fail(start, "block type %d is out of range", v)
		return
	}
	in.Index, in.HasType = uint32(v), true
}

func (r *Reader) numbers(n int) {
	for i := 0; i < n && r.err == nil; i++ {
		r.U32("operand")
	}
}

func (r *Reader) bulkInstruction(in *Instruction) {
	number := r.U32("instruction")
	in.Op, in.Operand = prefixBulk<<16|Opcode(number), r.off
	switch {
	case number <= 7: // saturating conversions
	case number == 8, number == 10, number == 12, number == 14: // memory.init, memory.copy, table.init, table.copy
		in.Index = r.U32("operand")
		r.U32("operand")
	case number == 9, number == 11, number == 13, number >= 15 && number <= 17: // data.drop, memory.fill, elem.drop, table.grow, size, fill
		in.Index = r.U32("operand")
	default:
		r.Fail(in.Start, "instruction 0xfc %d is not supported", number)
	}
}

// vectorInstruction takes the number in its shortest form alone. The runtime takes the first byte for the whole number and the second, 1,
// for a nop: of a longer form it would run other instructions than are metered here.
func (r *Reader) vectorInstruction(in *Instruction) {
	before := r.off
	number := r.U32("instruction")
	in.Op, in.Operand = prefixVector<<16|Opcode(number&0xffff), r.off
	if r.err == nil && r.off-before != 1+int(min(number>>7, 1)) {
		r.Fail(in.Start, "instruction 0xfd %d is not written in the shortest form", number)
		return
	}
	switch {
	case number <= 11, number == 92, number == 93: // loads and stores
		r.numbers(2)
	case number == 12, number == 13: // v128.const, i8x16.shuffle
		r.Skip(16, "vector constant")
	case number >= 21 && number <= 34: // lanes
		r.Skip(1, "lane")
	case number >= 84 && number <= 91: // loads and stores of a lane
		r.numbers(2)
		r.Skip(1, "lane")
	case number <= 255:
	default:
		r.Fail(in.Start, "instruction 0xfd %d is not supported", number)
	}
}
