package sandbox

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	expect "github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// unique is a module that no other test loads: its code has the name in it.
func unique(name string) []byte {
	m := small(echoBody)
	m.Funcs = append(m.Funcs, wasmtest.Func{Export: name})
	return m.Bytes()
}

// sharing counts the programs that the process has of that code, and their users.
func sharing(t *testing.T, wasm []byte) (programs, users int) {
	t.Helper()
	info := must.Get(Inspect(wasm))(t)
	sharedPrograms.mu.Lock()
	defer sharedPrograms.mu.Unlock()
	for key, entry := range sharedPrograms.entries {
		if key.code == info.CodeDigest {
			programs++
			users += entry.users
		}
	}
	return programs, users
}

func TestEnginesShareAProgram(t *testing.T) {
	t.Parallel()
	wasm := unique("shared")
	first, second := open(t, Config{}), open(t, Config{})
	a, b := load(t, first, wasm), load(t, second, wasm)
	if programs, users := sharing(t, wasm); programs != 1 || users != 2 {
		t.Fatalf("%d programs with %d users, want one with two", programs, users)
	}
	must.Do(t, first.Close(t.Context()))
	expect.Is(t, expect.Err(a.Call(t.Context(), abi.CallNode, []byte("x"))), ErrClosed, "a call into a closed module")
	expect.Equal(t, string(must.Get(b.Call(t.Context(), abi.CallNode, []byte("x")))(t).Bytes), "x", "the other module")
	must.Do(t, second.Close(t.Context()))
	if programs, _ := sharing(t, wasm); programs != 0 {
		t.Errorf("%d programs are left of closed engines", programs)
	}
}

// What calls can tell apart is not shared.
func TestEnginesThatDifferShareNothing(t *testing.T) {
	t.Parallel()
	wasm := unique("apart")
	configs := []Config{
		{},
		{Limits: Limits{Fuel: 1 << 40}},
		{Limits: Limits{MemoryBytes: 4 << 20}},
		{Limits: Limits{WallClock: time.Hour}},
		{Reset: ResetFresh},
		{Metering: MeterNone},
		{CacheDir: t.TempDir()},
	}
	for _, config := range configs {
		load(t, open(t, config), wasm)
	}
	if programs, users := sharing(t, wasm); programs != len(configs) || users != len(configs) {
		t.Errorf("%d programs with %d users, want %d", programs, users, len(configs))
	}
	warm := Warm{Call: abi.CallNode, Request: []byte("w")}
	must.Get(open(t, Config{}).LoadInspected(t.Context(), inspect(t, wasm), nil, warm))(t)
	if programs, _ := sharing(t, wasm); programs != len(configs)+1 {
		t.Errorf("%d programs, want one more for the warm module", programs)
	}
}

func inspect(t *testing.T, wasm []byte) Info {
	t.Helper()
	return must.Get(Inspect(wasm))(t)
}

// A failed start is told with the digest of the file that was loaded, and is not kept.
func TestAFailedProgramIsMadeAgain(t *testing.T) {
	t.Parallel()
	m := small(echoBody)
	m.Funcs = append(m.Funcs, wasmtest.Func{Export: abi.ExportInitialize, Body: []byte{wasmtest.Unreachable}})
	wasm := m.Bytes()
	for _, file := range [][]byte{wasm, append(slices.Clip(wasm), 0, 2, 1, 'x')} { // the other with a custom section
		_, err := open(t, Config{}).Load(t.Context(), file)
		var rejected *LoadError
		if !errors.As(err, &rejected) || rejected.Faults[0].Code != FaultStart || rejected.Digest != digestOf(file) {
			t.Fatalf("loaded: %v", err)
		}
	}
	if programs, _ := sharing(t, wasm); programs != 0 {
		t.Errorf("%d failed programs are kept", programs)
	}
}

// TestHammerPrograms loads and closes one module in many engines at once, some of whose callers give up.
func TestHammerPrograms(t *testing.T) {
	t.Parallel()
	wasm := unique("hammered")
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			for range 50 {
				ctx, cancel := context.WithCancel(context.Background())
				if random.IntN(3) == 0 {
					time.AfterFunc(time.Duration(random.IntN(500))*time.Microsecond, cancel)
				}
				hammerOnce(ctx, t, wasm)
				cancel()
			}
		})
	}
	wait.Wait()
	// A program that nobody waited for is closed when it has been made.
	for range 1000 {
		if programs, _ := sharing(t, wasm); programs == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("programs are left")
}

func hammerOnce(ctx context.Context, t *testing.T, wasm []byte) {
	t.Helper()
	e, err := New(ctx, Config{})
	if err != nil {
		t.Error(err)
		return
	}
	m, err := e.Load(ctx, wasm)
	if err == nil {
		var out Output
		if out, err = m.Call(ctx, abi.CallNode, []byte("x")); err == nil && string(out.Bytes) != "x" {
			t.Errorf("answered %q", out.Bytes)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	must.Do(t, e.Close(context.Background()))
}
