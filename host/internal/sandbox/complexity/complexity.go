// Package complexity estimates from a module's structure what it costs to
// compile it, so that a module that would keep the compiler for minutes or take
// gigabytes is rejected before.
//
// The compiler's time and memory are not linear in the size of a function. It
// passes each local at each join of branches (live.go), looks for the value of
// a local block by block, compares what is passed at joins pairwise and once for
// each nested loop, walks up its dominator tree for each edge, and keeps a list
// of known addresses for each block (counts). A few kilobytes can ask for hours.
//
// The estimate counts that work in one pass over the code, from above: blocks
// and edges are exact, what is live in them is a bound. It is linear in the
// module's size. What a unit costs (costs.go) was measured with the modules of
// package bombs.
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
	// Function is the function's index, or -1 if it is the module as a whole that
	// is beyond the limits.
	Function int
	// Shape says what the function consists of, or the module up to the function
	// that takes it beyond the limits.
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

// Check estimates what compiling a module costs. Own is the index of its first
// own function, for errors: a rewritten module may have more imports than its
// author knows of. The error is an *Error beyond the limits, or a
// *wasmfile.Error.
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
