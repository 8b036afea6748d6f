package complexity

import (
	"errors"
	"math"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/testkit/bombs"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// smallLimits end the estimate of a large module soon.
var smallLimits = Limits{Steps: 100_000_000, Bytes: 16 << 20} //nolint:gochecknoglobals // a constant

// FuzzCheck: for any module that parses, valid or not, nothing panics, the costs
// are numbers, and what is kept in memory is linear in the bytes of a function.
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
		cost, err := Check(file, file.ImportedFuncs, smallLimits)
		var beyond *Error
		var fault *wasmfile.Error
		switch {
		case errors.As(err, &beyond):
			if beyond.Function >= file.Funcs() || !smallLimits.exceeded(beyond.Cost) || beyond.Error() == "" {
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
		for i, b := range file.Bodies[:min(len(file.Bodies), 10)] {
			linear(t, file, b, file.FuncType(uint32(file.ImportedFuncs+i)))
		}
	})
}

func sensible(c Cost) bool {
	return c.Steps >= 0 && c.Bytes >= 0 && !math.IsInf(c.Steps, 0) && !math.IsInf(c.Bytes, 0)
}

// linear checks what the walk over one function keeps.
func linear(t *testing.T, file *wasmfile.File, b wasmfile.Body, signature wasmfile.FuncType) {
	t.Helper()
	w := &walk{file: file, module: newModule(file), most: float64(smallLimits.Bytes) / bytesInstruction}
	if w.function(b, signature) != nil {
		return
	}
	size := b.End - b.Code
	if blocks := 1 + 2*size; len(w.blocks) > blocks {
		t.Fatalf("%d bytes: %d blocks", size, len(w.blocks))
	}
	if !sensible(w.counts.cost()) {
		t.Fatalf("%+v", w.counts)
	}
}
