package sandbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	expect "github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// The budgets of the guests in this file, in units of fuel.
const (
	smallStart = 1_000_000
	smallCall  = 10_000_000
)

// burning spends about that many units of fuel: 7 in each turn of a loop. It uses global 1.
func burning(units int32) []byte {
	return wasmtest.Join(wasmtest.Const(units/7+1), []byte{wasmtest.GlobalSet, 1, wasmtest.Loop, wasmtest.Void, wasmtest.GlobalGet, 1},
		wasmtest.Const(1), []byte{wasmtest.I32Sub, wasmtest.GlobalSet, 1, wasmtest.GlobalGet, 1, 0x0d, 0, wasmtest.End})
}

// burner spends fuel in its start section, in _initialize and in its calls. A call
// returns as many bytes as calls were made in the instance, itself included.
func burner(start, initialize, node int32, restorable bool) []byte {
	m := small(wasmtest.Join(burning(node),
		[]byte{wasmtest.GlobalGet, 0}, wasmtest.Const(1), []byte{wasmtest.I32Add, wasmtest.GlobalSet, 0, wasmtest.GlobalGet, 0, wasmtest.I64ExtendU}))
	m.Globals, m.TableMin = 2, 1
	m.Funcs = append(m.Funcs,
		wasmtest.Func{Export: abi.ExportInitialize, Body: burning(initialize)},
		wasmtest.Func{Body: burning(start)})
	if !restorable { // table.set
		m.Funcs = append(m.Funcs, wasmtest.Func{Body: []byte{wasmtest.I32Const, 0, 0xd0, 0x70, 0x26, 0}})
	}
	index := 3
	m.Start = &index
	return m.Bytes()
}

// TestAccept_FX6_LoadingHasOneBudgetOfFuel: what runs while a module is loaded shares one budget of fuel. A start beyond it is rejected, a
// warm-up call that would exceed it is left out.
func TestAccept_FX6_LoadingHasOneBudgetOfFuel(t *testing.T) {
	t.Parallel()
	warm := func(n int) []Warm { return slices.Repeat([]Warm{{Call: abi.CallNode}}, n) }
	tests := []struct {
		name                    string
		start, initialize, node int32
		warm                    int
		want                    int // calls that the first one finds made, itself included; 0: rejected
	}{
		{"little", 1000, 1000, 1000, 3, 4},
		{"start section", smallStart + 5000, 0, 0, 0, 0},
		{"start section and _initialize", smallStart * 6 / 10, smallStart * 6 / 10, 0, 0, 0},
		{"one warm-up call", 0, 0, smallStart + 5000, 1, 1},
		{"several warm-up calls", 0, 0, smallStart * 4 / 10, 3, 1},
		{"warm-up calls within the budget", 0, 0, smallStart * 3 / 10, 3, 4},
		{"all together", smallStart * 2 / 10, smallStart * 1 / 10, smallStart * 3 / 10, 2, 1},
		{"no room to repeat the start", smallStart * 6 / 10, 0, 1000, 1, 1},
	}
	for _, test := range tests {
		for _, restorable := range []bool{true, false} {
			e := open(t, Config{Limits: Limits{Fuel: smallCall, StartFuel: smallStart}})
			m, err := e.Load(t.Context(), burner(test.start, test.initialize, test.node, restorable), warm(test.warm)...)
			if test.want == 0 {
				if codes := faults(t, err); !slices.Equal(codes, []FaultCode{FaultStart}) ||
					!strings.Contains(err.Error(), "fuel_exhausted") || !strings.Contains(err.Error(), "the limit for loading the module is 1000000") {
					t.Errorf("%s, restorable %t: %v", test.name, restorable, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, restorable %t: %v", test.name, restorable, err)
				continue
			}
			for range 2 {
				expect.Equal(t, len(call(t, m, "x")), test.want, test.name, "restorable", restorable, "call number")
			}
		}
	}
}

// A call has its own budget, however little is left of the one for loading, and the budget for loading is never larger.
func TestTheStartHasAtMostTheFuelOfACall(t *testing.T) {
	t.Parallel()
	e := open(t, Config{Limits: Limits{Fuel: smallStart}})
	expect.Equal(t, e.Limits().StartFuel, smallStart, "the start", "units, a call")
	m := load(t, e, burner(smallStart*9/10, 0, smallStart*9/10, true))
	expect.Equal(t, len(call(t, m, "x")), 1, "call number")
	if _, err := New(t.Context(), Config{Limits: Limits{StartFuel: maxFuel + 1}}); err == nil {
		t.Error("a budget of more than 2^60 was accepted")
	}
}

// TestAccept_FX6_AnImageHoldsAtMostTheMemoryLimit: what the start and a warm-up call write stays while the module is loaded, and is no more
// than one instance may have.
func TestAccept_FX6_AnImageHoldsAtMostTheMemoryLimit(t *testing.T) {
	t.Parallel()
	const pages = 16
	grow := wasmtest.Join(wasmtest.Const(pages), []byte{wasmtest.MemoryGrow, 0, wasmtest.Drop}, // beyond the limit the second time
		[]byte{wasmtest.I32Const, 0, wasmtest.I32Const, 1, 0x3f, 0}, wasmtest.Const(16), []byte{0x74, 0xfc, 11, 0}) // memory.fill of all there is
	m := small(wasmtest.Join(grow, []byte{wasmtest.I64Const, 0}))
	m.Funcs = append(m.Funcs, wasmtest.Func{Export: abi.ExportInitialize, Body: grow})
	e := open(t, Config{Limits: Limits{MemoryBytes: (pages + 1) * pageBytes}})
	loaded := must.Get(e.Load(t.Context(), m.Bytes(), slices.Repeat([]Warm{{Call: abi.CallNode}}, 3)...))(t)
	expect.Equal(t, loaded.entry.program.pool.template.image.Size(), (pages+1)*pageBytes, "the image", "bytes, the limit")
}
