package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// recursing recurses as deep as the first number of the request says in a
// function with a small frame, or as the second says in one with a large frame.
func recursing() []byte {
	const thin, fat, fatParams = 2, 3, 64
	load := func(offset byte) []byte { return []byte{wasmtest.LocalGet, 0, wasmtest.I32Load, 2, offset} }
	down := wasmtest.Join([]byte{wasmtest.LocalGet, 0}, wasmtest.Const(1), []byte{wasmtest.I32Sub})
	descend := func(f byte, params int) []byte {
		body := wasmtest.Join([]byte{wasmtest.LocalGet, 0, wasmtest.If, wasmtest.I32}, down)
		for i := 1; i < params; i++ {
			body = append(body, wasmtest.LocalGet, byte(i))
		}
		body = append(body, wasmtest.Call, f)
		for i := range params {
			body = append(body, wasmtest.LocalGet, byte(i), wasmtest.I32Add)
		}
		return wasmtest.Join(body, []byte{0x05, wasmtest.I32Const, 0, wasmtest.End}) // else 0
	}
	m := small(wasmtest.Join(
		load(0), []byte{wasmtest.Call, thin, wasmtest.Drop},
		load(4), bytes.Repeat(wasmtest.Const(1), fatParams-1), []byte{wasmtest.Call, fat, wasmtest.Drop},
		[]byte{wasmtest.I64Const, 0}))
	i32s := bytes.Repeat([]byte{wasmtest.I32}, fatParams)
	m.Funcs = append(m.Funcs,
		wasmtest.Func{Params: i32s[:1], Results: i32s[:1], Body: descend(thin, 1)},
		wasmtest.Func{Params: i32s, Results: i32s[:1], Body: descend(fat, fatParams)})
	return m.Bytes()
}

func recurse(m *Module, thin, fat int) error {
	request := binary.LittleEndian.AppendUint32(nil, uint32(thin))
	_, err := m.Call(context.Background(), abi.CallNode, binary.LittleEndian.AppendUint32(request, uint32(fat)))
	return err
}

// How deep a call may recurse must not depend on the calls before it.
func TestAccept_SB1_CallsBeforeDoNotMakeTheStackLarger(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing runs beside it, and the race detector makes the compiler slow")
	}
	t.Parallel()
	wasm := recursing()
	fresh := load(t, open(t, Config{Reset: ResetFresh}), wasm)
	fits, overflows := 10_000, 8_000_000
	for fits+1 < overflows {
		if middle := (fits + overflows) / 2; recurse(fresh, middle, 0) == nil {
			fits = middle
		} else {
			overflows = middle
		}
	}
	m := load(t, open(t, Config{}), wasm)
	for _, before := range []int{0, 1, 40, 100, 1000, 4000} {
		for thin, want := range map[int]bool{fits: true, overflows: false} {
			must.Do(t, recurse(m, 0, before), before, "large frames")
			if err := recurse(m, thin, 0); (err == nil) != want {
				t.Errorf("after %d large frames, %d small ones: %v; alone they fit: %v", before, thin, err, want)
			}
		}
	}
}

// What the sandbox changes of wazero must be there: functions run on the stack
// of their instance, which is as long as it is said to be, and no longer.
func TestFunctionsRunOnTheStackOfTheirInstance(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("instances have a stack of their own on Linux only")
	}
	m := load(t, open(t, Config{}), recursing())
	in := must.Get(m.pool.take(t.Context(), time.Now))(t)
	defer in.close()
	deepest := 0
	for deep := 1 << 10; deep < 1<<24 && deepest == 0; deep += deep / 8 {
		in.begin(t.Context())
		_, err := in.direct(abi.ExportNode, binary.LittleEndian.AppendUint32(nil, uint32(deep)), 0)
		if h := in.functions[abi.ExportNode]; !h.placed || stackLength(h.Function) != reservedStack {
			t.Fatalf("%d calls deep: the function has a stack of %d bytes", deep, stackLength(h.Function))
		}
		if err != nil && strings.Contains(err.Error(), "stack overflow") {
			deepest = deep
		} else if err != nil {
			t.Fatal(err)
		}
	}
	used := in.callStack.Bytes()[reservedStack-stackBytes:]
	below := in.callStack.Bytes()[reservedStack-stackBytes-stackMargin : reservedStack-stackBytes]
	lowest := bytes.IndexFunc(used, func(r rune) bool { return r != 0 })
	if deepest == 0 || lowest > 64<<10 || !bytes.Equal(below, make([]byte, stackMargin)) {
		t.Errorf("it overflows %d calls deep, %d bytes above the bottom, and the margin is as it was: %v",
			deepest, lowest, bytes.Equal(below, make([]byte, stackMargin)))
	}
	must.Do(t, in.restore())
	if kept := used[:stackBytes-keptStack]; !bytes.Equal(kept, make([]byte, len(kept))) {
		t.Error("the stack was not given back")
	}
}
