package fuelzoo_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/testkit/fuelzoo"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var errNoFuel = errors.New("no fuel")

// run runs a loop in slices of fuel, as long as more gives it the next one.
func run(t *testing.T, l fuelzoo.Loop, slice int64, more func(spent int64) bool) error {
	t.Helper()
	ctx := t.Context()
	file := must.Get(wasmfile.Parse(l.Wasm))(t, l.Name)
	p := must.Get(instrument.Rewrite(file, instrument.Options{Fuel: true, MaxTableEntries: 1000}))(t, l.Name)
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(1024).WithCoreFeatures(api.CoreFeaturesV2))
	defer func() { _ = r.Close(context.Background()) }()
	var spent int64
	yield := func(_ context.Context, m api.Module, _ []uint64) {
		fuel, ok := m.ExportedGlobal(p.Fuel).(api.MutableGlobal)
		if left := int64(fuel.Get()); ok && left < 0 {
			spent += slice - left
			if !more(spent) {
				panic(errNoFuel)
			}
			fuel.Set(uint64(slice))
		}
	}
	must.Get(r.NewHostModuleBuilder(instrument.YieldModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(yield), nil, nil).Export(instrument.YieldName).Instantiate(ctx))(t)
	m := must.Get(r.InstantiateWithConfig(ctx, p.Wasm, wazero.NewModuleConfig().WithStartFunctions()))(t, l.Name)
	_, err := m.ExportedFunction("f").Call(ctx)
	return err
}

// TestAccept_FX5_FuelEndsEveryLoop: each loop of the zoo spends fuel, wherever it is, until it has none. It does not show that this takes
// less than the wall clock, which depends on the machine: "make fuel-zoo" measures that, and docs/limits.md names the loops that take
// longer.
func TestAccept_FX5_FuelEndsEveryLoop(t *testing.T) {
	t.Parallel()
	for _, l := range fuelzoo.All() {
		slices := 0
		err := run(t, l, 1000, func(int64) bool { slices++; return slices < 3 })
		check.Is(t, err, errNoFuel, l.Name, "ended with")
	}
}

// TestAccept_FX5_EveryInstructionHasAPriceAndALoop: the rewriting takes an instruction if and only if it has a price, and all that compute,
// load or store are in the zoo.
func TestAccept_FX5_EveryInstructionHasAPriceAndALoop(t *testing.T) {
	t.Parallel()
	loops := fuelzoo.Measured()
	for _, prefix := range []wasmfile.Opcode{0, 0xfc << 16, 0xfd << 16} {
		for op := prefix; op <= prefix|0xff; op++ {
			class, priced := instrument.Price(op)
			measured := slices.Contains(loops, op)
			if measured && !priced {
				t.Errorf("0x%x is in the zoo, and has no price", op)
			}
			if priced && class.Units > 0 && !measured && !fuelzoo.Otherwise(op) {
				t.Errorf("0x%x (%s) has a price, and no loop", op, class.Name)
			}
		}
	}
}
