// Package complexity estimates from a module's structure what it costs to compile it, so that a module that would keep the compiler for
// minutes or take gigabytes is rejected before.
//
// The compiler's time and memory are not linear in the size of a function. It passes each live local at each join of branches, looks
// for the value of a local block by block, compares what is passed at joins pairwise and once for each nested loop, walks up its dominator
// tree for each edge, and keeps a list of known addresses for each block (counts). A few kilobytes can ask for hours.
//
// The estimate counts that work in one pass over the code, from above: blocks and edges are exact, every local that is read counts as live
// in each block, and every access of memory as checked. It is linear in the module's size. What a unit costs was measured with the modules
// of package bombs.
package complexity

import (
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// Limits are the most that compiling may cost.
type Limits struct {
	// Steps are about nanoseconds of one core.
	Steps int64
	// Bytes of memory.
	Bytes int64
}

// Cost is what compiling costs, about.
type Cost struct{ Steps, Bytes float64 }

// Error is a module beyond the limits.
type Error struct {
	// Function is the function's index, or -1 if it is the module as a whole that is beyond the limits.
	Function int
	// Shape says what the function consists of, or the module up to the function that takes it beyond the limits.
	Shape string
	Cost  Cost
	Limit Limits
}

func (e *Error) Error() string {
	what, unit, cost, limit := "take", "million steps", e.Cost.Steps/1e6, e.Limit.Steps/1e6
	if cost <= float64(limit) {
		what, unit, cost, limit = "need", "MiB of memory", e.Cost.Bytes/(1<<20), e.Limit.Bytes>>20
	}
	return fmt.Sprintf("%s: compiling would %s about %.0f %s, the limit is %d", e.Shape, what, cost, unit, limit)
}

func (l Limits) exceeded(c Cost) bool {
	return c.Steps > float64(l.Steps) || c.Bytes > float64(l.Bytes)
}

// Check estimates what compiling a module costs. Own is the index of its first own function, for errors: a rewritten module may have more
// imports than its author knows of. The error is an *Error beyond the limits, or a *wasmfile.Error.
func Check(file *wasmfile.File, own int, limits Limits) (Cost, error) {
	m := newModule(file)
	w := &walk{file: file, module: m, most: float64(limits.Bytes) / bytesInstruction}
	for i, b := range file.Bodies {
		signature := file.FuncType(uint32(file.ImportedFuncs + i))
		if err := w.function(b, signature); err != nil {
			return Cost{}, err
		}
		if cost := w.counts.cost(); limits.exceeded(cost) {
			shape := fmt.Sprintf("function %d: %s", own+i, &w.counts)
			return cost, &Error{Function: own + i, Shape: shape, Cost: cost, Limit: limits}
		}
		m.add(&w.counts)
		if limits.exceeded(m.cost()) {
			break // a module of a few megabytes can have a million functions of a thousand locals
		}
	}
	cost := m.cost()
	if limits.exceeded(cost) {
		return cost, &Error{Function: -1, Shape: m.String(), Cost: cost, Limit: limits}
	}
	return cost, nil
}

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

	// What stays after a function: lists that the compiler keeps for the next one, and code.
	keptBound       = 30
	keptLive        = 16
	keptJoined      = 12
	keptInstruction = 12
)

// counts are the work that one function makes. They are numbers of floating point because some are products that do not fit 64 bits.
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

// What declarations cost.
const (
	stepsDeclared = 2000 // a type, an import, an export, a global, a data segment
	stepsTyped    = 2000 // a parameter or result of a type
	stepsElement  = 200
	stepsPair     = 30 // the compiler walks over all types and globals for each function

	bytesDeclared = 600
	bytesTyped    = 200
	bytesElement  = 100
	bytesModule   = 3 // copies of each byte of code
)

// module adds up what the functions of a module cost.
type module struct {
	declared Cost
	global   float64 // globals, which are read again after each call
	total    Cost    // of the functions; its bytes stay
	most     float64 // bytes of the largest function

	functions, live, joined, bounds            float64
	blocks, edges                              float64 // the most of a function
	widestLive, widestJoin, widest, statements float64
}

func newModule(file *wasmfile.File) *module {
	m := &module{global: float64(len(file.Globals))}
	typed := 0
	for _, t := range file.Types {
		typed += len(t.Params) + len(t.Results)
	}
	declared := float64(len(file.Types) + len(file.Imports) + len(file.Exports) + len(file.Globals) + file.DataSegments)
	functions := float64(len(file.Bodies))
	m.declared.Steps = stepsDeclared*declared + stepsTyped*float64(typed) + stepsElement*float64(file.Elements) +
		stepsPair*functions*float64(len(file.Types)+len(file.Globals))
	m.declared.Bytes = bytesDeclared*declared + bytesTyped*float64(typed) + bytesElement*float64(file.Elements) +
		bytesFunction*functions + bytesModule*float64(file.Size())
	return m
}

// add adds a function.
func (m *module) add(c *counts) {
	m.functions++
	m.total.Steps += c.cost().Steps
	m.total.Bytes += keptInstruction*c.instructions + keptJoined*c.joined
	m.most = max(m.most, c.bytes())
	m.live, m.joined, m.bounds = m.live+c.live, m.joined+c.joined, m.bounds+c.bounds
	m.blocks, m.edges = max(m.blocks, c.blocks), max(m.edges, c.edges)
	m.widestLive, m.widestJoin, m.widest = max(m.widestLive, c.widestLive), max(m.widestJoin, c.widestJoin), max(m.widest, c.widest)
	m.statements += c.instructions
}

// cost is that of the module. The compiler keeps a list for each block and each edge, which is as long as the longest that some function
// needed there: all together at most what all functions needed, and at most as much as if the longest were everywhere.
func (m *module) cost() Cost {
	kept := keptLive*min(m.live, m.blocks*m.widestLive) + keptJoined*min(m.joined, m.edges*m.widestJoin) +
		keptBound*min(m.bounds, m.blocks*m.widest)
	return Cost{
		Steps: m.declared.Steps + m.total.Steps,
		Bytes: m.declared.Bytes + m.total.Bytes + m.most + kept,
	}
}

func (m *module) String() string {
	return fmt.Sprintf("%.0f functions, %.0f instructions", m.functions, m.statements)
}
