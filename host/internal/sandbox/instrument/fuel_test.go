package instrument_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

const aLot = 1 << 40

// one is a module of the function f, whose body it is, with a memory and a table, and a function 1 that does nothing.
func one(params []byte, body ...[]byte) []byte {
	return wasmtest.Module{
		MemoryPages: 2, Memory: "memory", TableMin: 8,
		Funcs: []wasmtest.Func{{Export: "f", Params: params, Body: wasmtest.Join(body...)}, {Body: []byte{0x01}}},
	}.Bytes()
}

// spent calls f, and gives what it cost.
func (m machine) spent(tb testing.TB, args ...uint64) int64 {
	tb.Helper()
	m.fill(aLot)
	must.Get(m.ExportedFunction("f").Call(tb.Context(), args...))(tb)
	return aLot - m.left()
}

// What code costs, worked out by hand from the price list.
func TestCostOfBlocks(t *testing.T) {
	t.Parallel()
	i32 := []byte{wasmtest.I32}
	get := []byte{0x20, 0}
	c, drop, end := wasmtest.Const, []byte{0x1a}, []byte{0x0b}
	paid := wasmtest.Join(c(1), []byte{0x45, 0x45}, drop) // 2
	countdown := wasmtest.Join([]byte{0x03, 0x40}, get, c(1), []byte{0x6b, 0x22, 0, 0x0d, 0}, end)
	tests := []struct {
		name   string
		params []byte
		body   []byte
		costs  map[uint64]int64 // by the argument
	}{
		{"nothing", nil, nil, map[uint64]int64{0: 0}},
		{"straight", nil, slices.Concat(paid, paid), map[uint64]int64{0: 4}},
		{"if", i32, slices.Concat(get, []byte{0x04, 0x40}, paid, paid, []byte{0x05}, paid, end, paid), map[uint64]int64{0: 7, 1: 9}},
		{"loop", i32, slices.Concat(countdown, paid), map[uint64]int64{1: 6, 1000: 4002}},
		{
			"switch", i32, slices.Concat([]byte{0x02, 0x40, 0x02, 0x40, 0x02, 0x40}, get, []byte{0x0e, 2, 0, 1, 2}, end,
				paid, []byte{0x0c, 1}, end, paid, paid, end, paid),
			map[uint64]int64{0: 6 + 4 + 1 + 4, 1: 6 + 6 + 4, 2: 6 + 2 + 2, 77: 6 + 2 + 2},
		},
		{"block without a branch", nil, slices.Concat([]byte{0x02, 0x40}, paid, end, paid), map[uint64]int64{0: 4}},
		{"branch out", i32, slices.Concat(get, []byte{0x0d, 0}, paid), map[uint64]int64{0: 3, 1: 1}},
		{"branch out of a loop", i32, slices.Concat([]byte{0x03, 0x40}, get, []byte{0x0d, 1}, paid, end, paid), map[uint64]int64{0: 7, 1: 3}},
		{"return", i32, slices.Concat(get, []byte{0x04, 0x40, 0x0f}, end, paid), map[uint64]int64{0: 5, 1: 2}},
		{"switch out", i32, slices.Concat([]byte{0x02, 0x40}, get, []byte{0x0e, 1, 0, 1}, end, paid), map[uint64]int64{0: 10, 1: 6}},
		{"call", nil, slices.Concat([]byte{0x10, 1}, paid), map[uint64]int64{0: 4 + 2}},
		{"load and store", nil, slices.Concat(c(0), c(0), []byte{0x28, 0, 0, 0x36, 0, 0}), map[uint64]int64{0: 8 + 12}},
		{"division", i32, slices.Concat(get, c(3), []byte{0x6e}, drop), map[uint64]int64{7: 8}},
		{"float", nil, slices.Concat([]byte{0x43, 0, 0, 0, 0, 0x91, 0x8d}, drop), map[uint64]int64{0: 8 + 3}},
		{"vector", nil, slices.Concat([]byte{0xfd, 12}, make([]byte, 16), []byte{0xfd, 77}, drop), map[uint64]int64{0: 2}},
		{"fill", i32, slices.Concat(c(0), c(1), get, []byte{0xfc, 11, 0}), map[uint64]int64{0: 64, 80: 84, 65536: 64 + 16384}},
		{"copy", i32, slices.Concat(c(0), c(1), get, []byte{0xfc, 10, 0, 0}), map[uint64]int64{87: 85}},
		{"table fill", i32, slices.Concat(c(0), []byte{0xd0, 0x70}, get, []byte{0xfc, 17, 0}), map[uint64]int64{0: 65, 5: 70}},
		{"grow", i32, slices.Concat(get, []byte{0x40, 0}, drop), map[uint64]int64{3: 256 + 3*8192, 0: 256, 1 << 16: 256, 1<<32 - 1: 256}},
		{"table grow", i32, slices.Concat([]byte{0xd0, 0x70}, get, []byte{0xfc, 15, 0}, drop), map[uint64]int64{5: 257 + 5, 1000: 257}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for arg, want := range test.costs {
				m := run(t, rewrite(t, one(test.params, test.body), true))
				args := []uint64{arg}[:len(test.params)]
				if got := m.spent(t, args...); got != want {
					t.Errorf("f(%d) costs %d, want %d", arg, got, want)
				}
			}
		})
	}
}

// Locals that differ by the way that was taken are moved where the ways join, and what a function or a block takes and gives is handed
// over: both cost by their number, although nothing else is done.
func TestAccept_FX5_JoinsAndValuesArePaid(t *testing.T) {
	t.Parallel()
	i32 := wasmtest.I32
	many := func(n int) []byte { return slices.Repeat([]byte{i32}, n) }
	ways := func(locals int) []byte {
		var change []byte
		for i := range locals - 1 {
			change = append(change, wasmtest.Join([]byte{0x41, 1, 0x21}, wasmtest.Uint(nil, i+1))...)
		}
		return wasmtest.Join([]byte{0x20, 0, 0x04, 0x40}, change, []byte{0x0b})
	}
	turning := func(locals int) []byte { // one turn
		return wasmtest.Join([]byte{0x03, 0x40, 0x41, 1, 0x21}, wasmtest.Uint(nil, locals-1), ways(locals), []byte{0x41, 0, 0x0d, 0, 0x0b})
	}
	calling := func(params, results int) []byte {
		return wasmtest.Module{Funcs: []wasmtest.Func{
			{Export: "f", Params: []byte{i32}, Body: wasmtest.Join(slices.Repeat([]byte{0x20, 0}, params), []byte{0x10, 1}, slices.Repeat([]byte{0x1a}, results))},
			{Params: many(params), Results: many(results), Body: slices.Repeat([]byte{0x41, 0}, results)},
		}}.Bytes()
	}
	f := func(locals int, body []byte) []byte {
		return wasmtest.Module{Funcs: []wasmtest.Func{{Export: "f", Params: []byte{i32}, Locals: many(locals - 1), Body: body}}}.Bytes()
	}
	tests := []struct {
		name string
		wasm []byte
		want int64
	}{
		{"few locals", f(10, ways(10)), 1 + 2},
		{"many locals", f(1001, ways(1001)), 1 + 2 + 1000 - 12},
		{"a loop of many locals", f(1001, turning(1001)), 2*(1001-12) - 1 + 1 + 2 + 1 + 2},
		{"parameters", calling(100, 0), 4 + 100},
		{"results", calling(0, 100), 4 + 100},
	}
	for _, test := range tests {
		check.Equal(t, run(t, rewrite(t, test.wasm, true)).spent(t, 0), test.want, test.name, "units")
	}
}

// endless are functions that do not end in any time that a test has.
func endless() map[string][]byte {
	c, all := wasmtest.Const, wasmtest.Const(128<<10)
	tree := wasmtest.Module{Funcs: []wasmtest.Func{
		{Export: "f", Body: wasmtest.Join(c(60), []byte{0x10, 1})},
		{Params: []byte{wasmtest.I32}, Body: wasmtest.Join([]byte{0x20, 0, 0x04, 0x40},
			[]byte{0x20, 0}, c(1), []byte{0x6b, 0x10, 1, 0x20, 0}, c(1), []byte{0x6b, 0x10, 1, 0x0b})},
	}}
	repeat := func(body ...[]byte) []byte { return slices.Repeat(wasmtest.Join(body...), 300) }
	return map[string][]byte{
		"loop":          one(nil, []byte{0x03, 0x40, 0x0c, 0, 0x0b}),
		"switch":        one(nil, []byte{0x03, 0x40}, c(0), []byte{0x0e, 1, 0, 0, 0x0b}),
		"nested loops":  one(nil, []byte{0x03, 0x40, 0x03, 0x40}, c(0), []byte{0x0d, 0, 0x0b, 0x0c, 0, 0x0b}),
		"tree of calls": tree.Bytes(),
		"filling":       one(nil, repeat(c(0), c(0), all, []byte{0xfc, 11, 0})),
		"copying":       one(nil, repeat(c(0), c(0), all, []byte{0xfc, 10, 0, 0})),
	}
}

// TestAccept_SB2_EndlessGuestsEndByFuel: a guest that never ends gets its slices, is stopped when the budget is spent, at the same unit
// each time, and has not gone on for more than a block or one bulk instruction.
func TestAccept_SB2_EndlessGuestsEndByFuel(t *testing.T) {
	t.Parallel()
	const slice, slices = 100_000, 20
	for name, wasm := range endless() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first int64
			for attempt := range 3 {
				m, yields := sliced(t, rewrite(t, wasm, true), slice, slices)
				_, err := m.ExportedFunction("f").Call(t.Context())
				if !errors.Is(err, errNoFuel) {
					t.Fatalf("ended with %v", err)
				}
				check.Equal(t, *yields, slices, "slices were used")
				left := m.left()
				if attempt == 0 {
					first = left
				}
				if left != first || left >= 0 || left < -500_000 {
					t.Errorf("attempt %d: %d left, at first %d", attempt, left, first)
				}
			}
		})
	}
}

// sliced runs a program that gets its fuel in slices.
func sliced(t *testing.T, p *instrument.Program, slice int64, slices int) (machine, *int) {
	t.Helper()
	ctx := t.Context()
	r := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	yields := 0
	yield := func(_ context.Context, m api.Module, _ []uint64) {
		fuel := fuelOf(m)
		if yields++; yields == slices {
			panic(errNoFuel)
		}
		fuel.Set(uint64(int64(fuel.Get()) + slice))
	}
	must.Get(r.NewHostModuleBuilder(instrument.YieldModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(yield), nil, nil).Export(instrument.YieldName).Instantiate(ctx))(t)
	m := must.Get(r.InstantiateWithConfig(ctx, p.Wasm, wazero.NewModuleConfig().WithName("")))(t)
	in := machine{Module: m, program: p}
	in.fill(slice)
	return in, &yields
}

// TestAccept_SB2_FuelIsTheSame in every call, instance and runtime; and how it is sliced makes no difference.
func TestAccept_SB2_FuelIsTheSame(t *testing.T) {
	t.Parallel()
	p := rewrite(t, tightSieve(), true)
	spent := func(m machine) int64 {
		m.fill(aLot)
		got, err := m.ExportedFunction("sieve").Call(t.Context(), 1000, 0, 0, 0)
		if err != nil || got[0] != 168 {
			t.Fatal(got, err)
		}
		return aLot - m.left()
	}
	first := run(t, p)
	want := spent(first)
	for range 100 {
		must.Equal(t, spent(first), want, "another call spent")
	}
	check.Equal(t, spent(run(t, p)), want, "another instance spent")
	m, yields := sliced(t, p, 100, 1<<30)
	must.Get(m.ExportedFunction("sieve").Call(t.Context(), 1000, 0, 0, 0))(t)
	if got := 100*int64(*yields+1) - m.left(); got != want || *yields < 50 {
		t.Errorf("in slices it spent %d, want %d, with %d yields", got, want, *yields)
	}
}

// tightSieve counts the primes below its first parameter; the other parameters are its locals. It is what a C compiler makes of it.
func tightSieve() []byte {
	const n, i, j, count = 0, 1, 2, 3
	get, set := func(l byte) []byte { return []byte{0x20, l} }, func(l byte) []byte { return []byte{0x21, l} }
	inner := wasmtest.Join([]byte{0x03, 0x40},
		get(j), wasmtest.Const(1), []byte{0x3a, 0, 0}, // i32.store8
		get(j), get(i), []byte{0x6a, 0x22, j}, // i32.add, local.tee
		get(n), []byte{0x49, 0x0d, 0, 0x0b}) // i32.lt_u, br_if, end
	prime := wasmtest.Join(
		get(count), wasmtest.Const(1), []byte{0x6a}, set(count),
		get(i), get(i), []byte{0x6c, 0x22, j}, get(n), []byte{0x49}, // i32.mul, i32.lt_u
		[]byte{0x04, 0x40}, inner, []byte{0x0b})
	outer := wasmtest.Join([]byte{0x03, 0x40},
		get(i), []byte{0x2d, 0, 0, 0x45, 0x04, 0x40}, prime, []byte{0x0b}, // i32.load8_u, i32.eqz, if
		get(i), wasmtest.Const(1), []byte{0x6a, 0x22, i}, get(n), []byte{0x49, 0x0d, 0, 0x0b})
	body := wasmtest.Join(
		wasmtest.Const(0), wasmtest.Const(0), get(n), []byte{0xfc, 11, 0}, // memory.fill
		wasmtest.Const(2), set(i), outer, get(count))
	i32 := wasmtest.I32
	return wasmtest.Module{
		MemoryPages: 4, Memory: "memory",
		Funcs: []wasmtest.Func{{Export: "sieve", Params: []byte{i32, i32, i32, i32}, Results: []byte{i32}, Body: body}},
	}.Bytes()
}
