package instrument_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/testkit/fuelzoo"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// nanInputs are NaNs of all sorts, and the numbers that make new ones.
func nanInputs() (f32 []uint32, f64 []uint64) {
	f32 = []uint32{0x7fc00000, 0xffc00000, 0x7fc01234, 0xffc0beef, 0x7fa00000, 0xff800001, 0x7f800000, 0xff800000, 0, 1 << 31, 0x3fc00000, 0xbfc00000}
	f64 = []uint64{
		0x7ff8 << 48, 0xfff8 << 48, 0x7ff8<<48 | 0x1234, 0xfff8<<48 | 0xbeef, 0x7ff4 << 48, 0xfff0<<48 | 1,
		0x7ff0 << 48, 0xfff0 << 48, 0, 1 << 63, math.Float64bits(1.5), math.Float64bits(-1.5),
	}
	return f32, f64
}

// constant is a number or a vector whose lanes differ.
func constant(t byte, i int) []byte {
	f32, f64 := nanInputs()
	switch t {
	case 'f':
		return binary.LittleEndian.AppendUint32([]byte{0x43}, f32[i%len(f32)])
	case 'F':
		return binary.LittleEndian.AppendUint64([]byte{0x44}, f64[i%len(f64)])
	}
	return nil
}

func vectorConstant(wide bool, i int) []byte {
	f32, f64 := nanInputs()
	b := []byte{0xfd, 12}
	if wide {
		b = binary.LittleEndian.AppendUint64(b, f64[i%len(f64)])
		return binary.LittleEndian.AppendUint64(b, f64[(i+5)%len(f64)])
	}
	for lane := range 4 {
		b = binary.LittleEndian.AppendUint32(b, f32[(i+5*lane)%len(f32)])
	}
	return b
}

// shown is where a test writes the bits of a number, and reads them.
const shown = 64

// shows makes two functions of one instruction: f stores what it gives, in each way that shows bits, and g returns it.
func shows(form fuelzoo.Form, p pair) []wasmtest.Func {
	wide := form.Wide()
	in := func(t byte, i int) []byte {
		if t == 'v' {
			return vectorConstant(wide, i)
		}
		return constant(t, i)
	}
	value := in(form.Params[0], p.x)
	if len(form.Params) == 2 {
		value = append(value, in(form.Params[1], p.y)...)
	}
	value = append(value, form.Code...)
	var body []byte
	at := wasmtest.Const(shown)
	switch form.Result {
	case "f":
		body = wasmtest.Join(at, value, []byte{0x38, 0, 0}, // store
			at, value, []byte{0xbc, 0x36, 0, 8}, // reinterpret
			at, []byte{0x43, 0, 0, 0x80, 0x3f}, value, []byte{0x98, 0x38, 0, 16}, // copysign
			at, value, []byte{0xfd, 19, 0xfd, 11, 0, 24}, // splat
			at, value, []byte{0x8c, 0x38, 0, 40}) // neg
	case "F":
		body = wasmtest.Join(at, value, []byte{0x39, 0, 0},
			at, value, []byte{0xbd, 0x37, 0, 8},
			at, []byte{0x44, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, value, []byte{0xa6, 0x39, 0, 16},
			at, value, []byte{0xfd, 20, 0xfd, 11, 0, 24},
			at, value, []byte{0x9a, 0x39, 0, 40})
	case "v":
		body = wasmtest.Join(at, value, []byte{0xfd, 11, 0, 0},
			at, value, []byte{0xfd, 27, 1, 0x36, 0, 16},
			at, value, []byte{0xfd, 29, 1, 0x37, 0, 24},
			at, value, []byte{0xfd, 33, 0, 0x39, 0, 32})
	}
	return []wasmtest.Func{
		{Export: "f" + p.String(), Body: body},
		{Export: "g" + p.String(), Results: []byte{fuelzoo.Type(form.Result[0])}, Body: value},
	}
}

// pair are the numbers of two inputs.
type pair struct{ x, y int }

func (p pair) String() string { return fmt.Sprintf(" %d %d", p.x, p.y) }

func pairs(form fuelzoo.Form) []pair {
	f32, _ := nanInputs()
	var all []pair
	for x := range f32 {
		for y := 0; y < len(f32) && (y == 0 || len(form.Params) == 2); y += 2 + x%2 {
			all = append(all, pair{x, y})
		}
	}
	return all
}

// TestAccept_FX7_NaNBits: the results of all arithmetic on floats, with NaNs of all sorts, show the same bits wherever they run, and NaNs
// are the canonical ones. testdata/nan has the bits.
func TestAccept_FX7_NaNBits(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]wazero.RuntimeConfig{
		"compiler": wazero.NewRuntimeConfig(), "interpreter": wazero.NewRuntimeConfigInterpreter(),
	} {
		for _, fuel := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, fuel %v", name, fuel), func(t *testing.T) {
				t.Parallel()
				got := nanBits(t, config, fuel)
				golden := filepath.Join("testdata", "nan", "bits.txt")
				if *update && name == "compiler" && fuel {
					must.Do(t, os.WriteFile(golden, got, 0o600))
				}
				want := must.Get(os.ReadFile(golden))(t)
				if !bytes.Equal(got, want) {
					t.Errorf("other bits than in %s: %s", golden, firstDifference(got, want))
				}
			})
		}
	}
}

func firstDifference(got, want []byte) string {
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("line %d: got %s, want %s", i+1, a[i], b[i])
		}
	}
	return "another number of lines"
}

// nanBits has a line for each instruction and each two inputs: what it returned, and a digest of what it stored.
func nanBits(t *testing.T, config wazero.RuntimeConfig, fuel bool) []byte {
	t.Helper()
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, config.WithCoreFeatures(api.CoreFeaturesV2))
	defer func() { _ = r.Close(ctx) }()
	must.Get(r.NewHostModuleBuilder(instrument.YieldModule).NewFunctionBuilder().WithFunc(func() {}).Export(instrument.YieldName).Instantiate(ctx))(t)
	var out []byte
	for _, form := range fuelzoo.Floats() {
		module := wasmtest.Module{MemoryPages: 1, Memory: "memory"}
		for _, p := range pairs(form) {
			module.Funcs = append(module.Funcs, shows(form, p)...)
		}
		program := rewrite(t, module.Bytes(), fuel)
		m := must.Get(r.InstantiateWithConfig(ctx, program.Wasm, wazero.NewModuleConfig().WithName("")))(t, form.Name)
		machine{m, program}.fill(aLot)
		for _, p := range pairs(form) {
			must.Get(m.ExportedFunction("f" + p.String()).Call(ctx))(t)
			given := must.Get(m.ExportedFunction("g" + p.String()).Call(ctx))(t)
			if form.Result == "f" {
				given[0] &= 1<<32 - 1
			}
			if !onlyCanonical(form, given) {
				t.Errorf("%s%s: %x has a NaN that is not canonical", form.Name, p, given)
			}
			stored, _ := m.Memory().Read(shown, 48)
			out = fmt.Appendf(out, "%s%s: %x %.4x\n", form.Name, p, given, sha256.Sum256(stored))
		}
		_ = m.Close(ctx)
	}
	return out
}

// onlyCanonical reports whether the NaNs that arithmetic gave are canonical.
func onlyCanonical(form fuelzoo.Form, given []uint64) bool {
	if form.CopiesBits() {
		return true
	}
	for _, word := range given {
		if form.Result == "f" || form.Result == "v" && !form.WideResult() {
			for _, lane := range []uint32{uint32(word), uint32(word >> 32)} {
				if f := math.Float32frombits(lane); f != f && lane != 0x7fc00000 {
					return false
				}
			}
		} else if f := math.Float64frombits(word); f != f && word != 0x7ff8<<48 {
			return false
		}
	}
	return true
}
