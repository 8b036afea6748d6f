package fuelzoo

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"

// signature is what a range of opcodes takes and gives. Types are written as i (i32), I (i64), f (f32), F (f64) and v (v128).
type signature struct {
	from, to       wasmfile.Opcode
	params, result string
	immediate      []byte // what follows the opcode
}

func vector(n wasmfile.Opcode) wasmfile.Opcode { return 0xfd<<16 | n }

// lane is the immediate of instructions on one lane; memory that of a load.
var (
	lane   = []byte{0}
	memory = []byte{0, 0}
)

// signatures are the instructions that compute, load or store, in the order of their numbers. What else there is changes the flow of
// control or the instance, and has loops of its own.
var signatures = []signature{
	{0x28, 0x28, "i", "i", memory},
	{0x29, 0x29, "i", "I", memory},
	{0x2a, 0x2a, "i", "f", memory},
	{0x2b, 0x2b, "i", "F", memory},
	{0x2c, 0x2f, "i", "i", memory},
	{0x30, 0x35, "i", "I", memory},
	{0x36, 0x36, "ii", "", memory},
	{0x37, 0x37, "iI", "", memory},
	{0x38, 0x38, "if", "", memory},
	{0x39, 0x39, "iF", "", memory},
	{0x3a, 0x3b, "ii", "", memory},
	{0x3c, 0x3e, "iI", "", memory},
	{0x3f, 0x3f, "", "i", lane},
	{0x45, 0x45, "i", "i", nil},
	{0x46, 0x4f, "ii", "i", nil},
	{0x50, 0x50, "I", "i", nil},
	{0x51, 0x5a, "II", "i", nil},
	{0x5b, 0x60, "ff", "i", nil},
	{0x61, 0x66, "FF", "i", nil},
	{0x67, 0x69, "i", "i", nil},
	{0x6a, 0x78, "ii", "i", nil},
	{0x79, 0x7b, "I", "I", nil},
	{0x7c, 0x8a, "II", "I", nil},
	{0x8b, 0x91, "f", "f", nil},
	{0x92, 0x98, "ff", "f", nil},
	{0x99, 0x9f, "F", "F", nil},
	{0xa0, 0xa6, "FF", "F", nil},
	{0xa7, 0xa7, "I", "i", nil},
	{0xa8, 0xa9, "f", "i", nil},
	{0xaa, 0xab, "F", "i", nil},
	{0xac, 0xad, "i", "I", nil},
	{0xae, 0xaf, "f", "I", nil},
	{0xb0, 0xb1, "F", "I", nil},
	{0xb2, 0xb3, "i", "f", nil},
	{0xb4, 0xb5, "I", "f", nil},
	{0xb6, 0xb6, "F", "f", nil},
	{0xb7, 0xb8, "i", "F", nil},
	{0xb9, 0xba, "I", "F", nil},
	{0xbb, 0xbb, "f", "F", nil},
	{0xbc, 0xbc, "f", "i", nil},
	{0xbd, 0xbd, "F", "I", nil},
	{0xbe, 0xbe, "i", "f", nil},
	{0xbf, 0xbf, "I", "F", nil},
	{0xc0, 0xc1, "i", "i", nil},
	{0xc2, 0xc4, "I", "I", nil},
	{0xfc << 16, 0xfc<<16 | 1, "f", "i", nil},
	{0xfc<<16 | 2, 0xfc<<16 | 3, "F", "i", nil},
	{0xfc<<16 | 4, 0xfc<<16 | 5, "f", "I", nil},
	{0xfc<<16 | 6, 0xfc<<16 | 7, "F", "I", nil},
	{vector(0), vector(10), "i", "v", memory},
	{vector(11), vector(11), "iv", "", memory},
	{vector(12), vector(12), "", "v", make([]byte, 16)},
	{vector(13), vector(13), "vv", "v", make([]byte, 16)},
	{vector(14), vector(14), "vv", "v", nil},
	{vector(15), vector(17), "i", "v", nil},
	{vector(18), vector(18), "I", "v", nil},
	{vector(19), vector(19), "f", "v", nil},
	{vector(20), vector(20), "F", "v", nil},
	{vector(21), vector(22), "v", "i", lane},
	{vector(23), vector(23), "vi", "v", lane},
	{vector(24), vector(25), "v", "i", lane},
	{vector(26), vector(26), "vi", "v", lane},
	{vector(27), vector(27), "v", "i", lane},
	{vector(28), vector(28), "vi", "v", lane},
	{vector(29), vector(29), "v", "I", lane},
	{vector(30), vector(30), "vI", "v", lane},
	{vector(31), vector(31), "v", "f", lane},
	{vector(32), vector(32), "vf", "v", lane},
	{vector(33), vector(33), "v", "F", lane},
	{vector(34), vector(34), "vF", "v", lane},
	{vector(35), vector(76), "vv", "v", nil}, // comparisons
	{vector(77), vector(77), "v", "v", nil},
	{vector(78), vector(81), "vv", "v", nil},
	{vector(82), vector(82), "vvv", "v", nil},
	{vector(83), vector(83), "v", "i", nil},
	{vector(84), vector(87), "iv", "v", []byte{0, 0, 0}},
	{vector(88), vector(91), "iv", "", []byte{0, 0, 0}},
	{vector(92), vector(93), "i", "v", memory},
	{vector(94), vector(98), "v", "v", nil},
	{vector(99), vector(100), "v", "i", nil},
	{vector(101), vector(102), "vv", "v", nil},
	{vector(103), vector(106), "v", "v", nil},
	{vector(107), vector(109), "vi", "v", nil},
	{vector(110), vector(115), "vv", "v", nil},
	{vector(116), vector(117), "v", "v", nil},
	{vector(118), vector(121), "vv", "v", nil},
	{vector(122), vector(122), "v", "v", nil},
	{vector(123), vector(123), "vv", "v", nil},
	{vector(124), vector(129), "v", "v", nil},
	{vector(130), vector(130), "vv", "v", nil},
	{vector(131), vector(132), "v", "i", nil},
	{vector(133), vector(134), "vv", "v", nil},
	{vector(135), vector(138), "v", "v", nil},
	{vector(139), vector(141), "vi", "v", nil},
	{vector(142), vector(147), "vv", "v", nil},
	{vector(148), vector(148), "v", "v", nil},
	{vector(149), vector(153), "vv", "v", nil},
	{vector(155), vector(159), "vv", "v", nil},
	{vector(160), vector(161), "v", "v", nil},
	{vector(163), vector(164), "v", "i", nil},
	{vector(167), vector(170), "v", "v", nil},
	{vector(171), vector(173), "vi", "v", nil},
	{vector(174), vector(174), "vv", "v", nil},
	{vector(177), vector(177), "vv", "v", nil},
	{vector(181), vector(186), "vv", "v", nil},
	{vector(188), vector(191), "vv", "v", nil},
	{vector(192), vector(193), "v", "v", nil},
	{vector(195), vector(196), "v", "i", nil},
	{vector(199), vector(202), "v", "v", nil},
	{vector(203), vector(205), "vi", "v", nil},
	{vector(206), vector(206), "vv", "v", nil},
	{vector(209), vector(209), "vv", "v", nil},
	{vector(213), vector(223), "vv", "v", nil},
	{vector(224), vector(225), "v", "v", nil},
	{vector(227), vector(227), "v", "v", nil},
	{vector(228), vector(235), "vv", "v", nil},
	{vector(236), vector(237), "v", "v", nil},
	{vector(239), vector(239), "v", "v", nil},
	{vector(240), vector(247), "vv", "v", nil},
	{vector(248), vector(255), "v", "v", nil},
}

// Measured are the instructions that have a loop of their own.
func Measured() []wasmfile.Opcode {
	var all []wasmfile.Opcode
	for _, s := range signatures {
		for op := s.from; op <= s.to; op++ {
			all = append(all, op)
		}
	}
	return all
}

// Otherwise reports whether an instruction is in loops that are named for what they do: those that change the flow of control, globals,
// tables, or the memory in bulk.
func Otherwise(op wasmfile.Opcode) bool {
	switch {
	case op == wasmfile.OpUnreachable: // ends the call
	case op >= wasmfile.OpIf && op <= wasmfile.OpCallIndirect: // branches and calls
	case op == 0x1b, op == 0x1c: // select
	case op >= wasmfile.OpGlobalGet && op <= wasmfile.OpTableSet:
	case op == wasmfile.OpMemoryGrow:
	case op >= 0xd0 && op <= wasmfile.OpRefFunc: // references
	case op >= wasmfile.OpMemoryInit && op <= wasmfile.OpTableFill:
	default:
		return false
	}
	return true
}
