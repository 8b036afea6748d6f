package complexity

import (
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

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

// cost is that of the module. The compiler keeps a list for each block and each
// edge, which is as long as the longest that some function needed there: all
// together at most what all functions needed, and at most as much as if the
// longest were everywhere.
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
