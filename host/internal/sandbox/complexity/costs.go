package complexity

import "fmt"

// What each unit of work costs at most, in nanoseconds of one core of 2.5 GHz and
// in bytes. TestMeasure in package bombs measures them again.
const (
	stepsInstruction = 1000
	stepsBlock       = 4000
	stepsSearch      = 15
	stepsBound       = 100
	stepsCompared    = 3
	stepsDepth       = 50
	stepsSquare      = 5
	stepsLive        = 20
	stepsJoined      = 700
	stepsRedundant   = 2.5
	stepsLocal       = 30
	stepsFunction    = 10_000

	bytesInstruction = 250
	bytesBlock       = 2500
	bytesJoined      = 300
	bytesLocal       = 100
	bytesFunction    = 1500

	// What stays after a function: lists that the compiler keeps for the next
	// one, and code.
	keptBound       = 30
	keptLive        = 16
	keptJoined      = 12
	keptInstruction = 12
)

// counts are the work that one function makes. They are numbers of floating
// point because some are products that do not fit 64 bits.
type counts struct {
	locals       float64
	instructions float64 // of the compiler's own, about
	blocks       float64
	nesting      float64 // loops within loops, at most
	searches     float64 // blocks looked at to find the values of locals and globals
	bounds       float64 // addresses known to be in memory, at the ends of all blocks
	compared     float64 // the same, at joins
	depths       float64 // in the dominator tree, of the sources of all edges
	squares      float64 // of the numbers of edges that lead to the same block
	live         float64 // values that live across blocks, over all blocks and edges
	joined       float64 // values that are passed at joins, over all edges
	redundant    float64 // comparisons in one search for values that need not be passed

	edges                          float64
	widestLive, widestJoin, widest float64 // the most of live, joined and bounds in one place
}

// cost of compiling the function alone.
func (c *counts) cost() Cost {
	return Cost{
		Steps: stepsFunction + stepsInstruction*c.instructions + stepsBlock*c.blocks + stepsSearch*c.searches +
			stepsBound*c.bounds + stepsCompared*c.compared + stepsDepth*c.depths + stepsSquare*c.squares +
			stepsLive*c.live + stepsJoined*c.joined + stepsRedundant*c.redundant*(c.nesting+2) + stepsLocal*c.locals,
		Bytes: c.bytes() + keptBound*c.bounds + keptLive*c.live,
	}
}

// bytes are what the next function uses again.
func (c *counts) bytes() float64 {
	return bytesInstruction*c.instructions + bytesBlock*c.blocks + bytesJoined*c.joined + bytesLocal*c.locals
}

func (c *counts) String() string {
	return fmt.Sprintf("%.0f locals, %.0f blocks, %.0f values passed between them, %.0f instructions",
		c.locals, c.blocks, c.joined, c.instructions)
}
