package complexity

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"

// effects are the instructions that change the height of the operand stack, by
// opcode. What depends on a type is in walk.instruction. Of an instruction that
// is not here, the height stays as it is.
var effects = [...]struct {
	first, last wasmfile.Opcode
	by          int
}{
	{0x1a, 0x1a, -1},
	{0x1b, 0x1c, -2}, // drop, select
	{0x20, 0x20, 1},
	{0x21, 0x21, -1},
	{0x23, 0x23, 1},
	{0x24, 0x24, -1},
	{0x26, 0x26, -2}, // variables, table.set
	{0x36, 0x3e, -2},
	{0x3f, 0x3f, 1},
	{0x41, 0x44, 1}, // stores, memory.size, constants
	{0x46, 0x4f, -1},
	{0x51, 0x66, -1}, // comparisons
	{0x6a, 0x78, -1},
	{0x7c, 0x8a, -1},
	{0x92, 0x98, -1},
	{0xa0, 0xa6, -1}, // arithmetic
	{0xd0, 0xd0, 1},
	{0xd2, 0xd2, 1}, // ref.null, ref.func

	{0xfc_0008, 0xfc_0008, -3},
	{0xfc_000a, 0xfc_000c, -3},
	{0xfc_000e, 0xfc_000e, -3}, // init, copy, fill
	{0xfc_000f, 0xfc_000f, -1},
	{0xfc_0010, 0xfc_0010, 1},
	{0xfc_0011, 0xfc_0011, -3}, // table.grow, size, fill

	{0xfd_000b, 0xfd_000b, -2},
	{0xfd_000c, 0xfd_000c, 1},
	{0xfd_000d, 0xfd_000e, -1}, // store, constant, shuffle, swizzle
	{0xfd_0017, 0xfd_0017, -1},
	{0xfd_001a, 0xfd_001a, -1},
	{0xfd_001c, 0xfd_001c, -1}, // replace_lane
	{0xfd_001e, 0xfd_001e, -1},
	{0xfd_0020, 0xfd_0020, -1},
	{0xfd_0022, 0xfd_0022, -1},
	{0xfd_0023, 0xfd_004c, -1},
	{0xfd_004e, 0xfd_0051, -1},
	{0xfd_0052, 0xfd_0052, -2}, // comparisons, bits
	{0xfd_0054, 0xfd_0057, -1},
	{0xfd_0058, 0xfd_005b, -2}, // loads and stores of lanes
	{0xfd_0065, 0xfd_0066, -1},
	{0xfd_006b, 0xfd_0073, -1},
	{0xfd_0076, 0xfd_0079, -1},
	{0xfd_007b, 0xfd_007b, -1}, // 8 bits
	{0xfd_0082, 0xfd_0082, -1},
	{0xfd_0085, 0xfd_0086, -1},
	{0xfd_008b, 0xfd_0093, -1},
	{0xfd_0095, 0xfd_009f, -1}, // 16 bits
	{0xfd_00ab, 0xfd_00bf, -1}, // 32 bits
	{0xfd_00cb, 0xfd_00df, -1}, // 64 bits
	{0xfd_00e4, 0xfd_00eb, -1},
	{0xfd_00f0, 0xfd_00f7, -1}, // floating point
}

// effectTables index the effects by prefix and number.
var effectTables = func() (tables [3][256]int8) {
	for _, e := range effects {
		for op := e.first; op <= e.last; op++ {
			tables[table(op)][op&0xff] = int8(e.by)
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
