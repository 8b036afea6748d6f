package module_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// guest answers every node call with the bytes at 8, unless it traps.
func guest(answer []byte, node ...byte) []byte {
	return wasmtest.Module{
		Memory: abi.ExportMemory, MemoryPages: 1, Data: answer,
		Funcs: []wasmtest.Func{
			{Export: abi.ExportAlloc, Params: []byte{wasmtest.I32}, Results: []byte{wasmtest.I32}, Body: wasmtest.Const(1024)},
			{Export: abi.ExportNode, Params: []byte{wasmtest.I32, wasmtest.I32}, Results: []byte{wasmtest.I64}, Body: node},
		},
	}.Bytes()
}

// answering gives pointer<<32 | length of a response of less than 64 bytes.
func answering(n int) []byte {
	return []byte{wasmtest.I64Const, 8, wasmtest.I64Const, 32, wasmtest.I64Shl, wasmtest.I64Const, byte(n), wasmtest.I64Or}
}

// annotated gives a module the manifest of one that plays verdicts and hearings.
func annotated(t *testing.T, wasm []byte) []byte {
	t.Helper()
	wasm, err := module.Annotate(wasm, "m", []byte("{name: m, version: '1', abi: '1.0', calls: [node], families: [verdict, hearing]}"))
	must.Do(t, err)
	return wasm
}

func options() module.Options { return module.Options{Time: time.Millisecond, Now: time.Now} }

func TestEveryRequestIsMeasuredInEveryWay(t *testing.T) {
	t.Parallel()
	response := codec.AppendNodeResponse(nil, &abi.NodeResponse{Failure: &abi.Failure{Code: "no", Message: "why"}})
	told := 0
	o := options()
	o.Progress = func(_ string, done, of int) {
		if told++; done >= of {
			t.Errorf("%d of %d", done, of)
		}
	}
	report := must.Get(module.Run(t.Context(), annotated(t, guest(response, answering(len(response))...)), o))(t)
	names := []string{module.Warm}
	for _, reset := range sandbox.Resets() {
		names = append(names, "pristine, "+reset.String())
	}
	names = append(names, module.Unmetered, module.Interrupted)
	check.Equal(t, told, len(names)-1+4, "progress was told", "times")
	var kinds []string
	for _, r := range report.Requests {
		kinds = append(kinds, r.Name)
		if r.Answer != "failure no: why" || r.Error != "" || r.ResponseBytes != len(response) || r.RequestBytes < 100 || r.Fuel == 0 {
			t.Errorf("%+v", r)
		}
		for i, f := range r.Figures {
			if f.Name != names[i] || f.Calls < 10 || f.MedianNanos <= 0 || f.P99Nanos < f.MedianNanos || f.Allocs <= 0 {
				t.Errorf("%+v, want %s", f, names[i])
			}
		}
	}
	check.Equal(t, strings.Join(kinds, "|"), "node verdict|node hearing, prosecution|node hearing, defense|node hearing, bench", "requests", kinds)
}

func TestWhatCannotBeMeasuredIsSaid(t *testing.T) {
	t.Parallel()
	o := options()
	check.Is(t, check.Err(module.Run(t.Context(), guest(nil, wasmtest.Unreachable), o)), module.ErrNothingToSend, "without a manifest")
	o.Request = []byte("x")
	for call, cause := range map[abi.Call]string{abi.CallNode: "trap: unreachable", abi.CallEdges: "missing_export"} {
		o.Call = call
		report := must.Get(module.Run(t.Context(), guest(nil, wasmtest.Unreachable), o))(t)
		if r := report.Requests[0]; !strings.Contains(r.Error, cause) || len(r.Figures) != 0 {
			t.Errorf("%+v, want %s", r, cause)
		}
	}
	o.Call = abi.CallNode
	report, err := module.Run(t.Context(), guest([]byte("?"), answering(1)...), o)
	if err != nil || !strings.HasPrefix(report.Requests[0].Answer, "invalid: ") {
		t.Errorf("%+v, %v", report, err)
	}
	check.Fails(t, check.Err(module.Run(t.Context(), []byte("text"), o)), "not a WebAssembly file", "text")
}
