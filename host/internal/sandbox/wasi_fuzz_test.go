package sandbox

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// FuzzSystem makes any calls of preview1 with any arguments on a memory of any
// content: nothing panics, the errors are those that guests know, clocks do not
// go back, and a second run does the same.
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
