package complexity

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/testkit/bombs"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// FuzzCheck: for any module that parses, valid or not, nothing panics, and the costs are numbers.
func FuzzCheck(f *testing.F) {
	for _, family := range bombs.Families() {
		if wasm := family.Make(3); len(wasm) < 1000 {
			f.Add(wasm)
		}
	}
	for _, body := range [][]byte{
		{0x02, 0x40, 0x0b, 0x0b, 0x0b, 0x0b},             // more ends than blocks
		{0x05, 0x04, 0x40, 0x05, 0x05, 0x0b},             // else without if, and twice
		{0x0c, 0x7f, 0x0d, 0x7f, 0x0e, 1, 0x7f, 0x7f},    // branches to nowhere
		{0x20, 0x7f, 0x21, 0x7f, 0x22, 0x7f, 0x10, 0x7f}, // no such local or function
		{0x1a, 0x1a, 0x36, 0, 0, 0x02, 0x7f, 0x1a, 0x0b}, // an empty stack
		{0x00, 0x04, 0x40, 0x05, 0x0b, 0x03, 0x40, 0x0b}, // code that is never reached
	} {
		f.Add(wasmtest.Module{Funcs: []wasmtest.Func{{Body: body}}}.Bytes())
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		file, err := wasmfile.Parse(wasm)
		if err != nil {
			return
		}
		limits := Cost{Steps: 100_000_000, Bytes: 16 << 20}
		cost, err := Check(file, file.ImportedFuncs, limits)
		var beyond *Error
		var fault *wasmfile.Error
		switch {
		case errors.As(err, &beyond):
			if !beyond.Cost.exceeds(limits) || beyond.Error() == "" {
				t.Fatalf("%+v", beyond)
			}
		case errors.As(err, &fault):
			if fault.Offset < 0 || fault.Offset > len(wasm) {
				t.Fatalf("%+v", fault)
			}
		case err != nil:
			t.Fatalf("%T: %v", err, err)
		case !sensible(cost):
			t.Fatalf("%+v", cost)
		}
	})
}

func sensible(c Cost) bool {
	return c.Steps >= 0 && c.Bytes >= 0 && !math.IsInf(c.Steps, 0) && !math.IsInf(c.Bytes, 0)
}

// TestDeclarationsAreBounded: a module without functions costs the compiler what it declares.
func TestDeclarationsAreBounded(t *testing.T) {
	types := []byte{100} // func types of 100 parameters
	for range types[0] {
		types = append(append(append(types, 0x60, 100), bytes.Repeat([]byte{0x7f}, 100)...), 0)
	}
	section := append(binary.AppendUvarint([]byte{1}, uint64(len(types))), types...)
	file := must.Get(wasmfile.Parse(append([]byte("\x00asm\x01\x00\x00\x00"), section...)))(t)
	cost := must.Get(Check(file, 0, Cost{Steps: 1e9, Bytes: 1e9}))(t)
	_, err := Check(file, 0, Cost{Steps: cost.Steps - 1, Bytes: 1e9})
	if tooMuch, ok := errors.AsType[*Error](err); !ok || tooMuch.Shape != "the declarations" || cost.Steps < 10_000 {
		t.Errorf("%+v: %v", cost, err)
	}
}
