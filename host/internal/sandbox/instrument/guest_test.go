package instrument_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// machine is a rewritten module that runs.
type machine struct {
	api.Module
	program *instrument.Program
}

// run instantiates a program in a runtime of its own.
func run(tb testing.TB, p *instrument.Program) machine {
	tb.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2))
	tb.Cleanup(func() { _ = r.Close(ctx) })
	return runIn(tb, r, p)
}

// runIn instantiates a program as the host does it: data, then the start function, then what the toolchain wants to be called first. It has
// fuel for a day.
func runIn(tb testing.TB, r wazero.Runtime, p *instrument.Program) machine {
	tb.Helper()
	ctx := context.Background()
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	meter := r.NewHostModuleBuilder(instrument.YieldModule).NewFunctionBuilder().
		WithFunc(func(_ context.Context, m api.Module) {
			if int64(fuelOf(m).Get()) < 0 {
				panic(errNoFuel)
			}
		}).Export(instrument.YieldName)
	must.Get(meter.Instantiate(ctx))(tb)
	// A host that knows nothing: every capability answers with no bytes.
	capabilities := r.NewHostModuleBuilder(abi.CapabilityModule)
	for _, name := range []abi.Capability{abi.CapLog, abi.CapRecall, abi.CapCorrelate, abi.CapSource} {
		capabilities.NewFunctionBuilder().WithFunc(func(_, _, _, _ uint32) uint32 { return 0 }).Export(string(name))
	}
	must.Get(capabilities.Instantiate(ctx))(tb)
	return again(tb, r, p)
}

// again makes one more instance in a runtime of runIn.
func again(tb testing.TB, r wazero.Runtime, p *instrument.Program) machine {
	tb.Helper()
	ctx := context.Background()
	m := must.Get(r.InstantiateWithConfig(ctx, p.Wasm, wazero.NewModuleConfig().WithName("").WithStartFunctions()))(tb)
	in := machine{Module: m, program: p}
	in.fill(1 << 60)
	for _, s := range p.Segments {
		if !m.Memory().Write(s.Offset, s.Data) {
			tb.Fatal("a segment is not in the memory")
		}
	}
	for _, name := range []string{p.Start, "_initialize"} {
		if f := m.ExportedFunction(name); name != "" && f != nil {
			must.Get(f.Call(ctx))(tb)
		}
	}
	return in
}

var errNoFuel = errors.New("no fuel")

func (m machine) fill(fuel int64) {
	if m.program.Fuel != "" {
		fuelOf(m).Set(uint64(fuel))
	}
}

// left is the fuel that is left.
func (m machine) left() int64 { return int64(fuelOf(m).Get()) }
