package instrument

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"

// The price list. One unit is about one simple machine instruction. What is
// not in the list costs 1.
//
//	block, loop, else, end, nop                     0   no machine code
//	call                                            4
//	call_indirect                                   8
//	i32, i64: div, rem                             16
//	f32, f64: div, sqrt                             8
//	vector instructions                             2
//	memory.init, copy, fill    32 and 1 for each 8 bytes
//	table.init, copy, fill     32 and 1 for each entry
//	memory.grow               256 and 8192 for each page that was added
//	table.grow                256 and 1 for each entry that was added
//
// A change of this list changes Version.
const (
	costCall         = 4
	costCallIndirect = 8
	costDivide       = 16
	costFloatDivide  = 8
	costVector       = 2
	costMove         = 32
	costGrow         = 256

	moveShift = 3              // bytes to units
	pageShift = 16 - moveShift // pages to units
)

func cost(op wasmfile.Opcode) int64 {
	switch op {
	case wasmfile.OpBlock, wasmfile.OpLoop, wasmfile.OpElse, wasmfile.OpEnd, wasmfile.OpNop:
		return 0
	case wasmfile.OpCall:
		return costCall
	case wasmfile.OpCallIndirect:
		return costCallIndirect
	case 0x6d, 0x6e, 0x6f, 0x70, 0x7f, 0x80, 0x81, 0x82: // i32, i64: div_s, div_u, rem_s, rem_u
		return costDivide
	case 0x91, 0x95, 0x9f, 0xa3: // f32, f64: sqrt, div
		return costFloatDivide
	case wasmfile.OpMemoryInit, wasmfile.OpMemoryCopy, wasmfile.OpMemoryFill,
		wasmfile.OpTableInit, wasmfile.OpTableCopy, wasmfile.OpTableFill:
		return costMove
	case wasmfile.OpMemoryGrow, wasmfile.OpTableGrow:
		return costGrow
	}
	if op.IsVector() {
		return costVector
	}
	return 1
}
