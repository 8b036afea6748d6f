package sandbox

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	expect "github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// extismGuest is the guest of testdata/extism, built once.
var extismGuest = sync.OnceValues(func() ([]byte, error) { return buildGuest("extism") })

func extismWasm(tb testing.TB) []byte {
	tb.Helper()
	return must.Get(extismGuest())(tb)
}

func extismModule(tb testing.TB, reset Reset) *Module {
	tb.Helper()
	limits := Limits{WallClock: time.Minute, Fuel: 300_000_000, MemoryBytes: 16 << 20}
	return load(tb, open(tb, Config{Reset: reset, Limits: limits, CacheDir: cacheDir}), extismWasm(tb))
}

// fewResets are two of the ways where tests are to be short: under the race detector a guest of the Go toolchain takes many times as long.
func fewResets() []Reset {
	if testing.Short() {
		return []Reset{ResetAuto, ResetCompare}
	}
	return resets
}

// Extism's own SDK is the oracle: what a guest sees of the kernel there, it sees here.
func TestExtismBesideItsSDK(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/internal/sandbox")
	ctx := context.Background()
	config := extism.PluginConfig{EnableWasi: true}
	compiled := must.Get(extism.NewCompiledPlugin(ctx, extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: extismWasm(t)}}}, config, nil))(t)
	defer func() { _ = compiled.Close(ctx) }()
	m := extismModule(t, ResetAuto)
	inputs := []string{"", "e", "echo", "c", "v", "b", "i", "i234567", "g", "q", "e" + strings.Repeat("0123456789", 10_001), "E", "S", "R"}
	for _, input := range inputs {
		plugin := must.Get(compiled.Instance(ctx, extism.PluginInstanceConfig{}))(t)
		code, want, wantErr := plugin.Call(abi.ExportNode, []byte(input))
		got, gotErr := m.Call(ctx, abi.CallNode, []byte(input))
		if failed := wantErr != nil || code != 0; failed != (gotErr != nil) {
			t.Errorf("%.10q: SDK %d %v, here %v", input, code, wantErr, gotErr)
		} else if !failed && string(got.Bytes) != string(want) {
			t.Errorf("%.10q: SDK %.40q, here %.40q", input, want, got.Bytes)
		} else if wantErr != nil && !strings.Contains(gotErr.Error(), wantErr.Error()) {
			t.Errorf("%.10q: SDK says %v, here %v", input, wantErr, gotErr)
		}
		_ = plugin.Close(ctx)
	}
}

// Whatever an Extism guest does wrong ends its call by name, and the next call begins in pristine memory, variables and blocks included.
func TestAccept_PL3_ExtismGuestsAreContained(t *testing.T) {
	t.Parallel()
	failures := map[string]Cause{
		"E": CauseFailed, "S": CauseFailed, "R": CauseFailed, "L": CauseTrap, "O": CauseOutputOutOfBounds, "H": CauseOutputTooLarge,
		"B": CauseOutOfMemory, "A": CauseFuel, "V": CauseOutOfMemory, "F": CauseFuel, "N": CauseDenied,
	}
	for _, reset := range fewResets() {
		t.Run(reset.String(), func(t *testing.T) {
			t.Parallel()
			m := extismModule(t, reset)
			for what, cause := range failures {
				err := callError(t, m, what)
				expect.Equal(t, err.Cause, cause, what, "fails with", err)
				if what == "L" && !strings.Contains(err.Stderr, "said before") {
					t.Errorf("the log is not in the report: %q", err.Stderr)
				}
				for range 3 {
					if c, v := call(t, m, "c"), call(t, m, "v"); string(c) != "1" || string(v) != "1 0" {
						t.Fatalf("after %q: count %q, variable %q", what, c, v)
					}
				}
			}
		})
	}
}

// The same bytes cost the same fuel in every way of resetting.
func TestAccept_SB1_ExtismFuel(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/internal/sandbox")
	var fuel uint64
	for _, reset := range fewResets() {
		m := extismModule(t, reset)
		for range 5 {
			out := must.Get(m.Call(context.Background(), abi.CallNode, []byte("e"+strings.Repeat("x", 1000))))(t)
			if fuel == 0 {
				fuel = *out.Fuel
			}
			expect.Equal(t, *out.Fuel, fuel, reset, "fuel", "before")
		}
	}
}

func TestExtismSurface(t *testing.T) {
	t.Parallel()
	e := open(t, Config{})
	node := wasmtest.Func{Export: abi.ExportNode, Results: []byte{wasmtest.I32}, Body: []byte{wasmtest.I32Const, 0}}
	alloc := wasmtest.Import{Module: abi.ExtismEnv, Name: "alloc", Params: []byte{wasmtest.I64}, Results: []byte{wasmtest.I64}}
	recall := wasmtest.Import{Module: abi.ExtismUser, Name: "recall", Params: []byte{wasmtest.I64}, Results: []byte{wasmtest.I64}}
	module := func(node wasmtest.Func, imports ...wasmtest.Import) []byte {
		return wasmtest.Module{Imports: imports, Funcs: []wasmtest.Func{node}, MemoryPages: 1, Memory: abi.ExportMemory}.Bytes()
	}
	expect.Equal(t, must.Get(e.Load(context.Background(), module(node, alloc)))(t).Info().Binding, Extism, "an Extism module without an allocator")
	pointers := node
	pointers.Params, pointers.Results = []byte{wasmtest.I32, wasmtest.I32}, []byte{wasmtest.I64}
	pointers.Body = []byte{wasmtest.I64Const, 0}
	unknown := alloc
	unknown.Name = "memory_everywhere"
	wrong := alloc
	wrong.Params = []byte{wasmtest.I32}
	for name, c := range map[string]struct {
		wasm []byte
		code FaultCode
	}{
		"the direct signature":         {module(pointers, alloc), FaultWrongSignature},
		"an unknown function":          {module(node, unknown), FaultForbiddenImport},
		"a signature of its own":       {module(node, wrong), FaultWrongSignature},
		"a capability without a grant": {module(node, alloc, recall), FaultForbiddenImport},
	} {
		_, err := e.Load(context.Background(), c.wasm)
		var rejected *LoadError
		if !errors.As(err, &rejected) || !rejected.Has(c.code) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	info := must.Get(Inspect(module(node, alloc, recall)))(t)
	must.Get(e.LoadInspected(context.Background(), info, []abi.Capability{abi.CapRecall}))(t, "a granted capability")
}

// A capability is a user function of Extism: a block with the request, for one with the answer.
func TestAccept_PL8_ExtismCapability(t *testing.T) {
	t.Parallel()
	i64 := []byte{wasmtest.I64}
	env := func(name string, params, results []byte) wasmtest.Import {
		return wasmtest.Import{Module: abi.ExtismEnv, Name: name, Params: params, Results: results}
	}
	module := wasmtest.Module{
		Imports: []wasmtest.Import{
			env("input_offset", nil, i64), env("length", i64, i64), env("output_set", append(i64, i64...), nil),
			{Module: abi.ExtismUser, Name: "recall", Params: i64, Results: i64},
		},
		Funcs: []wasmtest.Func{
			{Export: abi.ExportNode, Results: []byte{wasmtest.I32}, Body: []byte{wasmtest.Call, 0, wasmtest.Call, 3, wasmtest.Call, 5, wasmtest.I32Const, 0}},
			{Params: i64, Body: []byte{wasmtest.LocalGet, 0, wasmtest.LocalGet, 0, wasmtest.Call, 1, wasmtest.Call, 2}},
		},
		MemoryPages: 1, Memory: abi.ExportMemory,
	}
	m := must.Get(loadGranted(t, open(t, Config{}), module, abi.CapRecall))(t)
	for _, name := range []string{"first", "second"} {
		out := must.Get(askFor(m, &library{name: name}, recallQuery(3)))(t)
		cases, err := codec.DecodePriorCases(out.Bytes, len(out.Bytes))
		if err != nil || len(cases.Cases) != 1 || cases.Cases[0].CaseID != name {
			t.Errorf("asked the %s broker: %v, %v", name, cases, err)
		}
	}
	_, err := askFor(m, &library{name: "first"}, []byte("nonsense"))
	var failed *CallError
	if !errors.As(err, &failed) || failed.Cause != CauseBadRequest {
		t.Errorf("nonsense: %v", err)
	}
}

// A block so large that its size overflows ends the call for want of memory, not as a fault of the host.
func TestExtismGuestsCannotOverflowTheSizeOfABlock(t *testing.T) {
	t.Parallel()
	length := []byte{0xc0, 0x99, 0xb3, 0xe6, 0xcc, 0x99, 0xb3, 0xe6, 0x4c} // 0xcccc_cccc_cccc_ccc0, signed
	m := load(t, open(t, Config{}), wasmtest.Module{
		Imports: []wasmtest.Import{{Module: abi.ExtismEnv, Name: "alloc", Params: []byte{wasmtest.I64}, Results: []byte{wasmtest.I64}}},
		Funcs: []wasmtest.Func{{Export: abi.ExportNode, Results: []byte{wasmtest.I32}, Body: wasmtest.Join(
			[]byte{wasmtest.I64Const}, length, []byte{wasmtest.Call, 0, wasmtest.Drop, wasmtest.I32Const, 0})}},
		MemoryPages: 1, Memory: abi.ExportMemory,
	}.Bytes())
	_, err := m.Call(t.Context(), m.Info().Calls[0], nil)
	if failure, ok := errors.AsType[*CallError](err); !ok || failure.Cause != CauseOutOfMemory {
		t.Errorf("got %v", err)
	}
}
