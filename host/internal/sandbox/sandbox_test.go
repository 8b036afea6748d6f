package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// TestMain makes a directory for what tests share: the guest that is built once, and its compiled code.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sandbox-test-")
	if user, none := os.UserCacheDir(); err == nil {
		cacheDir, err = filepath.Join(user, "shadowcourt", "modules"), none
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shared = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

var (
	shared   string // a folder of this run
	cacheDir string // the compile cache that all test packages and the command share
)

// behavesGuest is the guest of testdata/behaves, built once.
var behavesGuest = sync.OnceValues(func() ([]byte, error) { return buildGuest("behaves") })

// buildGuest builds a guest of testdata, with the toolchain that runs the tests.
func buildGuest(name string) ([]byte, error) {
	out := filepath.Join(shared, name+".wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid=", "-o", out, "./testdata/"+name)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the guest: %w\n%s", err, said)
	}
	return os.ReadFile(out)
}

func goGuest(tb testing.TB) []byte {
	tb.Helper()
	return must.Get(behavesGuest())(tb)
}

func open(tb testing.TB, config Config) *Engine {
	tb.Helper()
	e := must.Get(New(context.Background(), config))(tb)
	tb.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return e
}

func load(tb testing.TB, e *Engine, wasm []byte) *Module {
	tb.Helper()
	return must.Get(e.Load(context.Background(), wasm))(tb)
}

// goModule loads the Go guest once for all tests with the same limits.
var goModules = struct {
	sync.Mutex
	byLimits map[Limits]*Module
}{byLimits: map[Limits]*Module{}}

func goModule(tb testing.TB, limits Limits) *Module {
	tb.Helper()
	goModules.Lock()
	defer goModules.Unlock()
	if m, ok := goModules.byLimits[limits]; ok {
		return m
	}
	e := must.Get(New(context.Background(), Config{Limits: limits, CacheDir: cacheDir}))(tb)
	m := load(tb, e, goGuest(tb)) // closed with the process
	goModules.byLimits[limits] = m
	return m
}

func call(tb testing.TB, m *Module, request string) []byte {
	tb.Helper()
	out, err := m.Call(context.Background(), abi.CallNode, []byte(request))
	if err != nil {
		tb.Fatalf("call %q: %v", request, err)
	}
	return out.Bytes
}

func callError(tb testing.TB, m *Module, request string) *CallError {
	tb.Helper()
	out, err := m.Call(context.Background(), abi.CallNode, []byte(request))
	if err == nil {
		tb.Fatalf("call %q gave %d bytes, want an error", request, len(out.Bytes))
	}
	var callErr *CallError
	if !errors.As(err, &callErr) {
		tb.Fatalf("call %q: %T is no *CallError: %v", request, err, err)
	}
	if callErr.Digest != m.Info().Digest {
		tb.Errorf("call %q: the error names module %s", request, callErr.Digest)
	}
	return callErr
}

func faults(tb testing.TB, err error) []FaultCode {
	tb.Helper()
	var loadErr *LoadError
	if !errors.As(err, &loadErr) {
		tb.Fatalf("%T is no *LoadError: %v", err, err)
	}
	var codes []FaultCode
	for _, f := range loadErr.Faults {
		codes = append(codes, f.Code)
	}
	slices.Sort(codes)
	return codes
}

// echoBody gives the request back: pointer<<32 | length.
var echoBody = []byte{
	wasmtest.LocalGet, 0, wasmtest.I64ExtendU, wasmtest.I64Const, 32, wasmtest.I64Shl,
	wasmtest.LocalGet, 1, wasmtest.I64ExtendU, wasmtest.I64Or,
}

// small is a module that keeps the contract in a few bytes; node is the body of its shadowcourt_node.
func small(node []byte) wasmtest.Module {
	return wasmtest.Module{
		Memory: abi.ExportMemory, MemoryPages: 1,
		Funcs: []wasmtest.Func{
			{Export: abi.ExportAlloc, Params: []byte{wasmtest.I32}, Results: []byte{wasmtest.I32}, Body: wasmtest.Const(1024)},
			{Export: abi.ExportNode, Params: []byte{wasmtest.I32, wasmtest.I32}, Results: []byte{wasmtest.I64}, Body: node},
		},
	}
}
