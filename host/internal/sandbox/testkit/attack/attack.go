// Package attack makes guests that have the host hold as much memory as they can: one for each function that the host offers, and one for
// each other way. Each first fills its linear memory, then goes on until a limit ends it.
//
// The guests are assembled, so that they need no toolchain and do nothing else. The tests of package sandbox run them and measure.
package attack

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// Attack is a guest that attacks in one way.
type Attack struct {
	// Function that is called again and again, as module and name; both are empty for other ways.
	Module, Function string
	Name             string
	Wasm             []byte
	Request          []byte // of the call
	Grant            abi.Capability
}

// pageBytes of linear memory.
const pageBytes = 64 << 10

// firstFree is where the filled part of a direct guest's memory begins.
const firstFree = 2 * pageBytes

// fill grows the memory to some pages and fills it behind firstFree with ones.
func fill(pages int) []byte {
	return wasmtest.Join(
		wasmtest.Const(int32(pages-initialPages)), []byte{wasmtest.MemoryGrow, 0, wasmtest.Drop},
		wasmtest.Const(firstFree), wasmtest.Const(1), wasmtest.Const(int32(pages*pageBytes-firstFree)), []byte{0xfc, 11, 0})
}

const initialPages = 2

// forever repeats code until a limit ends the call.
func forever(code ...[]byte) []byte {
	return wasmtest.Join([]byte{wasmtest.Loop, wasmtest.Void}, wasmtest.Join(code...), []byte{wasmtest.Br, 0, wasmtest.End})
}

// i64 is an i64.const instruction.
func i64(v int64) []byte {
	b := []byte{wasmtest.I64Const}
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// constants are arguments of a function with those parameters.
func constants(params []byte, values []int64) []byte {
	var code []byte
	for i, p := range params {
		if p == wasmtest.I64 {
			code = append(code, i64(values[i])...)
		} else {
			code = append(code, wasmtest.Const(int32(values[i]))...)
		}
	}
	return code
}

// direct is a guest of the direct binding with a body for its node call. The request is written to the page that the guest is born with.
func direct(body []byte, imports ...wasmtest.Import) wasmtest.Module {
	return wasmtest.Module{
		Imports: imports, MemoryPages: initialPages, Memory: abi.ExportMemory,
		Funcs: []wasmtest.Func{
			{Export: abi.ExportAlloc, Params: []byte{wasmtest.I32}, Results: []byte{wasmtest.I32}, Body: wasmtest.Const(requestAt)},
			{Export: abi.ExportNode, Params: []byte{wasmtest.I32, wasmtest.I32}, Results: []byte{wasmtest.I64}, Body: body},
		},
	}
}

// Where a direct guest has its request, and room for answers.
const (
	requestAt = 16 << 10
	answerAt  = firstFree
)
