// Package complexity bounds what it costs to compile a module, so that a module that would keep the compiler for minutes or take gigabytes is
// rejected before.
//
// The compiler's time and memory are not linear in the size of a function: it passes each local that is read on each way between blocks,
// compares what is passed pairwise and again for each nested loop, looks for values block by block, and keeps lists for each block. A few
// kilobytes can ask for hours. The bound is made of products of what one pass over the code counts.
package complexity

import (
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// Cost is what compiling costs at most, about: steps of a nanosecond of one core, and bytes of memory.
type Cost struct{ Steps, Bytes float64 }

func (c Cost) exceeds(limit Cost) bool { return c.Steps > limit.Steps || c.Bytes > limit.Bytes }

// Error is a module beyond the limits.
type Error struct {
	// Shape says what the function consists of, or the module up to the function that takes it beyond the limits.
	Shape       string
	Cost, Limit Cost
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: compiling may take %.0f million steps and %.0f MiB of memory, the limits are %.0f and %.0f",
		e.Shape, e.Cost.Steps/1e6, e.Cost.Bytes/(1<<20), e.Limit.Steps/1e6, e.Limit.Bytes/(1<<20))
}

// Check bounds what compiling a module costs. Own is the index of its first own function, for errors: a rewritten module may have more
// imports than its author knows of. The error is an *Error beyond the limits, or a *wasmfile.Error.
func Check(file *wasmfile.File, own int, limits Cost) (Cost, error) {
	w, m := &walk{file: file}, module{declared: declared(file)}
	if cost := m.cost(); cost.exceeds(limits) {
		return cost, &Error{"the declarations", cost, limits}
	}
	for i, b := range file.Bodies {
		if err := w.function(b, file.FuncType(uint32(file.ImportedFuncs+i))); err != nil {
			return Cost{}, err
		}
		if cost := w.cost(); cost.exceeds(limits) {
			return cost, &Error{fmt.Sprintf("function %d: %s", own+i, &w.counts), cost, limits}
		}
		if m.add(&w.counts); m.cost().exceeds(limits) {
			return m.cost(), &Error{fmt.Sprintf("the first %d functions", i+1), m.cost(), limits}
		}
	}
	return m.cost(), nil
}

// counts are what one function consists of. They are numbers of floating point because products of them do not fit 64 bits.
type counts struct {
	locals       float64
	alive        float64 // locals that are read: each counts as alive in every block
	passed       float64 // parameters or results of one block, at most
	instructions float64 // of the compiler's own, about
	accesses     float64 // of memory, each of which is checked
	ways         float64 // from block to block
	nesting      float64 // loops within loops, at most
	looked       float64 // blocks looked at to find the values of locals and globals
	searched     float64 // the same, for each local that is alive, where ways join
	held         float64 // values and known addresses on all ways
	widest       float64 // the most of them on one
}

// What each unit of work costs at most, in nanoseconds of one core of 2.5 GHz and in bytes. TestMeasure in package bombs measures them again.
const (
	stepsInstruction = 1000
	stepsWay         = 4000 // with the block that it begins
	stepsWays        = 20   // the dominator tree is walked up for each edge; edges that lead to the same block are compared
	stepsSearch      = 15
	stepsAccess      = 3 // compared where ways join
	stepsHeld        = 120
	stepsJoined      = 800
	stepsRedundant   = 2.5 // comparisons of what need not be passed
	stepsLocal       = 30

	bytesInstruction = 250
	bytesWay         = 2500
	bytesJoined      = 300
	bytesLocal       = 100

	// What stays after a function: code, and lists that the compiler keeps for the next one.
	keptInstruction = 12
	keptJoined      = 12
	keptHeld        = 60
	keptAlive       = 40

	// What declarations cost. The compiler walks over all types and globals for each function.
	stepsDeclared = 2000
	stepsFunction = 10_000
	stepsPair     = 50
	bytesDeclared = 600
	bytesFunction = 1500
	bytesModule   = 3 // copies of each byte of code
)

// cost of compiling the function alone.
func (c *counts) cost() Cost {
	joined := c.alive + c.passed
	way := stepsWay + stepsWays*c.ways + stepsAccess*c.accesses + stepsJoined*joined + stepsRedundant*joined*joined*(c.nesting+2)
	return Cost{
		Steps: stepsLocal*c.locals + stepsInstruction*c.instructions + stepsHeld*c.held + stepsSearch*(c.looked+2*c.searched*c.alive) + way*c.ways,
		Bytes: c.bytes() + c.lists(),
	}
}

// bytes are what the next function uses again.
func (c *counts) bytes() float64 {
	return bytesInstruction*c.instructions + c.ways*(bytesWay+bytesJoined*(c.alive+c.passed)) + bytesLocal*c.locals
}

// lists are the bytes of what is kept for each way.
func (c *counts) lists() float64 { return keptHeld*c.held + keptAlive*c.ways*c.alive }

func (c *counts) String() string {
	return fmt.Sprintf("%.0f locals, %.0f branches between blocks, loops nested %.0f deep, %.0f instructions", c.locals, c.ways, c.nesting, c.instructions)
}

// module adds up what the functions of a module cost.
type module struct {
	declared                            Cost // and what stays of functions
	largest, lists, ways, widest, alive float64
}

func declared(file *wasmfile.File) Cost {
	entries := len(file.Types) + len(file.Imports) + len(file.Exports) + len(file.Globals) + file.DataSegments + file.Elements
	for _, t := range file.Types {
		entries += len(t.Params) + len(t.Results)
	}
	functions := float64(len(file.Bodies))
	return Cost{
		Steps: stepsDeclared*float64(entries) + functions*(stepsFunction+stepsPair*float64(len(file.Types)+len(file.Globals))),
		Bytes: bytesDeclared*float64(entries) + functions*bytesFunction + bytesModule*float64(file.Size()),
	}
}

func (m *module) add(c *counts) {
	m.declared.Steps += c.cost().Steps
	m.declared.Bytes += keptInstruction*c.instructions + keptJoined*c.ways*(c.alive+c.passed)
	m.largest = max(m.largest, c.bytes())
	m.lists, m.ways = m.lists+c.lists(), max(m.ways, c.ways)
	m.widest, m.alive = max(m.widest, c.widest), max(m.alive, c.alive)
}

// cost is that of the module. The lists of a way are as long as the longest that some function needed there: all together at most what all
// functions needed, and at most as much as if the longest were everywhere.
func (m *module) cost() Cost {
	return Cost{Steps: m.declared.Steps, Bytes: m.declared.Bytes + m.largest + min(m.lists, m.ways*(keptHeld*m.widest+keptAlive*m.alive))}
}
