package registry_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// saying is a module that answers every node call with one byte.
func moduleWith(what byte, change func(*abi.Manifest)) sandbox.Bytes {
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
	return map[string]sandbox.File{"first": moduleWith(what, nil), "second": moduleWith(what, nil)}
}

func open(t *testing.T) *registry.Registry {
	t.Helper()
	engine := must.Get(sandbox.New(t.Context(), sandbox.Config{}))(t)
	r := registry.New(engine, nil)
	t.Cleanup(func() {
		must.Do(t, errors.Join(r.Close(context.Background()), engine.Close(context.Background())))
	})
	return r
}

func install(t *testing.T, r *registry.Registry, what byte) {
	t.Helper()
	must.Do(t, r.Install(t.Context(), both(what), needs(), nil))
}

func acquire(t *testing.T, r *registry.Registry) *registry.Generation {
	t.Helper()
	return must.Get(r.Acquire())(t)
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
			must.Do(t, other.Release(t.Context()))
			other = nil
		}
	}
	must.Do(t, one.Release(t.Context()))
	for _, name := range []string{"first", "second"} {
		check.Is(t, check.Err(says(one, name)), sandbox.ErrClosed, name, "of a generation without trials")
	}
	if got, err := says(newer, "first"); got != "b" || err != nil {
		t.Errorf("the newer generation says %q, %v", got, err)
	}
	if _, err := newer.Module("third"); err == nil {
		t.Error("there is a module that nobody installed")
	}
	must.Do(t, newer.Release(t.Context()))
	if got, err := says(acquire(t, r), "first"); got != "b" || err != nil {
		t.Errorf("the current generation, of which all trials ended, says %q, %v", got, err)
	}
}

// Swaps from several sides, while trials go on: each trial finds two modules of one set, from its beginning to its end, and the last number
// is that of all installs.
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
	check.Equal(t, g.Number(), 1+swappers*swaps, "generation", "after", "installs")
	must.Do(t, g.Release(t.Context()))
}

// What plugin check rejects of the lists of a manifest, loading and the check of a pipeline reject, too.
func TestListsOfAManifestThatContradictThemselves(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*abi.Manifest)
		want   string
	}{
		"a family twice":       {func(m *abi.Manifest) { m.Families = append(m.Families, abi.FamilyVerdict) }, "its `families` name \"verdict\" twice"},
		"a call twice":         {func(m *abi.Manifest) { m.Calls = append(m.Calls, abi.CallNode) }, "its `calls` name \"node\" twice"},
		"an edge twice":        {func(m *abi.Manifest) { m.Edges = []string{"a", "b", "a"} }, "its `edges` name \"a\" twice"},
		"a criterion twice":    {func(m *abi.Manifest) { m.Criteria = []string{"c", "c"} }, "its `criteria` name \"c\" twice"},
		"a capability twice":   {func(m *abi.Manifest) { m.Capabilities = []abi.Capability{abi.CapLog, abi.CapLog} }, "its `capabilities` name \"log\" twice"},
		"edges without calls":  {func(m *abi.Manifest) { m.Edges = []string{"a"} }, "its `edges` are not empty, and it promises no edges calls"},
		"a family of the host": {func(m *abi.Manifest) { m.Families = append(m.Families, abi.FamilySynthesize) }, "its `families` name synthesize"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := both(1)
			files["second"] = moduleWith(1, tc.change)
			for how, err := range map[string]error{
				"load": open(t).Install(t.Context(), files, needs(), nil), "check": registry.Check(files, needs()),
			} {
				rejected, ok := errors.AsType[*registry.RejectedError](err)
				if !ok || !rejected.Has(registry.FaultManifest) || !strings.Contains(err.Error(), "second: "+tc.want) {
					t.Errorf("%s: %v, want %s", how, err, tc.want)
				}
			}
		})
	}
}
