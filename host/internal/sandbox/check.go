package sandbox

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// importName is a host function as a module asks for it.
type importName struct{ module, name string }

const maxNameBytes = 200

// String is the quoted module.function, cut if it is long.
func (n importName) String() string {
	full := n.module + "." + n.name
	return strconv.Quote(full[:min(len(full), maxNameBytes)])
}

// surface is what a module may import, with the signatures. Granted capabilities are added to a module's own copy.
type surface map[importName]wasmfile.FuncType

var (
	i32 = []wasmfile.ValueType{wasmfile.I32}

	signatureInitialize = wasmfile.FuncType{}
	signatureAlloc      = wasmfile.FuncType{Params: i32, Results: i32}
	signatureCall       = wasmfile.FuncType{
		Params:  []wasmfile.ValueType{wasmfile.I32, wasmfile.I32},
		Results: []wasmfile.ValueType{wasmfile.I64},
	}
)

// check checks a file against the contract and the limits, and gives every fault that can be seen without running anything.
func check(file *wasmfile.File, allowed surface, limits Limits) []Fault {
	c := checker{file: file}
	c.exports()
	c.imports(allowed)
	c.sizes(limits)
	return c.faults
}

type checker struct {
	file   *wasmfile.File
	faults []Fault
}

// fault adds one, up to abi.MaxProblems: a file can hold a million imports.
func (c *checker) fault(code FaultCode, format string, args ...any) {
	if len(c.faults) < abi.MaxProblems {
		c.faults = append(c.faults, Fault{Code: code, Detail: fmt.Sprintf(format, args...)})
	}
}

func (c *checker) exports() {
	_, start := c.file.Export("_start")
	_, initialize := c.file.Export(abi.ExportInitialize)
	if start && !initialize {
		c.fault(FaultCommandModule, "exports _start and no %s: build it as a reactor (Go: -buildmode=c-shared)", abi.ExportInitialize)
	}
	if memory, ok := c.file.Export(abi.ExportMemory); !ok {
		c.fault(FaultMissingExport, "%s is not exported", abi.ExportMemory)
	} else if memory.Kind != wasmfile.KindMemory {
		c.fault(FaultWrongSignature, "export %s is a %s, not a memory", abi.ExportMemory, memory.Kind)
	}
	if initialize {
		c.function(abi.ExportInitialize, signatureInitialize)
	}
	signatures := []wasmfile.FuncType{signatureCall}
	if bindingOf(c.file.Imports) == Extism {
		signatures = []wasmfile.FuncType{signatureExtismCall, signatureExtismQuiet}
	} else if !c.function(abi.ExportAlloc, signatureAlloc) {
		c.fault(FaultMissingExport, "%s is not exported", abi.ExportAlloc)
	}
	served := 0
	for _, call := range calls {
		if c.function(call.export, signatures...) {
			served++
		}
	}
	c.function(abi.ExportPrepare, signatures...)
	if served == 0 {
		c.fault(FaultMissingExport, "none of %s, %s, %s, %s is exported",
			abi.ExportNode, abi.ExportContest, abi.ExportEdges, abi.ExportJudge)
	}
}

// function reports whether the export is there at all; one that has none of the signatures is a fault.
func (c *checker) function(name string, want ...wasmfile.FuncType) bool {
	export, ok := c.file.Export(name)
	switch {
	case !ok:
		return false
	case export.Func == nil:
		c.fault(FaultWrongSignature, "export %s is a %s, not a function", name, export.Kind)
	case !slices.ContainsFunc(want, func(w wasmfile.FuncType) bool { return export.Func.Is(w.Params, w.Results) }):
		c.fault(FaultWrongSignature, "export %s is %s, not %s", name, export.Func, want[0])
	}
	return true
}

func (c *checker) imports(allowed surface) {
	for _, imp := range c.file.Imports {
		name := importName{imp.Module, imp.Name}
		want, ok := allowed[name]
		switch {
		case imp.Kind != wasmfile.KindFunc:
			c.fault(FaultForbiddenImport, "%s is a %s: modules bring their own", name, imp.Kind)
		case !ok:
			c.fault(FaultForbiddenImport, "%s is not granted", name)
		case !imp.Func.Is(want.Params, want.Results):
			c.fault(FaultWrongSignature, "import %s is %s, not %s", name, imp.Func, want)
		}
	}
}

// maxDeclared is how many globals and imports a module may declare: each takes up to 100 bytes of every instance.
const maxDeclared = 50_000

func (c *checker) sizes(limits Limits) {
	for _, m := range c.file.Memories {
		if declared := int64(m.Min) * pageBytes; declared > limits.MemoryBytes {
			c.fault(FaultMemoryTooLarge, "declares %d bytes of memory, the limit is %d", declared, limits.MemoryBytes)
		}
	}
	entries := uint64(0)
	for _, t := range c.file.Tables {
		entries += uint64(t.Min)
	}
	if entries > uint64(limits.TableEntries) {
		c.fault(FaultTableTooLarge, "declares %d table entries, the limit is %d", entries, limits.TableEntries)
	}
	if declared := len(c.file.Globals) + len(c.file.Imports); declared > maxDeclared {
		c.fault(FaultMemoryTooLarge, "declares %d globals and imports, the limit is %d", declared, maxDeclared)
	}
}

func digestOf(wasm []byte) Digest { return Digest(sha256.Sum256(wasm)) }
