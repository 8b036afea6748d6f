// Package instrument rewrites a module into the form that a pool of instances runs: what an instance is after its start can be saved and
// restored through the runtime's API, and what it does is counted.
//
//   - Custom sections are gone, and the maximum of every table is lowered,
//     because table.grow is otherwise bounded by nothing.
//   - Mutable globals are exported, under reserved names.
//   - Active data segments are taken out: the host applies them once, to the
//     memory that all instances begin with. So is the start function.
//   - With fuel, each function pays for what it does, see fuel.go.
//
// Apart from that the module means the same. Names that begin with Reserved
// belong to the host: a module that exports or imports one is rejected.
//
// The files come from anybody. Nothing here panics on any input, every fault is a *wasmfile.Error with its offset, time is linear, and the
// result is at most nine times as long as the file, plus 128 KiB: what would need more is rejected. Modules of the Go toolchain grow to 1.4
// times their code.
package instrument

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// Version changes with what a call costs, and with what is saved of an instance.
const Version = "6"

// The names that the host adds to a module.
const (
	Reserved = "shadowcourt_meter" // begins every export, and is the module of the import

	// YieldModule and YieldName are the import () -> () of a module with fuel. It is called when the fuel of the slice is below zero; it
	// fills the slice up, or panics to end the call.
	YieldModule = Reserved
	YieldName   = "yield"

	exportStart  = Reserved + ".start"
	exportFuel   = Reserved + ".fuel"
	exportGlobal = Reserved + ".global." // and the index
)

// maxSavedGlobals is how many mutable globals are saved and restored. The Go toolchain makes eight, others one to three.
const maxSavedGlobals = 1024

// The bodies of the functions may become this much longer than the file. What compilers make stays below twice its length; a body of
// nothing but calls, with more locals and globals than anybody has, would need nine times.
const (
	maxGrowth   = 8
	growthFloor = 64 << 10
)

// maxNesting bounds the blocks within blocks of a function: the compiler's time grows with its square. The largest function of a module of
// the Go toolchain nests some thousands.
const maxNesting = 10_000

// Options of a rewriting.
type Options struct {
	// Fuel meters the module. Without it the module runs unmetered, and cannot be interrupted except by what the runtime itself offers.
	Fuel bool
	// MaxTableEntries is the most entries that all tables may grow to, and that element segments may keep for instructions. Growing may
	// fail at any time, so that this does not change what a module means.
	MaxTableEntries uint32
}

// Program is a rewritten module.
type Program struct {
	Wasm []byte // to be compiled

	// Globals are the mutable ones, in the order of the file.
	Globals []Global
	// Segments are written to memory in this order when an instance is made from nothing, before the start function runs. One that is not
	// in the memory is the trap out_of_bounds_memory; the ones before it stay written.
	Segments []Segment
	// Start is the exported name of the start function, which is called without
	// parameters when an instance is made from nothing; empty if there is none.
	Start string
	// Fuel is the exported name of the mutable i64 global that holds the fuel left in the slice; empty if the module is not metered. It
	// begins at zero. A function may end with fuel below zero: it has then spent that much more than the slice held.
	Fuel string
	// Restorable says that memory and Globals are all that a call can change in an instance. If not, Reason says why, and Segments may be
	// incomplete: such an instance serves one call, and is made from nothing.
	Restorable bool
	Reason     string
}

// Global is a mutable global that the host saves and restores.
type Global struct {
	Export string
	Type   wasmfile.ValueType // I32, I64, F32 or F64
}

// Segment is data for the memory.
type Segment struct {
	Offset uint32
	Data   []byte
}

// Rewrite makes the program of a module. The program keeps no view of the file. The error is a *wasmfile.Error.
func Rewrite(file *wasmfile.File, options Options) (*Program, error) {
	w := &writer{
		file:    file,
		options: options,
		program: &Program{Restorable: true},
		wasm:    make([]byte, 0, file.Size()+file.Size()/2),

		passiveData:     map[uint32]bool{},
		passiveElements: map[uint32]bool{},
	}
	w.wasm = append(w.wasm, file.Bytes(0, headerBytes)...)
	for _, s := range file.Sections {
		if s.ID != wasmfile.SectionCustom {
			w.sections[s.ID] = s
		}
	}
	w.imported()
	w.segments()
	for _, id := range inOrder {
		w.section(id)
	}
	if w.err != nil {
		return nil, w.err
	}
	w.program.Wasm = w.wasm
	return w.program, nil
}

// retire notes the first reason why an instance cannot be restored.
func (w *writer) retire(reason string) {
	if w.program.Restorable {
		w.program.Restorable, w.program.Reason = false, reason
	}
}

func isReserved(name string) bool { return strings.HasPrefix(name, Reserved) }
