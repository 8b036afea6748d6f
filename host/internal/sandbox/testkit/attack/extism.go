package attack

import (
	"bytes"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// The functions of every Extism guest, in the order of its imports.
const (
	alloc = iota
	storeLong
	inputOffset
	setVariable
	attacked
)

// The globals of an Extism guest.
const (
	counter = iota
	name    // of a block of 8 bytes that holds the counter
	value   // of a block of 1,000 bytes
)

func extism(body []byte, f Function) wasmtest.Module {
	long := []byte{wasmtest.I64}
	return wasmtest.Module{
		Imports: []wasmtest.Import{
			{Module: abi.ExtismEnv, Name: "alloc", Params: long, Results: long},
			{Module: abi.ExtismEnv, Name: "store_u64", Params: bytes.Repeat(long, 2)},
			{Module: abi.ExtismEnv, Name: "input_offset", Results: long},
			{Module: abi.ExtismEnv, Name: "var_set", Params: bytes.Repeat(long, 2)},
			f.imported(),
		},
		MemoryPages: initialPages, Memory: abi.ExportMemory, LongGlobals: 3,
		Funcs: []wasmtest.Func{{
			Export: abi.ExportNode, Results: []byte{wasmtest.I32}, Body: wasmtest.Join(body, wasmtest.Const(0)),
		}},
	}
}

// kernelArguments are those with which a function of Extism's environment has the host hold most, as code.
func kernelArguments() map[string][][]byte {
	get := func(global byte) []byte { return []byte{wasmtest.GlobalGet, global} }
	one, large := i64(1), i64(100_000)
	return map[string][][]byte{
		"alloc": {one}, "free": {get(name)}, "length": {get(name)}, "length_unsafe": {get(name)},
		"load_u8": {get(name)}, "load_u64": {get(name)}, "store_u8": {get(name), wasmtest.Const(1)}, "store_u64": {get(value), large},
		"input_offset": {}, "input_length": {}, "input_load_u8": {one}, "input_load_u64": {one},
		"output_set": {get(value), large}, "output_offset": {}, "output_length": {},
		"error_set": {get(value)}, "error_get": {}, "memory_bytes": {},
		"config_get": {get(name)}, "var_get": {get(name)}, "var_set": {get(name), get(value)},
		"get_log_level": {}, "http_request": {get(name), get(value)}, "http_status_code": {}, "http_headers": {},
		"log_trace": {get(value)}, "log_debug": {get(value)}, "log_info": {get(value)}, "log_warn": {get(value)}, "log_error": {get(value)},
	}
}

// blockPages are left to blocks and variables by the guests that make many.
const blockPages = 17

// Kernel is a guest that calls a function of Extism's environment in a memory of
// some pages. It reports whether an attack on the function is known.
func Kernel(f Function, pages int) (Attack, bool) {
	args, ok := kernelArguments()[f.Name]
	if !ok || len(args) != len(f.Params) {
		return Attack{}, false
	}
	block := func(bytes int64, global byte) []byte {
		return wasmtest.Join(i64(bytes), []byte{wasmtest.Call, alloc, wasmtest.GlobalSet, global})
	}
	// A new name each time, and for functions that free it a new value.
	again := wasmtest.Join(
		[]byte{wasmtest.GlobalGet, counter}, i64(1), []byte{0x7c, wasmtest.GlobalSet, counter},
		[]byte{wasmtest.GlobalGet, name, wasmtest.GlobalGet, counter, wasmtest.Call, storeLong})
	call := append(wasmtest.Join(args...), wasmtest.Call, attacked)
	for range f.Results {
		call = append(call, wasmtest.Drop)
	}
	left := 1 // pages that the memory leaves to blocks and variables
	body := forever(again, call)
	switch f.Name {
	case "alloc":
		left = blockPages
	case "var_get": // of the variable that is set before
		left = blockPages
		body = wasmtest.Join([]byte{wasmtest.GlobalGet, name, wasmtest.GlobalGet, value, wasmtest.Call, setVariable}, forever(call))
	case "var_set":
		left = blockPages
	}
	body = wasmtest.Join(block(8, name), block(1000, value), fill(pages-left), body)
	return Attack{Module: f.Module, Function: f.Name, Name: f.Module + "." + f.Name, Wasm: extism(body, f).Bytes()}, true
}

// capabilityRequest is the largest request of a capability.
func capabilityRequest(c abi.Capability) ([]byte, bool) {
	const most = 512<<10 - 100
	text := string(bytes.Repeat([]byte("x"), most))
	switch c {
	case abi.CapLog:
		return codec.AppendLogLine(nil, &abi.LogLine{Message: text}), true
	case abi.CapRecall:
		return codec.AppendRecallQuery(nil, &abi.RecallQuery{Limit: 100}), true
	case abi.CapCorrelate:
		return codec.AppendCorrelateQuery(nil, &abi.CorrelateQuery{Text: text, Limit: 100}), true
	case abi.CapSource:
		return codec.AppendSourceQuery(nil, &abi.SourceQuery{Text: text, Limit: 100, Lines: 50}), true
	case abi.CapExperiment, abi.CapComplete: // names without a function
	}
	return nil, false
}
