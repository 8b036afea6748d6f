package instrument_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

const movedBytes = 4 << 20

// mover exports copy, fill, and init of a segment of 1 MiB, each of which is
// one instruction, and drop, which drops the segment.
func mover() []byte {
	three := []byte{wasmtest.I32, wasmtest.I32, wasmtest.I32}
	operands := []byte{0x20, 0, 0x20, 1, 0x20, 2}
	wasm := wasmtest.Module{
		MemoryPages: movedBytes >> 16, Memory: "memory",
		Funcs: []wasmtest.Func{
			{Export: "copy", Params: three, Body: wasmtest.Join(operands, []byte{0xfc, 10, 0, 0})},
			{Export: "fill", Params: three, Body: wasmtest.Join(operands, []byte{0xfc, 11, 0})},
			{Export: "init", Params: three, Body: wasmtest.Join(operands, []byte{0xfc, 8, 0, 0})},
			{Export: "drop", Params: three, Body: []byte{0xfc, 9, 0}},
		},
	}.Bytes()
	code := 8
	for wasm[code] != 10 {
		size, n := binary.Uvarint(wasm[code+1:])
		code += 1 + n + int(size)
	}
	segment := make([]byte, 1<<20)
	for i := range segment {
		segment[i] = byte(i>>4) ^ byte(i>>12)
	}
	counted := wasmtest.Join(wasm[:code], wasmtest.Section(nil, 12, []byte{1}), wasm[code:])
	return wasmtest.Section(counted, 11, append(wasmtest.Uint([]byte{1, 1}, len(segment)), segment...))
}

// Long moves come to the host in between, and do what one instruction does:
// with overlapping ends, at the limits of the memory, and beyond them.
func TestLongMovesAreMadeInPieces(t *testing.T) {
	t.Parallel()
	const piece = 256 << 10
	yields := 0
	plain, metered := movers(t, nil), movers(t, func() { yields++ })
	for _, test := range []struct {
		function         string
		to, what, length uint64
		yields           int
	}{
		{"copy", 0, 1, piece, 0},
		{"copy", 0, 1, piece + 1, 1},
		{"copy", 1, 0, piece + 1, 1},
		{"copy", 0, 100_000, 3*piece + 7, 3},
		{"copy", 100_000, 0, 3*piece + 7, 3},
		{"copy", 5, 5, 2 * piece, 1},
		{"copy", 0, 3 << 20, 1 << 20, 3},
		{"copy", 3 << 20, 0, 1 << 20, 3},
		{"copy", 3<<20 + 1, 0, 1 << 20, 0},
		{"copy", 0, 3<<20 + 1, 1 << 20, 0},
		{"copy", 0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0},
		{"fill", 0, 7, movedBytes, 15},
		{"fill", 3, 0x1ff, 2*piece + 1, 2},
		{"fill", 3, 9, piece, 0},
		{"fill", 1, 7, movedBytes, 0},
		{"fill", 0xffff_ffff, 7, 0xffff_ffff, 0},
		{"init", 9, 0, 1 << 20, 3},
		{"init", 9, 7, 2*piece + 1, 2},
		{"init", 3<<20 + 1, 0, 1 << 20, 0},
		{"init", 0, 1, 1 << 20, 0},
		{"init", 0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0},
		{"drop", 0, 0, 0, 0},
		{"init", 0, 0, 1 << 20, 0},
	} {
		t.Run(fmt.Sprintf("%s %d %d %d", test.function, test.to, test.what, test.length), func(t *testing.T) {
			yields = 0
			var memory [2][]byte
			var failed [2]string
			for i, m := range []api.Module{plain, metered} {
				memory[i], _ = m.Memory().Read(0, movedBytes)
				for k := range memory[i] {
					memory[i][k] = byte(k) ^ byte(k>>8) ^ byte(k>>16)
				}
				if _, err := m.ExportedFunction(test.function).Call(t.Context(), test.to, test.what, test.length); err != nil {
					failed[i] = err.Error()[:20]
				}
			}
			if !bytes.Equal(memory[0], memory[1]) || failed[0] != failed[1] {
				t.Errorf("in pieces it does not do the same: %q, %q", failed[0], failed[1])
			}
			if yields != test.yields {
				t.Errorf("%d yields, want %d", yields, test.yields)
			}
		})
	}
}

// movers instantiates the module, metered if there is something to call.
func movers(t *testing.T, yield func()) api.Module {
	t.Helper()
	ctx := t.Context()
	r := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	p := rewrite(t, mover(), yield != nil)
	if yield != nil {
		_, err := r.NewHostModuleBuilder(instrument.YieldModule).NewFunctionBuilder().
			WithFunc(yield).Export(instrument.YieldName).Instantiate(ctx)
		if err != nil {
			t.Fatal(err)
		}
	}
	m, err := r.Instantiate(ctx, p.Wasm)
	if err != nil {
		t.Fatal(err)
	}
	if yield != nil {
		machine{Module: m, program: p}.fill(aLot)
	}
	return m
}

// A long segment that nothing names may stand without the count of segments:
// nothing that is added may name it, either.
func TestALongSegmentWithoutACountStaysValid(t *testing.T) {
	t.Parallel()
	wasm := wasmtest.Module{MemoryPages: 1, Funcs: []wasmtest.Func{{Export: "f"}}}.Bytes()
	wasm = wasmtest.Section(wasm, 11, append(wasmtest.Uint([]byte{1, 1}, 1<<20), make([]byte, 1<<20)...))
	for _, fuel := range []bool{false, true} {
		if err := compiles(rewrite(t, wasm, fuel).Wasm); err != nil {
			t.Errorf("fuel %v: %v", fuel, err)
		}
	}
}
