package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	expect "github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// resets are all ways to give an instance back as it began.
var resets = []Reset{ResetScan, ResetDiscard, ResetCompare, ResetFresh}

// goModuleOf loads the Go guest with a way of resetting.
func goModuleOf(tb testing.TB, reset Reset, limits Limits) *Module {
	tb.Helper()
	return load(tb, open(tb, Config{Reset: reset, Limits: limits, CacheDir: cacheDir}), goGuest(tb))
}

// TestAccept_PL3_CallsAfterAFailureAreRight: whatever ended a call, 500 calls after it see what the first one sees.
func TestAccept_PL3_CallsAfterAFailureAreRight(t *testing.T) {
	t.Parallel()
	failures := map[string]Cause{
		"p": CauseTrap, "x": CauseExit, "d": CauseOutOfMemory, "b": CauseOutOfMemory, "h": CauseOutputTooLarge,
		"o": CauseOutputOutOfBounds, "f": CauseDenied, "l": CauseFuel,
	}
	for _, reset := range resets {
		t.Run(reset.String(), func(t *testing.T) {
			t.Parallel()
			m := goModuleOf(t, reset, Limits{WallClock: time.Minute, Fuel: 1_000_000_000})
			calls := 20
			if reset == ResetFresh {
				calls = 5
			} else if tier.Whole("host/internal/sandbox") {
				calls = 500
			}
			for what, cause := range failures {
				for range 2 {
					if err := callError(t, m, what); err.Cause != cause {
						t.Errorf("%q fails with %v, want %s", what, err, cause)
					}
				}
				for i := range calls {
					if got := call(t, m, "c"); got[0] != 1 {
						t.Fatalf("after %q: call %d is number %d to the guest", what, i, got[0])
					}
				}
			}
		})
	}
}

// TestAccept_PL4_NoResetLeavesATrace: neither memory nor globals nor the clock nor the random stream continue from one call to the next.
func TestAccept_PL4_NoResetLeavesATrace(t *testing.T) {
	t.Parallel()
	counting := small(wasmtest.Join(
		[]byte{wasmtest.GlobalGet, 0}, wasmtest.Const(1), []byte{wasmtest.I32Add, wasmtest.GlobalSet, 0},
		wasmtest.Const(1024), []byte{wasmtest.GlobalGet, 0, 0x36, 2, 0}, echoBody)) // memory[1024] = global
	counting.Globals = 1
	want := map[string]string{}
	for _, reset := range append([]Reset{ResetFresh}, resets...) {
		counter := load(t, open(t, Config{Reset: reset}), counting.Bytes())
		guest := goModuleOf(t, reset, Limits{})
		for range 5 {
			if got := call(t, counter, "cccc"); got[0] != 1 {
				t.Errorf("%s: a global counts to %d", reset, got[0])
			}
			for _, what := range []string{"c", "t", "r", "s", "v"} {
				got := string(call(t, guest, what))
				if first, ok := want[what]; ok && got != first {
					t.Errorf("%s: %q gave % x, in a fresh instance % x", reset, what, got, first)
				}
				want[what] = got
			}
		}
	}
}

// account is what some requests give and cost, one line each.
func account(m *Module, requests []string) (string, error) {
	var b strings.Builder
	for _, r := range requests {
		out, err := m.Call(context.Background(), abi.CallNode, []byte(r))
		var failed *CallError
		switch {
		case err == nil:
			fmt.Fprintf(&b, "%.1s %x %d\n", r, sha256.Sum256(out.Bytes), *out.Fuel)
		case errors.As(err, &failed) && failed.Deterministic():
			fmt.Fprintf(&b, "%.1s %s %s %q\n", r, failed.Cause, failed.Detail, failed.Stderr)
		default:
			return "", err
		}
	}
	return b.String(), nil
}

var accounted = []string{
	"c", "t", "echo", "r", "p", "s", "v", "e" + strings.Repeat("x", 100_000), "o", "f", "h", "c",
}

// accountLimits leave fuel that one of the requests spends.
var accountLimits = Limits{Fuel: 3_000_000, WallClock: time.Minute}

// TestAccept_SB1_EqualAtAnyPoolSize: the same bytes, fuel and failures from
// every reset, with any number of calls at the same time, in any order.
func TestAccept_SB1_EqualAtAnyPoolSize(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/internal/sandbox")
	requests := append([]string{"l"}, accounted...)
	want := must.Get(account(goModuleOf(t, ResetFresh, accountLimits), requests))(t)
	if !strings.Contains(want, string(CauseFuel)) {
		t.Fatalf("nothing spends its fuel:\n%s", want)
	}
	lines := strings.SplitAfter(want, "\n")
	for _, reset := range resets[:len(resets)-1] {
		m := goModuleOf(t, reset, accountLimits)
		for _, workers := range []int{1, 3, 40} {
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					k := w % len(requests)
					got, err := account(m, append(slices.Clone(requests[k:]), requests[:k]...))
					if rotated := strings.Join(append(slices.Clone(lines[k:len(requests)]), lines[:k]...), ""); err != nil || got != rotated {
						t.Errorf("%s, %d workers: %v\n%s\nwant\n%s", reset, workers, err, got, rotated)
					}
				})
			}
			wg.Wait()
		}
	}
}

const accountEnv = "SANDBOX_TEST_ACCOUNT"

// TestAccept_SB2_FuelIsTheSameInAnotherProcess runs this test again as a program of its own.
func TestAccept_SB2_FuelIsTheSameInAnotherProcess(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/internal/sandbox")
	if file := os.Getenv(accountEnv); file != "" {
		wasm := must.Get(os.ReadFile(file))(t)
		got := must.Get(account(load(t, open(t, Config{Limits: accountLimits}), wasm), accounted))(t)
		must.Do(t, os.WriteFile(file+".account", []byte(got), 0o600))
		return
	}
	want := must.Get(account(goModuleOf(t, ResetAuto, accountLimits), accounted))(t)
	file := filepath.Join(t.TempDir(), "guest.wasm")
	must.Do(t, os.WriteFile(file, goGuest(t), 0o600))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), accountEnv+"="+file)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	got := must.Get(os.ReadFile(file + ".account"))(t)
	expect.Equal(t, string(got), want, "another process")
}

// TestAccept_SB2_FuelIsExact: a call that may spend what it costs returns, and one that may spend one unit less does not.
func TestAccept_SB2_FuelIsExact(t *testing.T) {
	t.Parallel()
	out := must.Get(goModule(t, Limits{}).Call(t.Context(), abi.CallNode, []byte("r")))(t)
	start := *out.Fuel + 10_000_000 // the start of the module has as much as a call
	m := goModule(t, Limits{})
	for _, test := range []struct {
		budget uint64
		want   bool
	}{{*out.Fuel, true}, {*out.Fuel - 1, false}, {start, true}} {
		in := must.Get(m.entry.program.instantiate(time.Now, m.pool.template))(t)
		in.begin(t.Context())
		in.state.meter.begin(t.Context(), time.Minute, int64(test.budget), callBudget)
		got, err := in.direct(abi.ExportNode, []byte("r"), 1<<20)
		var spent *fuelError
		switch {
		case test.want && (err != nil || *got.Fuel != *out.Fuel):
			t.Errorf("with %d units: %v", test.budget, err)
		case !test.want && !errors.As(err, &spent):
			t.Errorf("with %d units, one less than it costs: %v", test.budget, err)
		}
		in.close()
	}
}

// growBody grows the memory by a page, answers with the eight bytes at the
// beginning of that page and with its number, and leaves ones there.
var growBody = wasmtest.Join(
	[]byte{0x41, 1, 0x40, 0, 0x41, 16, 0x74, 0x21, 0},             // local 0 = memory.grow(1) << 16
	wasmtest.Const(2048), []byte{0x20, 0, 0x29, 3, 0, 0x37, 3, 0}, // store(2048, load(local 0))
	wasmtest.Const(2056), []byte{0x20, 0, 0x36, 2, 0}, // store(2056, local 0)
	[]byte{0x20, 0, 0x42, 0x7f, 0x37, 3, 0},                            // store(local 0, -1)
	wasmtest.Const(2048), []byte{0xad, 0x42, 32, 0x86, 0x42, 12, 0x84}, // 2048<<32 | 12
)

// Each call finds its memory as small as at the beginning, and what it grows by is zero, whatever earlier calls left there.
func TestAccept_SB1_AMemoryThatGrewIsSmallAgain(t *testing.T) {
	t.Parallel()
	for _, reset := range resets {
		t.Run(reset.String(), func(t *testing.T) {
			t.Parallel()
			m := load(t, open(t, Config{Reset: reset}), small(growBody).Bytes())
			calls := 500
			if reset == ResetFresh {
				calls = 20
			}
			want := []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0} // zeros, and page 1
			for i := range calls {
				out := must.Get(m.Call(context.Background(), abi.CallNode, []byte("x")))(t, "call", i)
				if !bytes.Equal(out.Bytes, want) {
					t.Fatalf("call %d sees %x, want %x", i, out.Bytes, want)
				}
			}
		})
	}
}

// A module that fails at a warming call is loaded without.
func TestAModuleThatCannotBeWarmedIsLoaded(t *testing.T) {
	t.Parallel()
	m := must.Get(open(t, Config{}).Load(context.Background(), small([]byte{wasmtest.Unreachable}).Bytes(), Warm{abi.CallNode, []byte("x")}))(t)
	if _, err := m.Call(context.Background(), abi.CallNode, []byte("x")); err == nil {
		t.Error("it does not trap any more")
	}
}
