package instrument_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

var header = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

// file puts sections together.
func file(sections ...[]byte) []byte {
	return append(slices.Clone(header), slices.Concat(sections...)...)
}

func section(id byte, body ...byte) []byte { return wasmtest.Section(nil, id, body) }

func parse(tb testing.TB, wasm []byte) *wasmfile.File {
	tb.Helper()
	return must.Get(wasmfile.Parse(wasm))(tb)
}

func rewrite(tb testing.TB, wasm []byte, fuel bool) *instrument.Program {
	tb.Helper()
	return must.Get(instrument.Rewrite(parse(tb, wasm), instrument.Options{Fuel: fuel, MaxTableEntries: 100}))(tb)
}

// What would name something that is added, or was checked by the compiler before it was taken out, is rejected, with its place.
func TestRewriteRejects(t *testing.T) {
	t.Parallel()
	types, functions := section(1, 1, 0x60, 0, 0), section(3, 1, 0)
	body := func(code ...byte) []byte {
		code = append(append([]byte{0}, code...), 0x0b)
		return section(10, append([]byte{1, byte(len(code))}, code...)...)
	}
	name := append([]byte{byte(len(instrument.Reserved) + 1)}, instrument.Reserved+"x"...)
	tests := []struct {
		name   string
		wasm   []byte
		offset int
		msg    string
	}{
		{"global.set of the fuel", file(types, functions, body(0x42, 0, 0x24, 0)), 26, "global index 0 is out of range"},
		{"global.get of the fuel", file(types, functions, body(0x23, 0, 0x1a)), 24, "global index 0 is out of range"},
		{"local.set of the fuel", file(types, functions, body(0x42, 0, 0x21, 0)), 26, "local index 0 is out of range"},
		{"export of the fuel", file(section(7, 1, 1, 'f', 3, 0)), 14, "global index 0 is out of range"},
		{"reserved export", file(types, functions, section(7, slices.Concat([]byte{1}, name, []byte{0, 0})...), body()), 21, "is the host's own"},
		{"type of the import", file(types, functions, body(0x02, 1, 0x0b)), 24, "type index 1 is out of range"},
		{"indirect call by the type of the import", file(types, functions, section(4, 1, 0x70, 0, 1), body(0x41, 0, 0x11, 1, 0)), 32, "type index 1 is out of range"},
		{"call of a function that is added", file(types, functions, section(5, 1, 0, 1), body(0x10, 1)), 29, "function index 1 is out of range"},
		{"start with a parameter", file(section(1, 1, 0x60, 1, 0x7f, 0), functions, section(8, 0), body()), 21, "start function is (i32) -> ()"},
		{"data without a memory", file(section(11, 1, 0, 0x41, 0, 0x0b, 1, 'x')), 11, "memory 0, which is not there"},
		{"data for another memory", file(section(5, 1, 0, 1), section(11, 1, 2, 1, 0x41, 0, 0x0b, 1, 'x')), 16, "memory 1, which is not there"},
		{"unknown instruction", file(types, functions, body(0x06)), 23, "0x06 is not supported"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := instrument.Rewrite(parse(t, test.wasm), instrument.Options{Fuel: true})
			var fault *wasmfile.Error
			if !errors.As(err, &fault) {
				t.Fatalf("got %v", err)
			}
			if fault.Offset != test.offset || !strings.Contains(fault.Msg, test.msg) {
				t.Errorf("offset %d: %s; want offset %d, %q", fault.Offset, fault.Msg, test.offset, test.msg)
			}
		})
	}
}

// Code that cannot be told apart is rejected, with the place.
func TestRewriteRejectsUnknownInstructions(t *testing.T) {
	t.Parallel()
	for _, code := range [][]byte{
		{0x06},
		{0x12, 0},
		{0xfc, 18},
		{0xfd, 0x80, 2},
		{0xfb, 0},
		{0xff},
		{0x0e, 0xff, 0xff, 0xff, 0x7f},
		{0x44, 0},
		// The runtime would read another instruction, a nop, and a loop; by the specification they are operands.
		{0x41, 0, 0xfd, 0x8a, 0x00, 0x03, 0x40, 0x0c, 0, 0x0b, 0x1a},
		{0xfd, 0xe0, 0x81, 0x00},
	} {
		wasm := wasmtest.Module{Funcs: []wasmtest.Func{{Body: code}}}.Bytes()
		_, err := instrument.Rewrite(parse(t, wasm), instrument.Options{Fuel: true})
		if fault, ok := errors.AsType[*wasmfile.Error](err); !ok || fault.Offset < len(wasm)-1-len(code) {
			t.Errorf("% x: got %v", code, err)
		}
	}
}

// What an instance cannot be restored from is found, and nothing else is.
func TestRestorable(t *testing.T) {
	t.Parallel()
	types, functions := section(1, 1, 0x60, 0, 0), section(3, 1, 0)
	body := func(code ...byte) []byte {
		code = append(append([]byte{0}, code...), 0x0b)
		return section(10, append([]byte{1, byte(len(code))}, code...)...)
	}
	table, memory := section(4, 1, 0x70, 0, 1), section(5, 1, 0, 1)
	drop := []byte{0xfc, 9, 0}
	dropElement := []byte{0xfc, 13, 0}
	tests := map[string]struct {
		wasm   []byte
		reason string
	}{
		"table.get":  {file(types, functions, table, body(0x41, 0, 0x25, 0, 0x1a)), ""},
		"table.set":  {file(types, functions, table, body(0x41, 0, 0xd0, 0x70, 0x26, 0)), "changes a table"},
		"table.grow": {file(types, functions, table, body(0xd0, 0x70, 0x41, 1, 0xfc, 15, 0, 0x1a)), "changes a table"},
		"drop of passive data": {file(types, functions, memory, section(12, 1), body(drop...),
			section(11, 1, 1, 1, 'x')), "drops a data segment"},
		"drop of empty data": {file(types, functions, memory, section(12, 1), body(drop...),
			section(11, 1, 1, 0)), ""},
		"drop of active data": {file(types, functions, memory, section(12, 1), body(drop...),
			section(11, 1, 0, 0x41, 0, 0x0b, 1, 'x')), ""},
		"drop of passive elements": {file(types, functions, table, section(9, 1, 1, 0, 1, 0), body(dropElement...)), "drops an element segment"},
		"drop of active elements":  {file(types, functions, table, section(9, 1, 0, 0x41, 0, 0x0b, 1, 0), body(dropElement...)), ""},
		"mutable v128": {
			file(section(6, slices.Concat([]byte{1, 0x7b, 1, 0xfd, 12}, make([]byte, 16), []byte{0x0b})...)),
			"mutable global of type v128",
		},
		"mutable reference": {file(section(6, 1, 0x6f, 1, 0xd0, 0x6f, 0x0b)), "mutable global of type externref"},
		"constants":         {file(section(6, 1, 0x6f, 0, 0xd0, 0x6f, 0x0b)), ""},
		"imported memory":   {file(section(2, 1, 1, 'm', 1, 'm', 2, 0, 1)), "imports a memory"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := rewrite(t, test.wasm, true)
			if p.Restorable != (test.reason == "") || !strings.Contains(p.Reason, test.reason) {
				t.Errorf("restorable %v: %s; want %q", p.Restorable, p.Reason, test.reason)
			}
			r := wazero.NewRuntime(t.Context())
			defer func() { _ = r.Close(t.Context()) }()
			must.Get(r.CompileModule(t.Context(), p.Wasm))(t)
		})
	}
}

// What would keep the compiler busy for minutes is rejected before it gets it.
func TestNestingIsBounded(t *testing.T) {
	t.Parallel()
	nested := func(n int) []byte {
		return wasmtest.Module{Funcs: []wasmtest.Func{{
			Body: slices.Concat(slices.Repeat([]byte{0x02, 0x40}, n), slices.Repeat([]byte{0x0b}, n)),
		}}}.Bytes()
	}
	rewrite(t, nested(9_000), true)
	_, err := instrument.Rewrite(parse(t, nested(50_000)), instrument.Options{Fuel: true})
	var fault *wasmfile.Error
	if !errors.As(err, &fault) || !strings.Contains(fault.Msg, "nested") {
		t.Errorf("got %v", err)
	}
	table := slices.Concat([]byte{0x41, 0, 0x0e, 0x80, 0x80, 0x08}, make([]byte, 131_073))
	_, err = instrument.Rewrite(parse(t, wasmtest.Module{Funcs: []wasmtest.Func{{Body: table}}}.Bytes()), instrument.Options{Fuel: true})
	if !errors.As(err, &fault) || !strings.Contains(fault.Msg, "branch targets") {
		t.Errorf("got %v", err)
	}
}

// What would make a module many times longer is rejected, without writing it.
func TestGrowthIsBounded(t *testing.T) {
	t.Parallel()
	dense := func(n int) []byte { // memory.grow of memory.grow of ...
		return wasmtest.Module{MemoryPages: 1, Funcs: []wasmtest.Func{{
			Body: slices.Concat(wasmtest.Const(0), slices.Repeat([]byte{0x40, 0}, n), []byte{0x1a}),
		}}}.Bytes()
	}
	few := dense(1000)
	if p := rewrite(t, few, true); len(p.Wasm) < 10*len(few) {
		t.Errorf("%d bytes became only %d: this test shows nothing", len(few), len(p.Wasm))
	}
	_, err := instrument.Rewrite(parse(t, dense(100_000)), instrument.Options{Fuel: true})
	var fault *wasmfile.Error
	if !errors.As(err, &fault) || !strings.Contains(fault.Msg, "8 times as long") {
		t.Errorf("got %v", err)
	}
}
