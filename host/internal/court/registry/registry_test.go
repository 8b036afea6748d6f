package registry_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// saying is a module that answers every node call with one byte.
func saying(what byte, change func(*abi.Manifest)) sandbox.Bytes {
	m := abi.Manifest{
		Name: "judge", Version: "1.0.0", ABI: abi.Version,
		Calls: []abi.Call{abi.CallNode}, Families: []abi.Family{abi.FamilyVerdict},
	}
	if change != nil {
		change(&m)
	}
	return with(what, wasmtest.Custom{Name: abi.ManifestSection, Payload: codec.AppendManifest(nil, &m)})
}

func with(what byte, customs ...wasmtest.Custom) sandbox.Bytes {
	return wasmtest.Module{
		Memory: abi.ExportMemory, MemoryPages: 1, Data: []byte{what}, Customs: customs,
		Funcs: []wasmtest.Func{
			{Export: abi.ExportAlloc, Params: []byte{wasmtest.I32}, Results: []byte{wasmtest.I32}, Body: wasmtest.Const(1024)},
			{
				Export: abi.ExportNode, Params: []byte{wasmtest.I32, wasmtest.I32}, Results: []byte{wasmtest.I64},
				Body: []byte{wasmtest.I64Const, 8, wasmtest.I64Const, 32, wasmtest.I64Shl, wasmtest.I64Const, 1, wasmtest.I64Or},
			},
		},
	}.Bytes()
}

// needs of a pipeline with two modules.
func needs() []registry.Need {
	need := registry.Need{Calls: []abi.Call{abi.CallNode}, Families: []abi.Family{abi.FamilyVerdict}}
	first, second := need, need
	first.Module, second.Module = "first", "second"
	return []registry.Need{first, second}
}

func both(what byte) map[string]sandbox.File {
	return map[string]sandbox.File{"first": saying(what, nil), "second": saying(what, nil)}
}

func open(t *testing.T) *registry.Registry {
	t.Helper()
	engine, err := sandbox.New(t.Context(), sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := registry.New(engine)
	t.Cleanup(func() {
		if err := errors.Join(r.Close(context.Background()), engine.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return r
}

func install(t *testing.T, r *registry.Registry, what byte) {
	t.Helper()
	if err := r.Install(t.Context(), both(what), needs(), nil); err != nil {
		t.Fatal(err)
	}
}

func acquire(t *testing.T, r *registry.Registry) *registry.Generation {
	t.Helper()
	g, err := r.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// says calls a module of a generation.
func says(g *registry.Generation, name string) (string, error) {
	m, err := g.Module(name)
	if err != nil {
		return "", err
	}
	out, err := m.Call(context.Background(), abi.CallNode, []byte("x"))
	return string(out.Bytes), err
}

func TestAGenerationClosesWhenItsLastTrialEnds(t *testing.T) {
	t.Parallel()
	r := open(t)
	install(t, r, 'a')
	one, other := acquire(t, r), acquire(t, r)
	install(t, r, 'b')
	newer := acquire(t, r)
	if one != other || newer == one || one.Number() != 1 || newer.Number() != 2 {
		t.Errorf("generations %d, %d and %d", one.Number(), other.Number(), newer.Number())
	}
	for range 2 {
		if got, err := says(one, "first"); got != "a" || err != nil {
			t.Errorf("the older generation says %q, %v", got, err)
		}
		if got, err := says(newer, "second"); got != "b" || err != nil {
			t.Errorf("the newer generation says %q, %v", got, err)
		}
		if other != nil { // the other trial is still there after this
			if err := other.Release(t.Context()); err != nil {
				t.Error(err)
			}
			other = nil
		}
	}
	if err := one.Release(t.Context()); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"first", "second"} {
		if _, err := says(one, name); !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("%s of a generation without trials: %v", name, err)
		}
	}
	if got, err := says(newer, "first"); got != "b" || err != nil {
		t.Errorf("the newer generation says %q, %v", got, err)
	}
	if _, err := newer.Module("third"); err == nil {
		t.Error("there is a module that nobody installed")
	}
	if err := newer.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if got, err := says(acquire(t, r), "first"); got != "b" || err != nil {
		t.Errorf("the current generation, of which all trials ended, says %q, %v", got, err)
	}
}

// A swap of one module leaves the others as they are, and closes the one alone.
func TestModulesThatASwapDoesNotChangeStayWarm(t *testing.T) {
	t.Parallel()
	r := open(t)
	install(t, r, 'a')
	older := acquire(t, r)
	files := both('a')
	files["second"] = saying('b', nil)
	if err := r.Install(t.Context(), files, needs(), nil); err != nil {
		t.Fatal(err)
	}
	newer := acquire(t, r)
	for name, same := range map[string]bool{"first": true, "second": false} {
		one, err1 := older.Module(name)
		other, err2 := newer.Module(name)
		if err := errors.Join(err1, err2); err != nil || (one == other) != same || (older.Digests()[name] == newer.Digests()[name]) != same {
			t.Errorf("%s: the same module %t, want %t, %v", name, one == other, same, err)
		}
	}
	bad := both('c')
	bad["second"] = sandbox.Bytes(nil)
	bad["first"] = files["first"] // held by the set that is rejected, for a moment
	if err := r.Install(t.Context(), bad, needs(), nil); err == nil {
		t.Error("a set without wasm was installed")
	}
	if err := older.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := says(older, "second"); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("the second of the older generation: %v", err)
	}
	if got, err := says(newer, "first"); got != "a" || err != nil {
		t.Errorf("what both have closed with the older: %q, %v", got, err)
	}
	if err := errors.Join(r.Close(t.Context()), newer.Release(t.Context())); err != nil {
		t.Error(err)
	}
	if _, err := says(newer, "first"); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after the last generation: %v", err)
	}
	grants := needs()
	grants[0].Granted = []abi.Capability{abi.CapLog}
	asking := both('a')
	asking["first"] = saying('a', func(m *abi.Manifest) { m.Capabilities = []abi.Capability{abi.CapLog} })
	r = open(t)
	if err := r.Install(t.Context(), asking, grants, nil); err != nil {
		t.Fatal(err)
	}
	var rejected *registry.RejectedError
	if err := r.Install(t.Context(), asking, needs(), nil); !errors.As(err, &rejected) || !rejected.Has(registry.FaultCapability) {
		t.Errorf("a module that is there already escapes the checks: %v", err)
	}
}

// Rows that host/swap_test.go has are not here.
func TestAccept_PL2_ARejectedModuleLeavesTheIncumbent(t *testing.T) {
	t.Parallel()
	r := open(t)
	install(t, r, 'a')
	change := func(f func(*abi.Manifest)) sandbox.Bytes { return saying('b', f) }
	for name, test := range map[string]struct {
		wasm sandbox.Bytes
		code registry.FaultCode
	}{
		"a later version":   {change(func(m *abi.Manifest) { m.ABI = "1.99" }), registry.FaultABIVersion},
		"a version of text": {change(func(m *abi.Manifest) { m.ABI = "one.two" }), registry.FaultABIVersion},
		"promises nothing":  {change(func(m *abi.Manifest) { m.Calls = nil }), registry.FaultManifest},
	} {
		t.Run(name, func(t *testing.T) {
			files := both('b')
			files["second"] = test.wasm
			err := r.Install(t.Context(), files, needs(), nil)
			var rejected *registry.RejectedError
			if !errors.As(err, &rejected) || len(rejected.Faults) != 1 || !rejected.Has(test.code) || rejected.Faults[0].Module != "second" {
				t.Errorf("%v, want %s of the second", err, test.code)
			}
			stands(t, r, 'a', 1)
		})
	}
	err := r.Install(t.Context(), map[string]sandbox.File{"first": with('b')}, needs(), nil)
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 2 {
		t.Errorf("the faults of two modules: %q", lines)
	}
	other := change(func(m *abi.Manifest) { m.Calls, m.Families, m.Edges = []abi.Call{abi.CallEdges}, nil, []string{"HD1"} })
	err = r.Install(t.Context(), map[string]sandbox.File{"first": saying('b', nil), "second": other}, needs(), nil)
	if rejected := (*registry.RejectedError)(nil); !errors.As(err, &rejected) || !rejected.Has(registry.FaultCall) || rejected.Has(registry.FaultFamily) {
		t.Errorf("a module without the calls is rejected for its nodes: %v", err)
	}
	asked := ""
	err = r.Install(t.Context(), both('b'), needs(), func(codeDigest func(string) string) error {
		asked = codeDigest("first")
		return errors.New("too much alike")
	})
	var rejected *registry.RejectedError
	if !errors.As(err, &rejected) || !rejected.Has(registry.FaultSides) || !strings.HasPrefix(asked, "sha256:") {
		t.Errorf("%v, asked about %q", err, asked)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Install(ended, both('b'), needs(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	stands(t, r, 'a', 1)
}

// stands checks the current generation against what it should be.
func stands(t *testing.T, r *registry.Registry, what byte, number uint64) {
	t.Helper()
	g := acquire(t, r)
	defer func() { _ = g.Release(t.Context()) }()
	for _, name := range []string{"first", "second"} {
		if got, err := says(g, name); got != string(what) || err != nil || g.Number() != number {
			t.Errorf("%s of generation %d says %q, %v", name, g.Number(), got, err)
		}
	}
}

func TestClosedRegistriesAndEmptyOnes(t *testing.T) {
	t.Parallel()
	r := open(t)
	if _, err := r.Acquire(); !errors.Is(err, registry.ErrClosed) {
		t.Errorf("before the first Install: %v", err)
	}
	install(t, r, 'a')
	g := acquire(t, r)
	for range 2 {
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Acquire(); !errors.Is(err, registry.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := r.Install(t.Context(), both('b'), needs(), nil); !errors.Is(err, registry.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if got, err := says(g, "first"); got != "a" || err != nil {
		t.Errorf("a trial that goes on after Close: %q, %v", got, err)
	}
	if err := g.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := says(g, "first"); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after its last trial: %v", err)
	}
}

// Swaps from several sides, while trials go on: each trial finds two modules
// of one set, from its beginning to its end, and the last number is that of all
// installs.
func TestHammerParallelSwaps(t *testing.T) {
	t.Parallel()
	r := open(t)
	install(t, r, 'a')
	const swappers, swaps, trials = 3, 8, 4
	var going, all sync.WaitGroup
	var done atomic.Bool
	for s := range swappers {
		going.Go(func() {
			for i := range swaps {
				if err := r.Install(context.Background(), both(byte('b'+(s+i)%20)), needs(), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range trials {
		all.Go(func() {
			for last := uint64(0); !done.Load(); {
				g, err := r.Acquire()
				if err != nil {
					t.Error(err)
					return
				}
				if g.Number() < last {
					t.Errorf("generation %d after %d", g.Number(), last)
				}
				last = g.Number()
				first, err1 := says(g, "first")
				second, err2 := says(g, "second")
				if err := errors.Join(err1, err2, g.Release(context.Background())); err != nil || first != second {
					t.Errorf("generation %d says %q and %q, %v", last, first, second, err)
				}
			}
		})
	}
	going.Wait()
	done.Store(true)
	all.Wait()
	g := acquire(t, r)
	if g.Number() != 1+swappers*swaps {
		t.Errorf("generation %d after %d installs", g.Number(), 1+swappers*swaps)
	}
	if err := g.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// Samples are what the contract allows, for everything that a module may serve.
func TestSamplesAreValid(t *testing.T) {
	t.Parallel()
	m := &abi.Manifest{
		Calls:    []abi.Call{abi.CallNode, abi.CallContest, abi.CallEdges, abi.CallJudge},
		Families: []abi.Family{abi.FamilyIndict, abi.FamilyDiscover, abi.FamilyDefend, abi.FamilyHearing, abi.FamilyVerdict},
		Edges:    []string{"HD1", "HD2"}, Criteria: []string{"c"},
	}
	var names []string
	for _, s := range registry.Samples(m) {
		var err error
		switch s.Call {
		case abi.CallNode:
			_, err = codec.DecodeNodeRequest(s.Request, 0)
		case abi.CallContest:
			_, err = codec.DecodeContestRequest(s.Request, 0)
		case abi.CallEdges:
			_, err = codec.DecodeEdgeRequest(s.Request, 0)
		case abi.CallJudge:
			_, err = codec.DecodeJudgeRequest(s.Request, 0)
		}
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		names = append(names, s.Name)
	}
	want := []string{
		"node indict", "node discover", "node defend", "node hearing, prosecution", "node hearing, defense", "node hearing, bench",
		"node verdict", "contest", "edges", "judge",
	}
	if !slices.Equal(names, want) {
		t.Errorf("samples %q", names)
	}
	if samples := registry.Samples(&abi.Manifest{Families: m.Families, Edges: m.Edges}); len(samples) > 0 {
		t.Errorf("%d samples for calls that are not served", len(samples))
	}
}
