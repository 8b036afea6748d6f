package wasmfile

// Instructions are told apart only as far as it takes to pass over them and
// to find the ones that move memory in bulk. The set is version 2 of
// WebAssembly; whatever is newer is refused by its number.

// opcode is the first byte, or the prefix and the number after it.
type opcode uint32

const (
	prefixBulk   = 0xfc
	prefixVector = 0xfd
)

func bulk(number uint32) opcode { return prefixBulk<<16 | opcode(number) }

// movesInBulk reports whether an instruction takes time for a length, which
// is then on top of the stack.
func (op opcode) movesInBulk() bool {
	switch op {
	case bulk(8), bulk(10), bulk(11), // memory.init, copy, fill
		bulk(12), bulk(14), bulk(17): // table.init, copy, fill
		return true
	}
	return false
}

// instruction passes over one instruction.
func (r *reader) instruction() opcode {
	start := r.off
	op := r.byte("instruction")
	switch {
	case op == prefixBulk:
		return r.bulkInstruction()
	case op == prefixVector:
		r.vectorInstruction()
	case op <= 0x01, op == 0x05, op == 0x0b, op == 0x0f, op == 0x1a, op == 0x1b, // unreachable, nop, else, end, return, drop, select
		op >= 0x45 && op <= 0xc4, op == 0xd1: // numeric instructions, ref.is_null
	case op >= 0x02 && op <= 0x04: // block, loop, if
		r.skipLEB(5, "block type")
	case op == 0x0e: // br_table
		r.numbers(r.count("branch targets", 1, maxFunctionBytes) + 1)
	case op == 0x1c: // select with types
		r.skip(r.count("types of select", 1, maxParams), "types of select")
	case op == 0x0c, op == 0x0d, op == 0x10, // br, br_if, call
		op >= 0x20 && op <= 0x26, op == 0xd2: // variables, tables, ref.func
		r.numbers(1)
	case op == 0x11, op >= 0x28 && op <= 0x3e: // call_indirect, loads and stores
		r.numbers(2)
	case op == 0x3f, op == 0x40, op == 0xd0: // memory.size, memory.grow, ref.null
		r.skip(1, "operand")
	case op == 0x41:
		r.skipLEB(5, "i32 constant")
	case op == 0x42:
		r.skipLEB(10, "i64 constant")
	case op == 0x43:
		r.skip(4, "f32 constant")
	case op == 0x44:
		r.skip(8, "f64 constant")
	default:
		r.fail(start, "instruction 0x%02x is not supported", op)
	}
	return opcode(op)
}

func (r *reader) numbers(n int) {
	for i := 0; i < n && r.err == nil; i++ {
		r.u32("operand")
	}
}

func (r *reader) bulkInstruction() opcode {
	start := r.off
	number := r.u32("instruction")
	switch {
	case number <= 7: // saturating conversions
	case number == 8, number == 10, number == 12, number == 14: // memory.init, memory.copy, table.init, table.copy
		r.numbers(2)
	case number == 9, number == 11, number == 13, number >= 15 && number <= 17: // data.drop, memory.fill, elem.drop, table.grow, size, fill
		r.numbers(1)
	default:
		r.fail(start, "instruction 0xfc %d is not supported", number)
	}
	return bulk(number)
}

func (r *reader) vectorInstruction() {
	start := r.off
	number := r.u32("instruction")
	switch {
	case number <= 11, number == 92, number == 93: // loads and stores
		r.numbers(2)
	case number == 12, number == 13: // v128.const, i8x16.shuffle
		r.skip(16, "vector constant")
	case number >= 21 && number <= 34: // lanes
		r.skip(1, "lane")
	case number >= 84 && number <= 91: // loads and stores of a lane
		r.numbers(2)
		r.skip(1, "lane")
	case number <= 255:
	default:
		r.fail(start, "instruction 0xfd %d is not supported", number)
	}
}
