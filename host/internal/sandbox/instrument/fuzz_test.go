package instrument_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// FuzzRewrite begins with modules of all that is metered in a way of its own.
func FuzzRewrite(f *testing.F) {
	for _, wasm := range endless() {
		if len(wasm) < 1000 {
			f.Add(wasm)
		}
	}
	f.Add(tightSieve())
	f.Add(one([]byte{wasmtest.I32}, []byte{0x02, 0x40, 0x02, 0x40, 0x20, 0, 0x0e, 2, 0, 1, 2, 0x0b, 0x01, 0x0b, 0x20, 0, 0x40, 0, 0x1a}))
	f.Add(one(nil, []byte{0x10, 1, 0xd2, 0, 0x1a, 0x23, 0, 0x1a, 0xfc, 9, 0}))
	start := 0
	f.Add(wasmtest.Module{
		Imports: []wasmtest.Import{{Module: "m", Name: "f"}}, Funcs: []wasmtest.Func{{Body: []byte{0x10, 0}}},
		MemoryPages: 1, Globals: 2, Start: &start, Data: []byte("data"), TableMin: 1,
	}.Bytes())
	f.Fuzz(func(t *testing.T, wasm []byte) { holdsFor(t, wasm) })
}

// holdsFor is what holds for any bytes: no panic; a fault has an offset in the file; what the compiler takes before, it takes after, and
// nothing else. It reports whether the module was valid.
func holdsFor(t *testing.T, wasm []byte) bool {
	t.Helper()
	file, err := wasmfile.Parse(wasm)
	if err != nil {
		return false
	}
	validErr := errTooBig
	if !tooBig(file) {
		validErr = compiles(wasm)
	}
	for _, fuel := range []bool{false, true} {
		before := bytes.Clone(wasm)
		p, err := instrument.Rewrite(file, instrument.Options{Fuel: fuel, MaxTableEntries: 100})
		if !bytes.Equal(before, wasm) {
			t.Fatal("the file was written to")
		}
		var fault *wasmfile.Error
		if err != nil && (!errors.As(err, &fault) || fault.Offset < 0 || fault.Offset > len(wasm)) {
			t.Fatalf("%T: %v", err, err)
		}
		switch {
		case errors.Is(validErr, errTooBig):
		case err == nil && validErr == nil:
			must.Do(t, compiles(p.Wasm), "fuel", fuel, "no longer valid")
		case err != nil && validErr == nil && !rejectable(fault):
			t.Fatalf("fuel %v: a valid module is rejected: %v: %x", fuel, err, wasm)
		case err == nil && validErr != nil && compiles(p.Wasm) == nil && !takenOut(validErr):
			t.Fatalf("fuel %v: it was not valid: %v", fuel, validErr)
		}
	}
	return validErr == nil
}

// TestMutatedModules changes bytes of the specification's modules.
func TestMutatedModules(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(specDir(t), "v2", "testdata", "*.wasm"))
	if err != nil || len(names) < 1000 {
		t.Fatalf("%d modules (%v)", len(names), err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	tried, valid := 0, 0
	for _, name := range names {
		wasm := must.Get(os.ReadFile(name))(t)
		for range 20 {
			mutant := bytes.Clone(wasm)
			for range 1 + random.IntN(3) {
				if len(mutant) > 8 {
					mutant[8+random.IntN(len(mutant)-8)] = byte(random.Uint32())
				}
			}
			tried++
			if holdsFor(t, mutant) {
				valid++
			}
		}
	}
	t.Logf("%d mutants, %d of them valid", tried, valid)
	if valid < 1000 {
		t.Errorf("only %d of %d mutants are valid modules", valid, tried)
	}
}

// takenOut are faults that go with what is taken out, and do no harm: in
// custom sections, and of start functions that nothing else declares.
func takenOut(err error) bool {
	return declaresStart(err) || strings.Contains(err.Error(), "custom")
}

// rejectable faults are those of modules that the compiler takes: with the names that are the host's own, with too dense bodies, and with
// vector instructions whose number has bits that the compiler does not read, and the specification does.
func rejectable(fault *wasmfile.Error) bool {
	return strings.Contains(fault.Msg, "instruction 0xfd") ||
		strings.Contains(fault.Msg, "the host's own") || strings.Contains(fault.Msg, "times as long")
}

// tooBig modules would take the compiler long.
func tooBig(file *wasmfile.File) bool {
	return file.Size() > 4096 || file.Funcs() > 200
}

func compiles(wasm []byte) (err error) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2))
	defer func() { _ = r.Close(ctx) }()
	defer func() {
		if recover() != nil {
			err = errPanic
		}
	}()
	_, err = r.CompileModule(ctx, wasm)
	return err
}

var (
	errPanic  = errors.New("the compiler panicked")
	errTooBig = errors.New("too big to compile in a fuzz test")
)
