package attack

import (
	"bytes"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// Ways are attacks without a host function, in a memory of some pages.
func Ways(pages int) []Attack {
	return []Attack{
		{Name: "memory.grow", Wasm: direct(wasmtest.Join(
			fill(pages), forever(wasmtest.Const(1), []byte{wasmtest.MemoryGrow, 0, wasmtest.Drop}), i64(0))).Bytes()},
		{Name: "table.grow", Wasm: tableGrowth(pages)},
		{Name: "recursion with a small frame", Wasm: recursion(pages, 1)},
		{Name: "recursion with a large frame", Wasm: recursion(pages, 500)},
		{Name: "a large response", Wasm: direct(wasmtest.Join(fill(pages), i64(firstFree<<32|1<<20))).Bytes()},
		{Name: "a response that is too large", Wasm: direct(wasmtest.Join(fill(pages), i64(firstFree<<32|(1<<20+1)))).Bytes()},
		{Name: "a large request", Wasm: largeRequest(pages), Request: bytes.Repeat([]byte{1}, pages*pageBytes/2)},
		{Name: "a memory that the start filled", Wasm: filledAtStart(pages)},
	}
}

// tableGrowth grows a table by one entry again and again.
func tableGrowth(pages int) []byte {
	m := direct(wasmtest.Join(fill(pages),
		forever([]byte{0xd0, 0x70}, wasmtest.Const(1), []byte{0xfc, 15, 0, wasmtest.Drop}), i64(0))) // table.grow 0
	m.TableMin = 1
	return m.Bytes()
}

// recursion calls a function with some parameters that calls itself. What it adds up afterwards keeps each parameter in its frame.
func recursion(pages, params int) []byte {
	const recursing = 2
	all := bytes.Repeat([]byte{wasmtest.I32}, params)
	var down, up []byte
	for i := range params {
		down = wasmtest.Uint(append(down, wasmtest.LocalGet), i)
		up = append(wasmtest.Uint(append(up, wasmtest.LocalGet), i), wasmtest.I32Add)
	}
	m := direct(wasmtest.Join(fill(pages), bytes.Repeat(wasmtest.Const(1), params), []byte{wasmtest.Call, recursing, wasmtest.Drop}, i64(0)))
	m.Funcs = append(m.Funcs, wasmtest.Func{
		Params: all, Results: []byte{wasmtest.I32}, Body: wasmtest.Join(down, []byte{wasmtest.Call, recursing}, up),
	})
	return m.Bytes()
}

// largeRequest takes a request of half its memory, all of which it has written.
func largeRequest(pages int) []byte {
	m := direct(wasmtest.Join(
		wasmtest.Const(requestAt), wasmtest.Const(1), wasmtest.Const(int32(pages*pageBytes-requestAt)), []byte{0xfc, 11, 0}, i64(0)))
	m.MemoryPages = pages
	return m.Bytes()
}

// filledAtStart has a template as large as its memory, which its call writes again.
func filledAtStart(pages int) []byte {
	whole := func(value int32) []byte {
		return wasmtest.Join(wasmtest.Const(0), wasmtest.Const(value), wasmtest.Const(int32(pages*pageBytes)), []byte{0xfc, 11, 0})
	}
	m := direct(wasmtest.Join(whole(2), i64(0)))
	m.MemoryPages = pages
	m.Funcs = append(m.Funcs, wasmtest.Func{Export: abi.ExportInitialize, Body: whole(1)})
	return m.Bytes()
}
