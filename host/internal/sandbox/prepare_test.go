package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// Where the notes module keeps things.
const (
	noteAt, seenAt, emptyAt = 2100, 3000, 1900
)

// lastPage is the address of the last page of the memory.
var lastPage = wasmtest.Join([]byte{0x3f, 0}, wasmtest.Const(1), []byte{0x6b}, wasmtest.Const(16), []byte{0x74})

// noted puts the byte of a request behind what was noted before, a hundred times as much.
var noted = wasmtest.Join(wasmtest.Const(100), []byte{0x6c, 0x20, 0, 0x2d, 0, 0, 0x6a})

// prepareNotes notes the first byte of its request in memory, in a global and in a page that it grows by, and answers with an empty map.
var prepareNotes = wasmtest.Join(
	wasmtest.Const(noteAt), wasmtest.Const(noteAt), []byte{0x28, 2, 0}, noted, []byte{0x36, 2, 0},
	[]byte{0x23, 0}, noted, []byte{0x24, 0},
	wasmtest.Const(1), []byte{0x40, 0, 0x1a},
	lastPage, []byte{0x20, 0, 0x2d, 0, 0, 0x3a, 0, 0},
	emptyAnswer,
)

// emptyAnswer is an empty map as the answer.
var emptyAnswer = wasmtest.Join(
	wasmtest.Const(emptyAt), wasmtest.Const(0x80), []byte{0x3a, 0, 0},
	wasmtest.Const(emptyAt), []byte{0xad, 0x42, 32, 0x86, 0x42, 1, 0x84},
)

// tellNotes answers with all that was noted, and leaves ones everywhere.
var tellNotes = wasmtest.Join(
	wasmtest.Const(seenAt), wasmtest.Const(noteAt), []byte{0x28, 2, 0, 0x36, 2, 0},
	wasmtest.Const(seenAt+4), []byte{0x23, 0, 0x36, 2, 0},
	wasmtest.Const(seenAt+8), []byte{0x3f, 0, 0x36, 2, 0},
	wasmtest.Const(seenAt+12), lastPage, []byte{0x2d, 0, 0, 0x36, 2, 0},
	wasmtest.Const(noteAt), wasmtest.Const(-1), []byte{0x36, 2, 0},
	wasmtest.Const(-1), []byte{0x24, 0},
	lastPage, wasmtest.Const(-1), []byte{0x36, 2, 0},
	wasmtest.Const(1), []byte{0x40, 0, 0x1a},
	lastPage, wasmtest.Const(-1), []byte{0x36, 2, 0},
	wasmtest.Const(seenAt), []byte{0xad, 0x42, 32, 0x86, 0x42, 16, 0x84},
)

// preparing is a module with the export.
func preparing(prepare, node []byte) wasmtest.Module {
	m := small(node)
	m.Globals = 1
	m.Funcs = append(m.Funcs, wasmtest.Func{
		Export: abi.ExportPrepare, Params: []byte{wasmtest.I32, wasmtest.I32}, Results: []byte{wasmtest.I64}, Body: prepare,
	})
	return m
}

// after prepares with each letter; nil for none.
func after(letters string) *Preparation {
	if letters == "" {
		return nil
	}
	p := &Preparation{Digest: letters}
	for _, letter := range letters {
		p.Requests = append(p.Requests, []byte{byte(letter)})
	}
	return p
}

// notes are what tellNotes answers after that.
func notes(letters string) []byte {
	var note uint32
	pages, last := uint32(1), byte(0)
	for _, s := range letters {
		note, pages, last = note*100+uint32(s), pages+1, byte(s)
	}
	var b []byte
	for _, v := range []uint32{note, note, pages, uint32(last)} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// restorable are the ways of resetting with which a module can be prepared.
func restorable() []Reset {
	var list []Reset
	for _, r := range fewResets() {
		if r != ResetFresh {
			list = append(list, r)
		}
	}
	return list
}

// TestAccept_PR2_NothingIsSeenAfterAReset: calls after several preparations, interleaved from many goroutines, some of them cancelled, see what they
// were prepared with and nothing else, in memory, globals and the memory's size.
func TestAccept_PR2_NothingIsSeenAfterAReset(t *testing.T) {
	t.Parallel()
	for _, reset := range restorable() {
		t.Run(reset.String(), func(t *testing.T) {
			t.Parallel()
			m := load(t, open(t, Config{Reset: reset}), preparing(prepareNotes, tellNotes).Bytes())
			var workers sync.WaitGroup
			for worker := range 16 {
				workers.Go(func() {
					random := rand.New(rand.NewPCG(uint64(worker), 1))
					for range 300 {
						letters := []string{"", "A", "B", "C", "D", "E", "F", "AB"}[random.IntN(8)]
						ctx, cancel := context.WithCancel(context.Background())
						if random.IntN(8) == 0 {
							cancel()
						}
						out, err := m.CallPrepared(ctx, after(letters), abi.CallNode, []byte("?"))
						cancel()
						var failed *CallError
						switch {
						case errors.As(err, &failed) && failed.Cause == CauseCancelled:
						case err != nil:
							t.Errorf("after %q: %v", letters, err)
						case !bytes.Equal(out.Bytes, notes(letters)):
							t.Errorf("after %q: %x, want %x", letters, out.Bytes, notes(letters))
						}
					}
				})
			}
			workers.Wait()
			if n := len(m.pool.program.prepared.pools); n > maxPrepared {
				t.Errorf("%d preparations are kept, at most %d may be", n, maxPrepared)
			}
		})
	}
}

// TestAccept_PR2_ATableKeepsAModuleUnprepared: what a module leaves in a table can't be saved, so that it begins anew for every call, and
// is never prepared.
func TestAccept_PR2_ATableKeepsAModuleUnprepared(t *testing.T) {
	t.Parallel()
	m := preparing(prepareNotes, tellNotes)
	m.TableMin = 1
	m.Funcs = append(m.Funcs, wasmtest.Func{Body: []byte{0x41, 0, 0xd0, 0x70, 0x26, 0}}) // table.set 0 null
	if loaded := load(t, open(t, Config{}), m.Bytes()); loaded.Prepares() {
		t.Error("a module that writes tables can be prepared")
	}
	if loaded := load(t, open(t, Config{}), preparing(prepareNotes, tellNotes).Bytes()); !loaded.Prepares() {
		t.Error("a module with the export can't be prepared")
	}
	if loaded := load(t, open(t, Config{}), small(echoBody).Bytes()); loaded.Prepares() {
		t.Error("a module without the export can be prepared")
	}
}

// TestAccept_PR2_InstancesForgetTheirCallers: they wait for calls at any time, and what a trial holds ends with it.
func TestAccept_PR2_InstancesForgetTheirCallers(t *testing.T) {
	t.Parallel()
	m := load(t, open(t, Config{}), preparing(prepareNotes, tellNotes).Bytes())
	trial := func() weak.Pointer[[1 << 10]byte] {
		c := new([1 << 10]byte)
		ctx := WithBroker(t.Context(), struct {
			noDesk
			of *[1 << 10]byte
		}{of: c})
		for _, letters := range []string{"", "A"} {
			must.Get(m.CallPrepared(ctx, after(letters), abi.CallNode, []byte("?")))(t)
		}
		return weak.Make(c)
	}
	of := trial()
	for deadline := time.Now().Add(time.Minute); of.Value() != nil; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatal("an instance that waits still holds what its last caller has")
		}
		time.Sleep(time.Millisecond)
	}
	runtime.KeepAlive(m)
}

// TestAccept_PR3_WhoWaitsSharesAFailure: a preparation that ends by the wall clock is not made again by each who waits for it.
func TestAccept_PR3_WhoWaitsSharesAFailure(t *testing.T) {
	t.Parallel()
	spin := []byte{wasmtest.Loop, wasmtest.Void, wasmtest.Br, 0, wasmtest.End, wasmtest.I64Const, 0}
	m := load(t, open(t, Config{Limits: Limits{Fuel: 1 << 59, StartFuel: 1 << 59, WallClock: time.Second}}), preparing(spin, tellNotes).Bytes())
	const callers = 8
	var calls sync.WaitGroup
	for range callers {
		calls.Go(func() {
			_, err := m.CallPrepared(t.Context(), after("A"), abi.CallNode, []byte("?"))
			if failed, ok := errors.AsType[*CallError](err); !ok || failed.Cause != CauseWallClock || failed.Export != abi.ExportPrepare {
				t.Errorf("%v, want %s", err, CauseWallClock)
			}
		})
	}
	calls.Wait()
	if n := m.pool.program.prepared.pools[0].failures.Load(); n == callers {
		t.Error("each of those who waited made it again")
	}
}

// TestAccept_PR3_PreparationsThatFail: each is a named failure within its limits, and calls before and after are as if it had not been.
func TestAccept_PR3_PreparationsThatFail(t *testing.T) {
	t.Parallel()
	spin := []byte{wasmtest.Loop, wasmtest.Void, wasmtest.Br, 0, wasmtest.End, wasmtest.I64Const, 0}
	// flood grows to the limit and writes into each page, until growing fails and it traps.
	flood := wasmtest.Join(
		[]byte{wasmtest.Loop, wasmtest.Void}, wasmtest.Const(1), []byte{0x40, 0}, wasmtest.Const(-1), []byte{0x46, wasmtest.If, wasmtest.Void, wasmtest.Unreachable, wasmtest.End},
		lastPage, wasmtest.Const(1), []byte{0x36, 2, 0, wasmtest.Br, 0, wasmtest.End, wasmtest.I64Const, 0},
	)
	ask := wasmtest.Join(wasmtest.Const(0), wasmtest.Const(0), wasmtest.Const(0), wasmtest.Const(0), []byte{wasmtest.Call, 0, wasmtest.Drop, wasmtest.I64Const, 0})
	tests := []struct {
		name    string
		prepare []byte
		cause   Cause
		detail  string
	}{
		{"trap", []byte{wasmtest.Unreachable}, CauseTrap, "unreachable"},
		{"spin", spin, CauseFuel, "units of fuel spent"},
		{"flood", flood, CauseOutOfMemory, "was rejected"},
		{"capability", ask, CauseDenied, "recall may not be used while the module is prepared"},
		{"no message", []byte{wasmtest.I64Const, 0}, CauseInvalidResponse, "the message ends here"},
		{"beyond memory", wasmtest.Join(wasmtest.Const(-65536), []byte{0xad, 0x42, 32, 0x86, 0x42, 1, 0x84}), CauseOutputOutOfBounds, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := preparing(test.prepare, tellNotes)
			granted := []abi.Capability(nil)
			if test.name == "capability" {
				granted = []abi.Capability{abi.CapRecall}
				four := []byte{wasmtest.I32, wasmtest.I32, wasmtest.I32, wasmtest.I32}
				m.Imports = []wasmtest.Import{{Module: abi.CapabilityModule, Name: string(abi.CapRecall), Params: four, Results: []byte{wasmtest.I32}}}
			}
			e := open(t, Config{Limits: Limits{Fuel: 200_000_000, StartFuel: 50_000_000, WallClock: time.Minute}})
			info := must.Get(Inspect(m.Bytes()))(t)
			loaded := must.Get(e.LoadInspected(context.Background(), info, granted))(t)
			for range 3 {
				_, err := loaded.CallPrepared(context.Background(), after("A"), abi.CallNode, []byte("?"))
				var failed *CallError
				if !errors.As(err, &failed) || failed.Cause != test.cause || failed.Export != abi.ExportPrepare || !strings.Contains(failed.Detail, test.detail) {
					t.Errorf("%v, want %s with %q", err, test.cause, test.detail)
				}
				if got := call(t, loaded, "?"); !bytes.Equal(got, notes("")) {
					t.Errorf("a call after it sees %x", got)
				}
			}
		})
	}
}

// TestAccept_PR2_APreparationMayGrowInThePlaceOfVariables: it removes what the start left in a variable, and grows the memory by what that
// frees.
func TestAccept_PR2_APreparationMayGrowInThePlaceOfVariables(t *testing.T) {
	t.Parallel()
	const long = wasmtest.I64
	block := func(length int64) []byte { // of so many bytes: i64.const length, call alloc
		return []byte{wasmtest.I64Const, byte(length&0x7f | 0x80), byte(length>>7&0x7f | 0x80), byte(length >> 14 & 0x3f), wasmtest.Call, 0}
	}
	set := wasmtest.Join(block(1), block(900_000), []byte{wasmtest.Call, 1})
	unset := wasmtest.Join(block(1), []byte{wasmtest.I64Const, 0, wasmtest.Call, 1})
	grow := []byte{wasmtest.Loop, wasmtest.Void, 0x41, 1, wasmtest.MemoryGrow, 0, 0x41, 0x7f, 0x47, 0x0d, 0, wasmtest.End}
	empty := wasmtest.Join(block(1), []byte{0xa7, wasmtest.GlobalSet, 0, wasmtest.GlobalGet, 0, wasmtest.I64ExtendU}, wasmtest.Const(0x80),
		[]byte{wasmtest.Call, 3, wasmtest.GlobalGet, 0, wasmtest.I64ExtendU, wasmtest.I64Const, 1, wasmtest.Call, 2}, wasmtest.Const(0))
	m := wasmtest.Module{
		Memory: abi.ExportMemory, MemoryPages: 1, Globals: 1,
		Imports: []wasmtest.Import{
			{Module: abi.ExtismEnv, Name: "alloc", Params: []byte{long}, Results: []byte{long}},
			{Module: abi.ExtismEnv, Name: "var_set", Params: []byte{long, long}},
			{Module: abi.ExtismEnv, Name: "output_set", Params: []byte{long, long}},
			{Module: abi.ExtismEnv, Name: "store_u8", Params: []byte{long, wasmtest.I32}},
		},
		Funcs: []wasmtest.Func{
			{Export: abi.ExportInitialize, Body: set},
			{Export: abi.ExportNode, Results: []byte{wasmtest.I32}, Body: empty},
			{Export: abi.ExportPrepare, Results: []byte{wasmtest.I32}, Body: wasmtest.Join(unset, grow, empty)},
		},
	}
	for _, reset := range restorable() {
		loaded := load(t, open(t, Config{Reset: reset, Limits: Limits{MemoryBytes: 4 << 20}}), m.Bytes())
		for range 3 {
			for _, letters := range []string{"", "A", "AB"} {
				if out, err := loaded.CallPrepared(context.Background(), after(letters), abi.CallNode, []byte("?")); err != nil || !bytes.Equal(out.Bytes, []byte{0x80}) {
					t.Errorf("%s: %x, %v", reset, out.Bytes, err)
				}
			}
		}
	}
}
