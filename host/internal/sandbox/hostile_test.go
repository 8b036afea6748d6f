package sandbox

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	expect "github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// TestAccept_PL3_GoGuestsAreContained has a module of the Go toolchain do what a guest may do wrong at run time. Each is named by its
// cause, and the next call on the same module runs.
func TestAccept_PL3_GoGuestsAreContained(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, request string
		cause         Cause
		detail        string
		stderr        string
	}{
		{"endless loop", "l", CauseWallClock, "still running after 1s", ""},
		{"memory bomb", "b", CauseOutOfMemory, "growth beyond 67108864 bytes was rejected", "out of memory"},
		{"deep recursion", "d", CauseOutOfMemory, "growth beyond 67108864 bytes was rejected", ""},
		{"huge output", "h", CauseOutputTooLarge, "2097152 bytes, the limit is 1048576", ""},
		{"output outside memory", "o", CauseOutputOutOfBounds, "100 bytes at 4294901760", ""},
		{"panic", "p", CauseTrap, "unreachable", "panic: the guest panics"},
		{"exit", "x", CauseExit, "3", ""},
		{"opening a file", "f", CauseDenied, "path_open", ""},
	}
	generous := goModule(t, Limits{WallClock: time.Hour})
	short := load(t, open(t, Config{
		Limits: Limits{WallClock: time.Second}, Now: wasmtest.Ticking(time.Millisecond), CacheDir: cacheDir,
	}), goGuest(t))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := generous
			if test.cause == CauseWallClock {
				m = short
			}
			err := callError(t, m, test.request)
			if err.Cause != test.cause || !strings.Contains(err.Detail, test.detail) {
				t.Errorf("cause %q, detail %q; want %q, %q", err.Cause, err.Detail, test.cause, test.detail)
			}
			expect.Contains(t, err.Stderr, test.stderr, "stderr")
			expect.Equal(t, err.Export, abi.ExportNode, "export")
			if want := test.cause != CauseWallClock; err.Deterministic() != want {
				t.Errorf("Deterministic() = %v", !want)
			}
			expect.Equal(t, string(call(t, m, "echo")), "echo", "the next call gave")
		})
	}
}

// TestAccept_PL3_ClockAndRandomnessAreStandIns: reading them is allowed, and gives the same in every call.
func TestAccept_PL3_ClockAndRandomnessAreStandIns(t *testing.T) {
	t.Parallel()
	m := goModule(t, Limits{})
	for _, what := range []string{"t", "r"} {
		first := call(t, m, what)
		for range 99 {
			if again := call(t, m, what); string(again) != string(first) {
				t.Fatalf("%q gave % x, then % x", what, first, again)
			}
		}
	}
	clock := call(t, m, "t")
	before := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)
	for ; len(clock) > 0; clock = clock[8:] {
		at := time.Unix(0, int64(binary.LittleEndian.Uint64(clock)))
		if passed := at.Sub(before); passed <= 0 || passed > time.Second {
			t.Errorf("the clock went from %s to %s", before, at)
		}
		before = at
	}
}

// A sleep takes no time, and the guest's clock says that it did.
func TestSleepTakesNoTime(t *testing.T) {
	t.Parallel()
	slept := time.Duration(binary.LittleEndian.Uint64(call(t, goModule(t, Limits{}), "s")))
	if slept < time.Hour || slept > time.Hour+time.Minute {
		t.Errorf("an hour of sleep took the guest %s", slept)
	}
}

func TestGuestHasNoEnvironment(t *testing.T) {
	t.Setenv("SHADOWCOURT_SECRET", "planted")
	expect.Equal(t, string(call(t, goModule(t, Limits{}), "v")), "environment:00", "the guest sees")
}

// TestAccept_PL3_TrapsAreNamed has assembled modules trap in each way.
func TestAccept_PL3_TrapsAreNamed(t *testing.T) {
	t.Parallel()
	zero := []byte{wasmtest.I64Const, 0}
	tests := []struct {
		name  string
		node  []byte
		cause Cause
		trap  string
	}{
		{"unreachable", []byte{wasmtest.Unreachable}, CauseTrap, "unreachable"},
		{"out of bounds", wasmtest.Join(wasmtest.Const(-8), []byte{wasmtest.I32Load, 2, 0, wasmtest.Drop}, zero), CauseTrap, "out_of_bounds_memory"},
		{"division", wasmtest.Join(wasmtest.Const(1), wasmtest.Const(0), []byte{wasmtest.I32DivU, wasmtest.Drop}, zero), CauseTrap, "integer_divide_by_zero"},
		{"deep recursion", []byte{wasmtest.LocalGet, 0, wasmtest.LocalGet, 1, wasmtest.Call, 1}, CauseTrap, "stack_overflow"},
		{"endless loop", wasmtest.Join([]byte{wasmtest.Loop, wasmtest.Void, wasmtest.Br, 0, wasmtest.End}, zero), CauseWallClock, "500ms"},
		{"memory bomb, then a trap", wasmtest.Join(wasmtest.Const(20000), []byte{wasmtest.MemoryGrow, 0, wasmtest.Drop, wasmtest.Unreachable}), CauseOutOfMemory, "unreachable"},
		{"output at the end of memory", []byte{wasmtest.I64Const, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0xc0, 0x00}, CauseOutputOutOfBounds, "1 bytes at 65536"},
		{"output too large", []byte{wasmtest.I64Const, 0xff, 0xff, 0xff, 0xff, 0x0f}, CauseOutputTooLarge, "4294967295 bytes"},
	}
	generous := open(t, Config{Limits: Limits{WallClock: time.Hour}})
	short := open(t, Config{Limits: Limits{WallClock: 500 * time.Millisecond}, Now: wasmtest.Ticking(time.Millisecond)})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := generous
			if test.cause == CauseWallClock {
				e = short
			}
			next := load(t, e, small(echoBody).Bytes())
			m := load(t, e, small(test.node).Bytes())
			for range 2 {
				if err := callError(t, m, "x"); err.Cause != test.cause || !strings.Contains(err.Detail, test.trap) {
					t.Errorf("cause %q, detail %q; want %q, %q", err.Cause, err.Detail, test.cause, test.trap)
				}
			}
			expect.Equal(t, string(call(t, next, "echo")), "echo", "the next call gave")
		})
	}
}

// TestAccept_PL3_EndlessWithoutALoop: guests that could spend hours, with no loop in which a compiler would look whether they have to end.
// Each would be denied at its end, if it ever came there.
func TestAccept_PL3_EndlessWithoutALoop(t *testing.T) {
	t.Parallel()
	const sync, random, tree = 0, 1, 4
	imports := []wasmtest.Import{
		{Module: wasiModule, Name: "fd_sync", Params: []byte{wasmtest.I32}, Results: []byte{wasmtest.I32}},
		{Module: wasiModule, Name: "random_get", Params: []byte{wasmtest.I32, wasmtest.I32}, Results: []byte{wasmtest.I32}},
	}
	all := wasmtest.Const(64 << 20)
	half := wasmtest.Const(32 << 20)
	zero := wasmtest.Const(0)
	child := wasmtest.Join([]byte{wasmtest.LocalGet, 0}, wasmtest.Const(1), []byte{wasmtest.I32Sub, wasmtest.Call, tree})
	tests := map[string][]byte{
		"tree of calls": wasmtest.Join(wasmtest.Const(33), []byte{wasmtest.Call, tree}),
		"filling":       bytes.Repeat(wasmtest.Join(zero, zero, all, []byte{0xfc, 11, 0}), 1500),
		"copying":       bytes.Repeat(wasmtest.Join(half, zero, half, []byte{0xfc, 10, 0, 0}), 1500),
		"host function": bytes.Repeat(wasmtest.Join(zero, all, []byte{wasmtest.Call, random, wasmtest.Drop}), 200),
	}
	e := open(t, Config{Limits: Limits{WallClock: 300 * time.Millisecond}, Now: wasmtest.Ticking(100 * time.Millisecond)})
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			m := small(wasmtest.Join(body, []byte{wasmtest.I32Const, 0, wasmtest.Call, sync, wasmtest.Drop, wasmtest.I64Const, 0}))
			m.Imports, m.MemoryPages = imports, 1024
			m.Funcs = append(m.Funcs, wasmtest.Func{
				Params: []byte{wasmtest.I32},
				Body:   wasmtest.Join([]byte{wasmtest.LocalGet, 0, wasmtest.If, wasmtest.Void}, child, child, []byte{wasmtest.End}),
			})
			if err := callError(t, load(t, e, m.Bytes()), "x"); err.Cause != CauseWallClock {
				t.Errorf("got %v", err)
			}
		})
	}
}
