package instrument_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// tightSieve counts the primes below its first parameter; the other parameters
// are its locals. It is what a C compiler makes of it.
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

const sieveBelow, sievePrimes = 60_000, 6057

// ways are the ways to run a module that the benchmarks compare.
var ways = []struct {
	name            string
	fuel, interrupt bool
}{{"plain", false, false}, {"fuel", true, false}, {"runtime", false, true}}

// start runs a module for a benchmark.
func start(tb testing.TB, wasm []byte, fuel, interrupt bool) api.Module {
	tb.Helper()
	ctx := context.Background()
	p := rewrite(tb, wasm, fuel)
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2).WithCloseOnContextDone(interrupt))
	tb.Cleanup(func() { _ = r.Close(ctx) })
	return runIn(tb, r, p)
}

func benchmark(b *testing.B, wasm []byte, export string, want uint64, args ...uint64) {
	b.Helper()
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			ctx := b.Context()
			m := start(b, wasm, way.fuel, way.interrupt)
			f := m.ExportedFunction(export)
			stack := make([]uint64, len(args))
			for b.Loop() {
				copy(stack, args)
				if err := f.CallWithStack(ctx, stack); err != nil || stack[0] != want {
					b.Fatal(stack[0], err)
				}
			}
		})
	}
}

// BenchmarkTight is the worst case: a loop of seven instructions.
func BenchmarkTight(b *testing.B) {
	benchmark(b, tightSieve(), "sieve", sievePrimes, sieveBelow, 0, 0, 0)
}

func BenchmarkGoSieve(b *testing.B) { benchmark(b, goGuest(b), "sieve", sievePrimes, sieveBelow) }
func BenchmarkGoWords(b *testing.B) { benchmark(b, goGuest(b), "words", 2005, 10_000) }

// BenchmarkRewrite is the time to rewrite a module of the Go toolchain.
func BenchmarkRewrite(b *testing.B) {
	file := parse(b, goGuest(b))
	b.SetBytes(int64(file.Size()))
	for b.Loop() {
		if _, err := instrument.Rewrite(file, instrument.Options{Fuel: true}); err != nil {
			b.Fatal(err)
		}
	}
}
