package sandbox

import (
	"bytes"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// TestAccept_PL3_EndlessWithoutALoop: guests that could spend
// hours, with no loop in which a compiler would look whether they have
// to end. Each would be denied at its end, if it ever came there.
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
