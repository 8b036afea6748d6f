package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// Where the guests of this file keep what they read of the stand-ins.
const (
	readAt    = 2048
	readBytes = 40
)

// reading draws 16 random bytes, reads the wall clock and the monotonic clock, and sleeps a second in between. Functions 0 to 2 are
// random_get, clock_time_get and poll_oneoff.
func reading() []byte {
	const subscription, event, count = 2400, 2500, 2600
	return wasmtest.Join(
		wasmtest.Const(readAt), wasmtest.Const(16), []byte{wasmtest.Call, 0, wasmtest.Drop},
		wasmtest.Const(0), []byte{wasmtest.I64Const, 0}, wasmtest.Const(readAt+16), []byte{wasmtest.Call, 1, wasmtest.Drop},
		// store(subscription + 24, 1 second): the timeout of a clock
		wasmtest.Const(subscription+24), []byte{wasmtest.I64Const, 0x80, 0x94, 0xeb, 0xdc, 0x03, 0x37, 3, 0},
		wasmtest.Const(subscription), wasmtest.Const(event), wasmtest.Const(1), wasmtest.Const(count), []byte{wasmtest.Call, 2, wasmtest.Drop},
		wasmtest.Const(1), []byte{wasmtest.I64Const, 0}, wasmtest.Const(readAt+24), []byte{wasmtest.Call, 1, wasmtest.Drop},
		wasmtest.Const(readAt+32), wasmtest.Const(8), []byte{wasmtest.Call, 0, wasmtest.Drop})
}

// readers are modules that return what they read of the stand-ins, one of each
// kind that is reset in its own way. Each reads them when it starts, too.
func readers() map[string]wasmtest.Module {
	i64 := []byte{wasmtest.I64}
	initialize := wasmtest.Func{Export: abi.ExportInitialize, Body: wasmtest.Join(reading(), reading())}
	imports := []wasmtest.Import{
		{Module: wasiModule, Name: "random_get", Params: []byte{wasmtest.I32, wasmtest.I32}, Results: i32s(1)},
		{Module: wasiModule, Name: "clock_time_get", Params: []byte{wasmtest.I32, wasmtest.I64, wasmtest.I32}, Results: i32s(1)},
		{Module: wasiModule, Name: "poll_oneoff", Params: i32s(4), Results: i32s(1)},
	}
	answer := wasmtest.Join([]byte{wasmtest.I64Const}, big(readAt), []byte{wasmtest.I64Const, 32, wasmtest.I64Shl},
		[]byte{wasmtest.I64Const, readBytes, wasmtest.I64Or})
	direct := small(wasmtest.Join(reading(), answer))
	direct.Imports, direct.Funcs = imports, append(direct.Funcs, initialize)

	retired := direct
	retired.TableMin = 1
	retired.Funcs = append([]wasmtest.Func{}, direct.Funcs...)
	retired.Funcs[1].Body = wasmtest.Join([]byte{wasmtest.I32Const, 0, 0xd0, 0x70, 0x26, 0}, direct.Funcs[1].Body) // table.set(0, null)

	const alloc, store, output = 3, 4, 5
	body := wasmtest.Join(reading(), []byte{wasmtest.I64Const, readBytes, wasmtest.Call, alloc, wasmtest.GlobalSet, 0})
	for at := int32(0); at < readBytes; at += 8 {
		body = wasmtest.Join(body, []byte{wasmtest.GlobalGet, 0, wasmtest.I64Const, byte(at), 0x7c},
			wasmtest.Const(readAt+at), []byte{0x29, 3, 0, wasmtest.Call, store}) // store(block + at, load(readAt + at))
	}
	body = wasmtest.Join(body, []byte{wasmtest.GlobalGet, 0, wasmtest.I64Const, readBytes, wasmtest.Call, output, wasmtest.I32Const, 0})
	extism := wasmtest.Module{
		Imports: append(append([]wasmtest.Import{}, imports...),
			wasmtest.Import{Module: abi.ExtismEnv, Name: "alloc", Params: i64, Results: i64},
			wasmtest.Import{Module: abi.ExtismEnv, Name: "store_u64", Params: append(i64, i64...)},
			wasmtest.Import{Module: abi.ExtismEnv, Name: "output_set", Params: append(i64, i64...)}),
		Funcs:       []wasmtest.Func{{Export: abi.ExportNode, Results: i32s(1), Body: body}, initialize},
		MemoryPages: 1, Memory: abi.ExportMemory, LongGlobals: 1,
	}
	return map[string]wasmtest.Module{"direct": direct, "changes a table": retired, "extism": extism}
}

func i32s(n int) []byte { return bytes.Repeat([]byte{wasmtest.I32}, n) }

// TestAccept_FX7_EveryCallBeginsWithTheSameStandIns: the random stream and the clocks of a call do not depend on what the module drew when
// it started, on how it was warmed, on the calls before, or on the way of resetting.
func TestAccept_FX7_EveryCallBeginsWithTheSameStandIns(t *testing.T) {
	t.Parallel()
	for name, module := range readers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := ""
			for _, reset := range append([]Reset{ResetAuto}, Resets()...) {
				for warm := range 4 {
					m := must.Get(open(t, Config{Reset: reset}).Load(t.Context(), module.Bytes(), slices.Repeat([]Warm{{Call: abi.CallNode}}, warm)...))(t)
					for number := range 6 {
						out := must.Get(m.Call(t.Context(), abi.CallNode, nil))(t)
						got := fmt.Sprintf("%x for %d units of fuel", out.Bytes, *out.Fuel)
						if want == "" {
							want = got
						}
						if got != want || len(out.Bytes) != readBytes {
							t.Errorf("reset %s, %d warm calls, call %d: %s, want %s", reset, warm, number, got, want)
						}
					}
				}
			}
		})
	}
}

// A failing call reports what the start of the module and the call wrote to the standard error, and nothing of other calls.
func TestEveryCallBeginsWithTheSameStandardError(t *testing.T) {
	t.Parallel()
	write := wasmtest.Join(
		wasmtest.Const(2), wasmtest.Const(100), wasmtest.Const(1), wasmtest.Const(200), []byte{wasmtest.Call, 0, wasmtest.Drop})
	// The vector at 100 is the 4 bytes at 8.
	vector := wasmtest.Join(wasmtest.Const(100), wasmtest.Const(8), []byte{0x36, 2, 0}, wasmtest.Const(104), wasmtest.Const(4), []byte{0x36, 2, 0})
	m := small(wasmtest.Join(write, []byte{wasmtest.LocalGet, 1, wasmtest.If, wasmtest.Void, wasmtest.Unreachable, wasmtest.End, wasmtest.I64Const, 0}))
	m.Imports = []wasmtest.Import{{Module: wasiModule, Name: "fd_write", Params: i32s(4), Results: i32s(1)}}
	m.Funcs = append(m.Funcs, wasmtest.Func{Export: abi.ExportInitialize, Body: wasmtest.Join(vector, write)})
	m.Data = []byte("said")
	for _, reset := range Resets() {
		for warm := range 3 {
			loaded := must.Get(open(t, Config{Reset: reset}).Load(t.Context(), m.Bytes(), slices.Repeat([]Warm{{Call: abi.CallNode}}, warm)...))(t)
			for range 3 {
				must.Get(loaded.Call(t.Context(), abi.CallNode, nil))(t)
				_, err := loaded.Call(context.Background(), abi.CallNode, []byte("fail"))
				var failed *CallError
				if !errors.As(err, &failed) || failed.Stderr != "saidsaid" {
					t.Errorf("reset %s, %d warm calls: %v, standard error %q", reset, warm, err, failed.Stderr)
				}
			}
		}
	}
}
