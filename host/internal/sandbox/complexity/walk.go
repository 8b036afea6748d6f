package complexity

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"

// walk follows the code of one function as the compiler does: it cuts it into
// basic blocks, and counts.
type walk struct {
	file   *wasmfile.File
	module *module
	live   liveness

	frames  []frame
	blocks  []block
	now     place
	dead    int // open frames in code that is never reached, the reached one included; 0: reached
	loops   int32
	nesting int

	counts counts
	epoch  int32   // changes where the known addresses change
	known  []int32 // by local: the epoch in which it is known as an address
	stack  []int32 // by operand: the local that it was read from, and 1; 0: none
	most   float64 // instructions, beyond which there is no need to go on
	read   float64 // addresses, up to now
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
