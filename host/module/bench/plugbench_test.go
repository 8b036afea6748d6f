package bench_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/plugbench"
	"github.com/shadowcourt/shadowcourt/host/internal/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmtest"
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

var manifest = &abi.Manifest{Name: "m", Calls: []abi.Call{abi.CallNode}, Families: []abi.Family{abi.FamilyVerdict, abi.FamilyHearing}}

func options() plugbench.Options { return plugbench.Options{Time: time.Millisecond, Now: time.Now} }

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
	report, err := plugbench.Run(t.Context(), guest(response, answering(len(response))...), manifest, o)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{plugbench.Warm}
	for _, reset := range sandbox.Resets() {
		names = append(names, "pristine, "+reset.String())
	}
	names = append(names, plugbench.Unmetered, plugbench.Interrupted)
	if told != len(names)-1+4 {
		t.Errorf("progress was told %d times", told)
	}
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
	if want := "node verdict|node hearing, prosecution|node hearing, defense|node hearing, bench"; strings.Join(kinds, "|") != want {
		t.Errorf("requests %q", kinds)
	}
}

func TestWhatCannotBeMeasuredIsSaid(t *testing.T) {
	t.Parallel()
	o := options()
	if _, err := plugbench.Run(t.Context(), guest(nil, wasmtest.Unreachable), nil, o); !errors.Is(err, plugbench.ErrNothingToSend) {
		t.Errorf("without a manifest: %v", err)
	}
	o.Requests = []registry.Sample{{Name: "mine", Call: abi.CallNode, Request: []byte("x")}, {Name: "other", Call: abi.CallEdges, Request: []byte("x")}}
	report, err := plugbench.Run(t.Context(), guest(nil, wasmtest.Unreachable), nil, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, cause := range []string{"trap: unreachable", "missing_export"} {
		if r := report.Requests[i]; !strings.Contains(r.Error, cause) || len(r.Figures) != 0 {
			t.Errorf("%+v, want %s", r, cause)
		}
	}
	report, err = plugbench.Run(t.Context(), guest([]byte("?"), answering(1)...), nil, o)
	if err != nil || !strings.HasPrefix(report.Requests[0].Answer, "invalid: ") {
		t.Errorf("%+v, %v", report, err)
	}
	var refused *registry.RefusedError
	if _, err := plugbench.Run(t.Context(), []byte("text"), nil, o); !errors.As(err, &refused) || !refused.Has("not_wasm") {
		t.Errorf("text: %v", err)
	}
}
