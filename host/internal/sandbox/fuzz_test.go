package sandbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// FuzzLoad: whatever the bytes, loading gives a module or a *LoadError, and a call gives bytes or a *CallError that is not the host's.
func FuzzLoad(f *testing.F) {
	busy := small(wasmtest.Join(
		wasmtest.Const(2000), []byte{wasmtest.GlobalGet, 0}, wasmtest.Const(5), []byte{0xfc, 11, 0},
		wasmtest.Const(1), []byte{wasmtest.MemoryGrow, 0, wasmtest.Drop}, echoBody))
	busy.Globals, busy.TableMin, busy.Data = 1, 3, []byte("data")
	busy.Imports = []wasmtest.Import{{Module: wasiModule, Name: "sched_yield", Results: []byte{wasmtest.I32}}}
	for _, m := range []wasmtest.Module{small(echoBody), small(endless), busy} {
		f.Add(m.Bytes())
	}
	e := open(f, Config{Limits: Limits{
		MemoryBytes: 1 << 20, WallClock: 200 * time.Millisecond, CompileTime: 5 * time.Second,
		ModuleBytes: 1 << 16, TableEntries: 1000,
	}})
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, err := e.Load(context.Background(), wasm)
		if err != nil {
			if _, ok := errors.AsType[*LoadError](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		defer func() { _ = m.Close(context.Background()) }()
		_, err = m.Call(context.Background(), m.Info().Calls[0], []byte("request"))
		var callErr *CallError
		if err != nil && (!errors.As(err, &callErr) || callErr.Cause == CauseHost) {
			t.Fatalf("%T: %v", err, err)
		}
	})
}
