package sandbox

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	expect "github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// TestAccept_PL2_BadModulesAreRejected: each with its reason, and the engine and the module that it has go on.
func TestAccept_PL2_BadModulesAreRejected(t *testing.T) {
	t.Parallel()
	start := 0
	with := func(change func(*wasmtest.Module)) []byte {
		m := small(echoBody)
		change(&m)
		return m.Bytes()
	}
	importing := func(module, name string, params ...byte) []byte {
		return with(func(m *wasmtest.Module) {
			m.Imports = append(m.Imports, wasmtest.Import{Module: module, Name: name, Params: params, Results: []byte{wasmtest.I32}})
		})
	}
	tests := []struct {
		name   string
		wasm   []byte
		code   FaultCode
		detail string
	}{
		{"no bytes", nil, FaultNotWasm, "offset 0"},
		{"text", []byte("#!/bin/sh\n"), FaultNotWasm, "offset 0: not a WebAssembly file"},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), FaultNotWasm, "offset 4"},
		{"cut off", small(echoBody).Bytes()[:50], FaultNotWasm, "offset"},
		{"too big", make([]byte, 1<<17+1), FaultTooBig, "131073 bytes, the limit is 131072"},
		{"no memory", with(func(m *wasmtest.Module) { m.Memory = "" }), FaultMissingExport, "memory is not exported"},
		{"memory is a function", with(func(m *wasmtest.Module) { m.Memory = ""; m.Funcs = append(m.Funcs, wasmtest.Func{Export: "memory"}) }), FaultWrongSignature, "memory is a function"},
		{"no allocator", with(func(m *wasmtest.Module) { m.Funcs[0].Export = "" }), FaultMissingExport, "shadowcourt_alloc is not exported"},
		{"no call", with(func(m *wasmtest.Module) { m.Funcs[1].Export = "" }), FaultMissingExport, "shadowcourt_judge is exported"},
		{"allocator of 64 bits", with(func(m *wasmtest.Module) { m.Funcs[0].Params = []byte{wasmtest.I64} }), FaultWrongSignature, "export shadowcourt_alloc is (i64) -> (i32), not (i32) -> (i32)"},
		{"call gives nothing", with(func(m *wasmtest.Module) { m.Funcs[1].Results = nil }), FaultWrongSignature, "shadowcourt_node is (i32, i32) -> (), not (i32, i32) -> (i64)"},
		{"network import", importing("env", "connect", wasmtest.I32), FaultForbiddenImport, `"env.connect" is not granted`},
		{"socket import", importing("wasi_snapshot_preview1", "sock_open", wasmtest.I32), FaultForbiddenImport, `"wasi_snapshot_preview1.sock_open"`},
		{"listening socket", importing("wasi_snapshot_preview1", "sock_accept", wasmtest.I32, wasmtest.I32, wasmtest.I32), FaultForbiddenImport, `"wasi_snapshot_preview1.sock_accept"`},
		{"capability not granted", importing("shadowcourt", "complete", wasmtest.I32), FaultForbiddenImport, `"shadowcourt.complete" is not granted`},
		{"import with another signature", importing("wasi_snapshot_preview1", "fd_close", wasmtest.I64), FaultWrongSignature, "is (i64) -> (i32), not (i32) -> (i32)"},
		{"declares too much memory", with(func(m *wasmtest.Module) { m.MemoryPages = 1025 }), FaultMemoryTooLarge, "67174400 bytes of memory, the limit is 67108864"},
		{"declares a huge table", with(func(m *wasmtest.Module) { m.TableMin = 100_000_000 }), FaultTableTooLarge, "100000000 table entries"},
		{"command", with(func(m *wasmtest.Module) { m.Funcs = append(m.Funcs, wasmtest.Func{Export: "_start"}) }), FaultCommandModule, "-buildmode=c-shared"},
		{"initialization that takes parameters", with(func(m *wasmtest.Module) {
			m.Funcs = append(m.Funcs, wasmtest.Func{Export: "_initialize", Params: []byte{wasmtest.I32}})
		}), FaultWrongSignature, "_initialize is (i32) -> (), not () -> ()"},
		{"invalid code", small([]byte{wasmtest.LocalGet, 9}).Bytes(), FaultInvalid, "local index 9"},
		{"trap in the start section", with(func(m *wasmtest.Module) {
			m.Funcs = slices.Insert(m.Funcs, 0, wasmtest.Func{Body: []byte{wasmtest.Unreachable}})
			m.Start = &start
		}), FaultStart, "start: trap: unreachable"},
		{"trap in _initialize", with(func(m *wasmtest.Module) {
			m.Funcs = append(m.Funcs, wasmtest.Func{Export: "_initialize", Body: []byte{wasmtest.Unreachable}})
		}), FaultStart, "_initialize: trap: unreachable"},
		{"data outside of memory", with(func(m *wasmtest.Module) { m.Data = make([]byte, 65536) }), FaultStart, "out_of_bounds_memory"},
		{"exit in _initialize", with(func(m *wasmtest.Module) {
			m.Imports = []wasmtest.Import{{Module: wasiModule, Name: procExit, Params: []byte{wasmtest.I32}}}
			m.Funcs = append(m.Funcs, wasmtest.Func{Export: "_initialize", Body: wasmtest.Join(wasmtest.Const(-1), []byte{wasmtest.Call, 0})})
		}), FaultStart, "_initialize: exit: 4294967295"},
	}
	e := open(t, Config{Limits: Limits{ModuleBytes: 1 << 17}})
	incumbent := load(t, e, small(echoBody).Bytes())
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := e.Load(context.Background(), test.wasm)
			if codes := faults(t, err); !slices.Equal(codes, []FaultCode{test.code}) {
				t.Errorf("faults %v, want just %s: %v", codes, test.code, err)
			}
			expect.Contains(t, err.Error(), test.detail, err)
			expect.Equal(t, string(call(t, incumbent, "echo")), "echo", "the incumbent gave")
		})
	}
}

func TestLoadReportsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	wasm := wasmtest.Module{
		MemoryPages: 2000,
		Imports:     []wasmtest.Import{{Module: "env", Name: "connect"}, {Module: "env", Name: "send"}},
		Funcs:       []wasmtest.Func{{Export: "_start"}},
	}.Bytes()
	_, err := open(t, Config{}).Load(context.Background(), wasm)
	want := []FaultCode{
		FaultCommandModule, FaultForbiddenImport, FaultForbiddenImport, FaultMemoryTooLarge,
		FaultMissingExport, FaultMissingExport, FaultMissingExport,
	}
	if got := faults(t, err); !slices.Equal(got, want) {
		t.Errorf("faults %v, want %v", got, want)
	}
}

func TestFaultsAreBounded(t *testing.T) {
	t.Parallel()
	m := small(echoBody)
	for range 5000 {
		m.Imports = append(m.Imports, wasmtest.Import{Module: strings.Repeat("m", 1000), Name: "f"})
	}
	_, err := open(t, Config{}).Load(context.Background(), m.Bytes())
	expect.Equal(t, len(faults(t, err)), abi.MaxProblems, "faults")
	if n := len(err.Error()); n > 40_000 {
		t.Errorf("the message has %d bytes", n)
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	m := small(echoBody)
	m.Imports = []wasmtest.Import{{Module: wasiModule, Name: "sched_yield", Results: []byte{wasmtest.I32}}}
	plain := m.Bytes()
	annotated := must.Get(wasmfile.Annotate(plain, abi.ManifestSection, []byte("manifest")))(t)
	e := open(t, Config{})
	without, with := load(t, e, plain).Info(), load(t, e, annotated).Info()
	if !bytes.Equal(with.ManifestBytes, []byte("manifest")) || without.ManifestBytes != nil {
		t.Errorf("manifests %q and %q", without.ManifestBytes, with.ManifestBytes)
	}
	if with.Digest == without.Digest || with.CodeDigest != without.CodeDigest {
		t.Errorf("a manifest must change the digest and leave the code digest:\n%+v\n%+v", without, with)
	}
	if !slices.Equal(with.Calls, []abi.Call{abi.CallNode}) || with.Size != len(annotated) {
		t.Errorf("calls %v, size %d", with.Calls, with.Size)
	}
	if len(with.Imports) != 1 || with.Imports[0].Name != "sched_yield" || len(with.Exports) != 3 {
		t.Errorf("imports %v, exports %v", with.Imports, with.Exports)
	}
	inspected, err := Inspect(annotated)
	if err != nil || inspected.Digest != with.Digest || !slices.Equal(inspected.Calls, with.Calls) {
		t.Errorf("Inspect gave %+v, %v", inspected, err)
	}
	var fileErr *wasmfile.Error
	if _, err := Inspect(annotated[:20]); !errors.As(err, &fileErr) {
		t.Errorf("Inspect of half a file: %v", err)
	}
}

// table.grow has no limit of its own in a module that declares none.
func TestTablesCannotGrowWithoutBound(t *testing.T) {
	t.Parallel()
	// ref.null func; i32.const 100,000,000; table.grow 0; i64.extend_i32_u as the answer: -1 is a length beyond every limit.
	node := wasmtest.Join([]byte{0xd0, 0x70}, wasmtest.Const(100_000_000), []byte{0xfc, 15, 0, wasmtest.I64ExtendU})
	m := small(node)
	m.Table = true
	err := callError(t, load(t, open(t, Config{}), m.Bytes()), "x")
	if err.Cause != CauseOutputTooLarge || !strings.Contains(err.Detail, "4294967295") {
		t.Errorf("table.grow was not rejected: %v", err)
	}
}

func TestLoadWithEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	expect.Is(t, expect.Err(open(t, Config{}).Load(ctx, small(echoBody).Bytes())), context.Canceled)
}

// The compiler takes a second for many loops. Loading does not wait for it longer than it may.
func TestCompilingIsLimited(t *testing.T) {
	t.Parallel()
	const loops, nop = 4_000, 0x01 // without the nops the payments would be too long for the file
	body := bytes.Repeat([]byte{wasmtest.Loop, wasmtest.Void, nop, nop, nop, wasmtest.End}, loops)
	wasm := small(append(body, wasmtest.I64Const, 0)).Bytes()
	_, err := open(t, Config{Limits: Limits{CompileTime: 20 * time.Millisecond}}).Load(context.Background(), wasm)
	if codes := faults(t, err); !slices.Equal(codes, []FaultCode{FaultCompileTime}) {
		t.Errorf("faults %v: %v", codes, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	expect.Is(t, expect.Err(open(t, Config{}).Load(ctx, wasm)), context.DeadlineExceeded, "load with a deadline")
}

// Each instance takes up memory for what its module declares.
func TestDeclarationsAreBounded(t *testing.T) {
	t.Parallel()
	m := small(echoBody)
	m.Globals = maxDeclared + 1
	_, err := open(t, Config{}).Load(t.Context(), m.Bytes())
	var rejected *LoadError
	if !errors.As(err, &rejected) || !rejected.Has(FaultMemoryTooLarge) {
		t.Errorf("%d globals: %v", m.Globals, err)
	}
}

// A head tells what the file tells, and the file is read only to compile it.
func TestAHeadStandsForItsFile(t *testing.T) {
	t.Parallel()
	wasm := goGuest(t)
	head := must.Get(HeadOf(wasm))(t)
	if len(head) > len(wasm)/10 {
		t.Errorf("the head of %d bytes has %d", len(wasm), len(head))
	}
	reads := 0
	file := Headed{head, func() ([]byte, error) { reads++; return wasm, nil }}
	got := must.Get(file.Inspect())(t)
	want := must.Get(Inspect(wasm))(t)
	inspected := got
	got.file, got.whole, want.file = nil, nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the head tells %+v, the file %+v", got, want)
	}
	dir := filepath.Join(t.TempDir(), "cache")
	for range 2 {
		m := must.Get(open(t, Config{CacheDir: dir}).LoadInspected(t.Context(), inspected, nil))(t)
		closed(t, m)
	}
	expect.Equal(t, reads, 1, "the file was read", "times")
}

func TestHeadsOfOtherFilesAreRejected(t *testing.T) {
	t.Parallel()
	head := must.Get(HeadOf(small(echoBody).Bytes()))(t)
	broken := errors.New("broken")
	for want, read := range map[string]func() ([]byte, error){
		"the digest of the file is": func() ([]byte, error) { return unique("other"), nil },
		broken.Error():              func() ([]byte, error) { return nil, broken },
	} {
		info := must.Get(Headed{head, read}.Inspect())(t)
		expect.Fails(t, expect.Err(open(t, Config{}).LoadInspected(t.Context(), info, nil)), want)
	}
	for name, head := range map[string][]byte{"a whole module": small(echoBody).Bytes(), "a part": head[:len(head)-30], "no wasm": bytes.Repeat([]byte{1}, 100)} {
		if _, err := (Headed{Head: head}).Inspect(); err == nil {
			t.Errorf("%s is taken for a head", name)
		}
	}
}
