package bombs_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/complexity"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/testkit/bombs"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// small limits keep this test short; make bombs measures the defaults.
var small = complexity.Cost{Steps: 100_000_000, Bytes: 16 << 20}

// smallFile is the largest file that this test makes.
const smallFile = 256 << 10

// TestAccept_FX6_CompileBombs: each family is rejected at some size before it is compiled, and compiles below.
func TestAccept_FX6_CompileBombs(t *testing.T) {
	t.Parallel()
	e := must.Get(sandbox.New(t.Context(), sandbox.Config{Limits: sandbox.Limits{
		CompileSteps: int64(small.Steps), CompileBytes: int64(small.Bytes), TableEntries: 1_000_000, // so that elements are not rejected for their number
	}}))(t)
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	for i, f := range bombs.Families() {
		t.Run(f.Name, func(t *testing.T) {
			if i%4 > 0 {
				tier.Long(t, "host/internal/sandbox/complexity")
			}
			size := largest(f, small, smallFile)
			m := must.Get(e.Load(t.Context(), f.Make(size)))(t, "size", size, "rejected")
			must.Do(t, m.Close(t.Context()))
			wasm := f.Make(2*size + 2)
			if len(wasm) > smallFile {
				return // only files that are large cost much
			}
			var fault *sandbox.LoadError
			if _, err := e.Load(t.Context(), wasm); !errors.As(err, &fault) || !rejected(fault) {
				t.Errorf("size %d: %v", 2*size+2, err)
			}
		})
	}
}

// rejected reports whether a module was rejected for what its structure costs.
func rejected(fault *sandbox.LoadError) bool {
	return len(fault.Faults) == 1 && fault.Has(sandbox.FaultTooComplex)
}

// TestShippedModulesAreFarBelowTheLimits: what compilers make stays accepted.
func TestShippedModulesAreFarBelowTheLimits(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../../../../bin/modules/*.wasm")
	if err != nil || len(names) == 0 {
		t.Fatalf("no modules (%v): make plugins builds them", err)
	}
	slices.Sort(names)
	for _, name := range names {
		wasm := must.Get(os.ReadFile(name))(t)
		cost := must.Get(estimate(wasm, defaults))(t, name)
		t.Logf("%s: %.2f of the steps, %.2f of the bytes", filepath.Base(name), cost.Steps/defaults.Steps, cost.Bytes/defaults.Bytes)
		if cost.Steps > 0.3*defaults.Steps || cost.Bytes > 0.45*defaults.Bytes {
			t.Errorf("%s costs more than 0.3 of the steps or 0.45 of the bytes: %+v", name, cost)
		}
	}
}
