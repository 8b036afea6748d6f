// Package wasmtest assembles small WebAssembly modules for tests: the ones that no toolchain would make, and the ones that must be
// understood byte by byte.
package wasmtest

import "encoding/binary"

// Value types.
const (
	I32 byte = 0x7f
	I64 byte = 0x7e
	F32 byte = 0x7d
	F64 byte = 0x7c
)

// Instructions that tests use; the operands follow.
const (
	Unreachable byte = 0x00
	Loop        byte = 0x03
	If          byte = 0x04
	Br          byte = 0x0c
	Call        byte = 0x10
	Drop        byte = 0x1a
	LocalGet    byte = 0x20
	GlobalGet   byte = 0x23
	GlobalSet   byte = 0x24
	I32Load     byte = 0x28
	MemoryGrow  byte = 0x40
	I32Const    byte = 0x41
	I64Const    byte = 0x42
	I32Add      byte = 0x6a
	I32Sub      byte = 0x6b
	I32DivU     byte = 0x6e
	I64Shl      byte = 0x86
	I64Or       byte = 0x84
	I64ExtendU  byte = 0xad
	End         byte = 0x0b
	Void        byte = 0x40
)

// Func is a function of the module. Its Body lacks the list of locals and the end.
type Func struct {
	Params, Results []byte
	Locals          []byte // types
	Body            []byte
	Export          string // empty: not exported
}

// Import is a function that the module asks for. Imports come first in the index space of functions.
type Import struct {
	Module, Name    string
	Params, Results []byte
}

// Custom is a custom section.
type Custom struct {
	Name    string
	Payload []byte
}

// Module is assembled by Bytes. The zero Module is empty and valid.
type Module struct {
	Imports     []Import
	Funcs       []Func
	MemoryPages int    // zero: no memory
	Memory      string // the name it is exported under; empty: it is not
	TableMin    int    // a table of that many function references, if TableMin or Table is set
	Table       bool
	Globals     int  // mutable i32, all zero
	LongGlobals int  // mutable i64, all zero, behind the others
	Start       *int // index of the start function
	Data        []byte
	Customs     []Custom
}

// Bytes assembles the module.
func (m Module) Bytes() []byte {
	var types, imports, funcs, exports, code []byte
	count := 0
	addType := func(params, results []byte) int {
		types = append(types, 0x60)
		types = append(Uint(types, len(params)), params...)
		types = append(Uint(types, len(results)), results...)
		count++
		return count - 1
	}
	exported := 0
	export := func(name string, kind byte, index int) {
		exports = append(Uint(exports, len(name)), name...)
		exports = Uint(append(exports, kind), index)
		exported++
	}
	for _, imp := range m.Imports {
		imports = append(Uint(imports, len(imp.Module)), imp.Module...)
		imports = append(Uint(imports, len(imp.Name)), imp.Name...)
		imports = Uint(append(imports, 0), addType(imp.Params, imp.Results))
	}
	for i, f := range m.Funcs {
		funcs = Uint(funcs, addType(f.Params, f.Results))
		body := Uint(nil, len(f.Locals))
		for _, local := range f.Locals {
			body = append(body, 1, local)
		}
		body = append(append(body, f.Body...), End)
		code = append(Uint(code, len(body)), body...)
		if f.Export != "" {
			export(f.Export, 0, len(m.Imports)+i)
		}
	}
	if m.Memory != "" {
		export(m.Memory, 2, 0)
	}

	out := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	out = list(out, 1, count, types)
	out = list(out, 2, len(m.Imports), imports)
	out = list(out, 3, len(m.Funcs), funcs)
	if m.Table || m.TableMin > 0 {
		out = list(out, 4, 1, Uint([]byte{0x70, 0}, m.TableMin))
	}
	if m.MemoryPages > 0 {
		out = list(out, 5, 1, Uint([]byte{0}, m.MemoryPages))
	}
	var globals []byte
	for range m.Globals {
		globals = append(globals, I32, 1, I32Const, 0, End)
	}
	for range m.LongGlobals {
		globals = append(globals, I64, 1, I64Const, 0, End)
	}
	out = list(out, 6, m.Globals+m.LongGlobals, globals)
	out = list(out, 7, exported, exports)
	if m.Start != nil {
		out = Section(out, 8, Uint(nil, *m.Start))
	}
	out = list(out, 10, len(m.Funcs), code)
	if len(m.Data) > 0 {
		out = list(out, 11, 1, append(Uint([]byte{0, I32Const, 8, End}, len(m.Data)), m.Data...))
	}
	for _, c := range m.Customs {
		out = Section(out, 0, append(append(Uint(nil, len(c.Name)), c.Name...), c.Payload...))
	}
	return out
}

// Uint appends an unsigned LEB128 number.
func Uint(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }

// Const gives an i32.const instruction with any value.
func Const(v int32) []byte {
	b := []byte{I32Const}
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// Join puts pieces of code together.
func Join(pieces ...[]byte) []byte {
	var b []byte
	for _, p := range pieces {
		b = append(b, p...)
	}
	return b
}

// Section appends a section with any content.
func Section(out []byte, id byte, body []byte) []byte {
	return append(Uint(append(out, id), len(body)), body...)
}

func list(out []byte, id byte, count int, entries []byte) []byte {
	if count == 0 {
		return out
	}
	return Section(out, id, append(Uint(nil, count), entries...))
}
