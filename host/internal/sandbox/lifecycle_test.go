package sandbox

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	expect "github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// endless never returns.
var endless = []byte{wasmtest.Loop, wasmtest.Void, wasmtest.Br, 0, wasmtest.End, wasmtest.I64Const, 0}

func TestTheCallersContextIsToldFromTheWallClock(t *testing.T) {
	t.Parallel()
	errRecess := errors.New("the court is in recess")
	m := load(t, open(t, Config{Limits: Limits{WallClock: time.Hour, Fuel: maxFuel}}), small(endless).Bytes())
	tests := []struct {
		name string
		ctx  func() (context.Context, context.CancelFunc)
		want []error
	}{
		{"cancelled before", func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return ctx, cancel
		}, []error{context.Canceled}},
		{"cancelled", func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(context.Background())
			time.AfterFunc(50*time.Millisecond, func() { cancel(errRecess) })
			return ctx, func() { cancel(nil) }
		}, []error{context.Canceled, errRecess}},
		{"deadline", func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 50*time.Millisecond)
		}, []error{context.DeadlineExceeded}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := test.ctx()
			defer cancel()
			_, err := m.Call(ctx, abi.CallNode, []byte("x"))
			var callErr *CallError
			if !errors.As(err, &callErr) || callErr.Cause != CauseCancelled || callErr.Deterministic() {
				t.Errorf("got %v", err)
			}
			for _, want := range test.want {
				expect.Is(t, err, want, "does not wrap")
			}
		})
	}
}

func TestRequestsThatReachNoGuest(t *testing.T) {
	t.Parallel()
	m := load(t, open(t, Config{Limits: Limits{InputBytes: 10}}), small(echoBody).Bytes())
	tests := []struct {
		call    abi.Call
		request string
		want    Cause
	}{
		{abi.CallNode, "eleven byte", CauseInputTooLarge},
		{abi.CallJudge, "x", CauseMissingExport},
		{"no such call", "x", CauseMissingExport},
	}
	for _, test := range tests {
		_, err := m.Call(context.Background(), test.call, []byte(test.request))
		var callErr *CallError
		if !errors.As(err, &callErr) || callErr.Cause != test.want {
			t.Errorf("%s call of %q: %v, want %s", test.call, test.request, err, test.want)
		}
	}
	expect.Len(t, call(t, m, ""), 0, "an empty request came back as")
}

func TestAllocatorsThatLie(t *testing.T) {
	t.Parallel()
	e := open(t, Config{})
	for pointer, want := range map[int32]Cause{0: CauseOutOfMemory, 65536: CauseBadPointer, -1: CauseBadPointer, 65535: CauseBadPointer} {
		m := small(echoBody)
		m.Funcs[0].Body = wasmtest.Const(pointer)
		if err := callError(t, load(t, e, m.Bytes()), "xx"); err.Cause != want || err.Export != abi.ExportAlloc {
			t.Errorf("allocator gives %d: %v, want %s", pointer, err, want)
		}
	}
}

func TestCloseWaitsForCallsInFlight(t *testing.T) {
	t.Parallel()
	var jumped atomic.Int64 // of the clock, which stands still otherwise
	now := func() time.Time { return time.Unix(0, jumped.Load()) }
	m := load(t, open(t, Config{Limits: Limits{WallClock: time.Hour, Fuel: maxFuel}, Now: now}), small(endless).Bytes())
	failed := make(chan error)
	for range 3 {
		go func() {
			_, err := m.Call(context.Background(), abi.CallNode, []byte("x"))
			failed <- err
		}()
	}
	for m.gate.insiders() < 3 {
		runtime.Gosched()
	}
	impatient, cancel := context.WithCancel(context.Background())
	cancel()
	expect.Is(t, m.Close(impatient), context.Canceled, "close with calls in flight and no patience")
	expect.Is(t, expect.Err(m.Call(context.Background(), abi.CallNode, []byte("x"))), ErrClosed, "call after close")
	for ended := 0; ended < 3; {
		select {
		case err := <-failed:
			ended++
			var callErr *CallError
			if !errors.As(err, &callErr) || callErr.Cause != CauseWallClock {
				t.Errorf("call in flight: %v", err)
			}
		default: // a call that is inside may read the clock only now, and has its hour from then on
			jumped.Add(int64(time.Minute))
			runtime.Gosched()
		}
	}
	for range 2 {
		must.Do(t, m.Close(context.Background()), "close")
	}
}

func (g *gate) insiders() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside
}

func TestEngineClose(t *testing.T) {
	t.Parallel()
	e := must.Get(New(context.Background(), Config{}))(t)
	m := load(t, e, small(echoBody).Bytes())
	must.Do(t, e.Close(context.Background()))
	var callErr *CallError
	if _, err := m.Call(context.Background(), abi.CallNode, []byte("x")); !errors.As(err, &callErr) ||
		callErr.Cause != CauseHost || callErr.Deterministic() || !errors.Is(err, ErrClosed) {
		t.Errorf("call after the engine's close: %v", err)
	}
	expect.Is(t, expect.Err(e.Load(context.Background(), small(echoBody).Bytes())), ErrClosed, "load after close")
}

func TestLimitsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]Limits{
		"half a page":      {MemoryBytes: 1000},
		"4 GiB":            {MemoryBytes: 1 << 32},
		"negative memory":  {MemoryBytes: -65536},
		"negative time":    {WallClock: -1},
		"negative output":  {OutputBytes: -1},
		"too much fuel":    {Fuel: 1 << 61},
		"negative modules": {ModuleBytes: -1},
		"negative compile": {CompileTime: -1},
	} {
		if _, err := New(context.Background(), Config{Limits: limits}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	got := open(t, Config{}).Limits()
	want := Limits{
		MemoryBytes: 64 << 20, WallClock: 2 * time.Minute, OutputBytes: 1 << 20,
		InputBytes: 32 << 20, ModuleBytes: 64 << 20, TableEntries: 100_000,
		CompileTime: 10 * time.Minute, CompileSteps: 40_000_000_000, CompileBytes: 384 << 20, Fuel: 10_000_000_000, StartFuel: 1_000_000_000,
	}
	expect.Equal(t, got, want, "defaults")
}
