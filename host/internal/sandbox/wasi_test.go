package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental/wazerotest"

	"github.com/shadowcourt/shadowcourt/abi"
	expect "github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// system calls a function of preview1 on a memory of one page.
func system(t *testing.T, s *guestState, memory *wazerotest.Memory, name string, args ...uint64) uint64 {
	t.Helper()
	call, ok := systemCalls()[name]
	if !ok || call.run == nil || len(call.params) != len(args) {
		t.Fatalf("%s does not take %d arguments", name, len(args))
	}
	return call.run(s, memory, append(args, 0))
}

// newTestState is the host's side of a guest that has fuel.
func newTestState() *guestState {
	return &guestState{standIns: standInsOfCall(), meter: meter{left: &tank{sliceFuel}}}
}

type tank struct{ fuel uint64 }

func (t *tank) Get() uint64  { return t.fuel }
func (t *tank) Set(v uint64) { t.fuel = v }

// Each function that writes to the guest's memory is given pointers that lie outside, in each place.
func TestSystemFunctionsCheckPointers(t *testing.T) {
	t.Parallel()
	const outside = 0xffff_fff0
	vector := []byte{0xf0, 0xff, 0xff, 0xff, 0x20, 0, 0, 0} // at 64: a buffer outside
	tests := map[string][][]uint64{
		"args_sizes_get":      {{outside, 0}, {0, outside}},
		"environ_sizes_get":   {{outside, 0}, {0, outside}},
		"clock_res_get":       {{0, outside}},
		"clock_time_get":      {{0, 0, outside}},
		"fd_fdstat_get":       {{1, outside}, {3, 65536 - 23}},
		"fd_filestat_get":     {{1, outside}},
		"fd_prestat_dir_name": {{3, outside, 1}},
		"fd_prestat_get":      {{3, outside}},
		"fd_read":             {{0, 0, 0, outside}},
		"fd_write":            {{2, outside, 1, 0}, {2, 64, 1, 0}, {2, 0, 0, outside}},
		"poll_oneoff":         {{outside, 0, 1, 0}, {0, outside, 1, 0}, {0, 128, 1, outside}},
		"random_get":          {{outside, 1}, {0, 65537}, {1, 0xffff_ffff}},
	}
	for name, argLists := range tests {
		for _, args := range argLists {
			memory := wazerotest.NewFixedMemory(65536)
			memory.Write(64, vector)
			if errno := system(t, newTestState(), memory, name, args...); errno != errnoFault {
				t.Errorf("%s(%#x) = %d, want %d", name, args, errno, errnoFault)
			}
		}
	}
}

func TestSystemFunctionsKnowFourDescriptors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		errno [5]uint64 // of the descriptors 0 to 4
		rest  []uint64
	}{
		"fd_close":            {[5]uint64{0, 0, 0, 8, 8}, nil},
		"fd_fdstat_get":       {[5]uint64{0, 0, 0, 0, 8}, []uint64{0}},
		"fd_fdstat_set_flags": {[5]uint64{0, 0, 0, 8, 8}, []uint64{0}},
		"fd_filestat_get":     {[5]uint64{0, 0, 0, 8, 8}, []uint64{0}},
		"fd_prestat_dir_name": {[5]uint64{8, 8, 8, 0, 8}, []uint64{0, 1}},
		"fd_prestat_get":      {[5]uint64{8, 8, 8, 0, 8}, []uint64{0}},
		"fd_read":             {[5]uint64{0, 8, 8, 8, 8}, []uint64{0, 0, 0}},
		"fd_seek":             {[5]uint64{70, 70, 70, 8, 8}, []uint64{0, 0, 0}},
		"fd_tell":             {[5]uint64{70, 70, 70, 8, 8}, []uint64{0}},
		"fd_write":            {[5]uint64{8, 0, 0, 8, 8}, []uint64{0, 0, 0}},
	}
	for name, test := range tests {
		for fd, want := range test.errno {
			args := append([]uint64{uint64(fd)}, test.rest...)
			expect.Equal(t, system(t, newTestState(), wazerotest.NewFixedMemory(65536), name, args...), want, name, "of", fd)
		}
	}
}

func TestStandardErrorIsKeptUpToItsLimit(t *testing.T) {
	t.Parallel()
	memory := wazerotest.NewFixedMemory(65536)
	s := newTestState()
	text := bytes.Repeat([]byte("0123456789"), 300)
	memory.Write(1000, text)
	memory.WriteUint32Le(0, 1000)
	memory.WriteUint32Le(4, uint32(len(text)))
	for _, fd := range []uint64{fdStdout, fdStderr, fdStderr} {
		must.Equal(t, system(t, s, memory, "fd_write", fd, 0, 1, 100), errnoSuccess, "errno")
		if n, _ := memory.ReadUint32Le(100); n != uint32(len(text)) {
			t.Errorf("%d bytes were written", n)
		}
	}
	if want := append(slices.Clone(text), text[:maxStderrBytes-len(text)]...); !bytes.Equal(s.stderr, want) {
		t.Errorf("kept %d bytes, want the first %d", len(s.stderr), len(want))
	}
	expect.Equal(t, system(t, s, memory, "fd_write", fdStderr, 0, maxVectors+1, 100), errnoInval, "errno", "for too many buffers")
}

func TestPollFiresTheFirstClocksAndGoesOnInTime(t *testing.T) {
	t.Parallel()
	memory := wazerotest.NewFixedMemory(65536)
	s := newTestState()
	subscribe := func(i uint32, clock uint32, timeout uint64, flags uint16) {
		at := i * subscriptionBytes
		memory.WriteUint64Le(at, uint64(i)+100)
		memory.WriteByte(at+8, tagClock)
		memory.WriteUint32Le(at+16, clock)
		memory.WriteUint64Le(at+24, timeout)
		memory.WriteUint16Le(at+40, flags)
	}
	start := s.clock
	subscribe(0, clockMonotonic, uint64(time.Hour), 0)
	subscribe(1, clockMonotonic, uint64(time.Minute), 0)
	subscribe(2, clockRealtime, s.now(clockRealtime)+uint64(time.Minute), flagAbsolute)
	must.Equal(t, system(t, s, memory, "poll_oneoff", 0, 1000, 3, 2000), errnoSuccess, "errno")
	if n, _ := memory.ReadUint32Le(2000); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
	for i, want := range []uint64{101, 102} {
		if got, _ := memory.ReadUint64Le(1000 + uint32(i)*eventBytes); got != want {
			t.Errorf("event %d is of subscription %d, want %d", i, got, want)
		}
	}
	if passed := s.clock - start; passed != uint64(time.Minute) {
		t.Errorf("%s passed, want a minute", time.Duration(passed))
	}

	// For ever, and then some more: the clock stands still at its end.
	for range 3 {
		subscribe(0, clockMonotonic, 1<<64-1, 0)
		system(t, s, memory, "poll_oneoff", 0, 1000, 1, 2000)
		if n, _ := memory.ReadUint32Le(2000); n != 1 || s.now(clockRealtime) > 1<<62 {
			t.Errorf("%d events at %d", n, s.now(clockRealtime))
		}
	}
	for _, count := range []uint64{0, maxSubscriptions + 1} {
		expect.Equal(t, system(t, s, memory, "poll_oneoff", 0, 1000, count, 2000), errnoInval, "errno", "for", count, "subscriptions")
	}
}

// TestAccept_PL3_SystemFunctionsAreDeniedByName links every function that is denied and calls each.
func TestAccept_PL3_SystemFunctionsAreDeniedByName(t *testing.T) {
	t.Parallel()
	e := open(t, Config{})
	denied := 0
	for name, f := range systemCalls() {
		if f.run != nil {
			continue
		}
		denied++
		var params, node []byte
		for _, p := range f.params {
			if p == 'I' {
				params, node = append(params, wasmtest.I64), append(node, wasmtest.I64Const, 0)
			} else {
				params, node = append(params, wasmtest.I32), append(node, wasmtest.I32Const, 0)
			}
		}
		m := small(append(node, wasmtest.Call, 0, wasmtest.Drop, wasmtest.I64Const, 0))
		m.Imports = []wasmtest.Import{{Module: wasiModule, Name: name, Params: params, Results: []byte{wasmtest.I32}}}
		err := callError(t, load(t, e, m.Bytes()), "x")
		if err.Cause != CauseDenied || err.Detail != name || err.Export != abi.ExportNode || !err.Deterministic() {
			t.Errorf("%s: %v", name, err)
		}
		expect.Contains(t, err.Error(), "shadowcourt_node: denied: "+name, "message", err)
	}
	if denied < 20 {
		t.Errorf("only %d functions are denied", denied)
	}
}

// A guest may exit with the codes that wazero keeps for contexts that ended.
func TestExitCodesCannotPassForAnEndedContext(t *testing.T) {
	t.Parallel()
	e := open(t, Config{})
	for _, code := range []int32{0, 1, -1, -1 << 28} {
		m := small(wasmtest.Join(wasmtest.Const(code), []byte{wasmtest.Call, 0, wasmtest.Unreachable}))
		m.Imports = []wasmtest.Import{{Module: wasiModule, Name: procExit, Params: []byte{wasmtest.I32}}}
		err := callError(t, load(t, e, m.Bytes()), "x")
		var exit *exitError
		if err.Cause != CauseExit || !errors.As(err, &exit) || exit.code != uint32(code) {
			t.Errorf("exit(%d): %v", code, err)
		}
	}
}

func TestRandomStreamIsFixed(t *testing.T) {
	t.Parallel()
	memory := wazerotest.NewFixedMemory(65536)
	s := newTestState()
	must.Equal(t, system(t, s, memory, "random_get", 0, 8), errnoSuccess, "errno")
	expect.Equal(t, sliceFuel-s.meter.left.Get(), 8*randomByteFuel, "8 random bytes cost")
	b, _ := memory.Read(0, 8)
	// The stream is part of what a record can be replayed with: it must not change with the version of Go.
	if got := binary.BigEndian.Uint64(b); got != wantRandom {
		t.Errorf("the random stream begins with %#x, want %#x", got, uint64(wantRandom))
	}
	expect.Equal(t, len(randomSeed), 32, "the seed", "bytes, ChaCha8 takes 32")
}

const wantRandom = 0xf7ff4c0a697aacc0

// FuzzSystem makes any calls of preview1 with any arguments on a memory of any content: nothing panics, the errors are those that guests
// know, clocks do not go back, and a second run does the same.
func FuzzSystem(f *testing.F) {
	f.Add([]byte("\x10\x00\x00\x00\x05\x00\x00\x00text"), []byte{1, 12, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 64, 0, 0, 0})
	f.Add(make([]byte, 96), []byte{2, 4, 0, 0, 0, 0, 128, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0})
	f.Add([]byte(nil), []byte{0, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0})
	names := []string{}
	for name, call := range systemCalls() {
		if call.run != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	calls := systemCalls()
	runtime := wazero.NewRuntimeWithConfig(f.Context(), wazero.NewRuntimeConfigInterpreter())
	module := must.Get(runtime.Instantiate(f.Context(), wasmtest.Module{MemoryPages: 1, Memory: "memory"}.Bytes()))(f)
	memory := module.Memory()
	f.Fuzz(func(t *testing.T, content, script []byte) {
		run := func() (left []byte, s *guestState, results []uint64) {
			view, _ := memory.Read(0, pageBytes)
			s = newTestState()
			clear(view[copy(view, content):])
			for rest := script; len(rest) > 0; {
				name := names[int(rest[0])%len(names)]
				rest = rest[1:]
				stack := make([]uint64, max(1, len(calls[name].params)))
				for i, param := range calls[name].params {
					var b [8]byte
					n := 4
					if param == 'I' {
						n = 8
					}
					rest = rest[copy(b[:n], rest):]
					stack[i] = binary.LittleEndian.Uint64(b[:])
				}
				before := s.clock
				results = append(results, calls[name].run(s, memory, stack))
				if s.clock < before || s.clock > s.clockEnd {
					t.Fatalf("%s: the clock went from %d to %d", name, before, s.clock)
				}
			}
			return bytes.Clone(view), s, results
		}
		left, s, results := run()
		for _, errno := range results {
			if !slices.Contains([]uint64{errnoSuccess, errnoBadf, errnoFault, errnoInval, errnoSpipe}, errno) {
				t.Fatalf("errno %d", errno)
			}
		}
		if len(s.stderr) > maxStderrBytes || memory.Size() != pageBytes {
			t.Fatalf("%d bytes of standard error, %d of memory", len(s.stderr), memory.Size())
		}
		again, other, same := run()
		if !slices.Equal(results, same) || !bytes.Equal(left, again) || !bytes.Equal(s.stderr, other.stderr) {
			t.Fatal("a second run does something else")
		}
	})
}
