package sandbox

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// spinning are guests that never come to an end: in a loop of one instruction, in instructions that take long each, in loads that miss
// every cache, in calls of the host for memory that it does not give, and in code of the Go toolchain.
func spinning(tb testing.TB, limits Limits) map[string]*Module {
	tb.Helper()
	forever := func(body ...[]byte) []byte {
		return wasmtest.Join([]byte{wasmtest.Loop, wasmtest.Void}, wasmtest.Join(body...), []byte{wasmtest.Br, 0, wasmtest.End, wasmtest.I64Const, 0})
	}
	zero, half, all := wasmtest.Const(0), wasmtest.Const(32<<20), wasmtest.Const(64<<20)
	bodies := map[string][]byte{
		"loop": endless,
		"fill": forever(zero, zero, all, []byte{0xfc, 11, 0}),
		"copy": forever(half, zero, half, []byte{0xfc, 10, 0, 0}),
		"grow": forever(wasmtest.Const(1), []byte{wasmtest.MemoryGrow, 0, wasmtest.Drop}),
		// local 0 = (load(local 0) + local 0 + a prime) & 64 MiB - 4: a page of its own each time
		"load": forever([]byte{wasmtest.LocalGet, 0, wasmtest.I32Load, 2, 0, wasmtest.LocalGet, 0, wasmtest.I32Add},
			wasmtest.Const(27_644_437), []byte{wasmtest.I32Add}, wasmtest.Const(64<<20-4), []byte{0x71, 0x21, 0}),
	}
	e := open(tb, Config{Limits: limits})
	modules := map[string]*Module{"go": goModuleOf(tb, ResetAuto, limits)}
	for name, body := range bodies {
		m := small(body)
		if name != "loop" && name != "grow" {
			m.MemoryPages = 1024
		}
		modules[name] = load(tb, e, m.Bytes())
	}
	return modules
}

// endlessLimits end nothing within a test.
var endlessLimits = Limits{Fuel: maxFuel, WallClock: time.Hour}

// spin has a guest spin until the function that it gives is called, which waits for its end.
func spin(tb testing.TB, m *Module) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	tb.Cleanup(cancel) // closing the engine waits for the guest, also where the test fails before it stops it
	ended := make(chan error, 1)
	go func() {
		_, err := m.Call(ctx, abi.CallNode, []byte("l"))
		ended <- err
	}()
	for m.gate.insiders() == 0 {
		runtime.Gosched()
	}
	return func() {
		tb.Helper()
		cancel()
		var failed *CallError
		if err := <-ended; !errors.As(err, &failed) || failed.Cause != CauseCancelled {
			tb.Errorf("a spinning guest ended with %v", err)
		}
	}
}

// TestAccept_SB3_ASpinningGuestStopsNobody: while guests spin on every processor the collector collects, other calls return, and a
// cancelled call ends at once. The limits are far from what is measured, which the log has, and nearer than the end of the guests, which
// spin for ever.
//
//nolint:paralleltest // the processors are to spin in these guests, and in nothing else
func TestAccept_SB3_ASpinningGuestStopsNobody(t *testing.T) {
	other := goModule(t, Limits{})
	for name, m := range spinning(t, endlessLimits) {
		t.Run(name, func(t *testing.T) {
			var stops []func()
			for range runtime.GOMAXPROCS(0) {
				stops = append(stops, spin(t, m))
			}
			within(t, 5*time.Minute, "a collection", runtime.GC)
			within(t, 5*time.Minute, "a hundred calls", func() {
				for range 100 {
					if got := call(t, other, "echo"); string(got) != "echo" {
						t.Errorf("got %q", got)
					}
				}
			})
			for _, stop := range stops {
				within(t, 5*time.Minute, "the end of a guest that spins", stop)
			}
		})
	}
}

// within does something that must not take longer than that.
func within(t *testing.T, limit time.Duration, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	start := time.Now()
	go func() { do(); close(done) }()
	select {
	case <-done:
		t.Logf("%s took %s", what, time.Since(start))
	case <-time.After(limit):
		t.Fatalf("%s did not happen within %s", what, limit)
	}
}
