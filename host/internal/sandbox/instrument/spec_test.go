package instrument_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// The tests of the WebAssembly core specification, version 2, as JSON scripts
// of commands with modules beside them. The runtime's own module has them.
type (
	script struct {
		Commands []command `json:"commands"`
	}
	command struct {
		Type       string  `json:"type"`
		Line       int     `json:"line"`
		Name       string  `json:"name"`
		As         string  `json:"as"`
		Filename   string  `json:"filename"`
		ModuleType string  `json:"module_type"`
		Action     action  `json:"action"`
		Expected   []value `json:"expected"`
	}
	action struct {
		Type   string  `json:"type"`
		Module string  `json:"module"`
		Field  string  `json:"field"`
		Args   []value `json:"args"`
	}
	value struct {
		Type     string          `json:"type"`
		LaneType string          `json:"lane_type"`
		Value    json.RawMessage `json:"value"`
	}
)

// bits is a value as the runtime takes it: one word, or two of a vector.
func (v value) bits() ([]uint64, error) {
	if v.Type == "v128" {
		return v.lanes()
	}
	var text string
	if err := json.Unmarshal(v.Value, &text); err != nil {
		return nil, err
	}
	if text == "null" {
		return []uint64{0}, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if v.Type == "externref" {
		n++ // zero is null
	}
	return []uint64{n}, err
}

func (v value) lanes() ([]uint64, error) {
	width := map[string]int{"i8": 8, "i16": 16, "i32": 32, "i64": 64, "f32": 32, "f64": 64}[v.LaneType]
	var lanes []string
	if err := json.Unmarshal(v.Value, &lanes); err != nil {
		return nil, err
	}
	words := make([]uint64, 2)
	for i, lane := range lanes {
		n, err := strconv.ParseUint(lane, 10, 64)
		if err != nil {
			return nil, err
		}
		words[i*width/64] |= n << (i * width % 64)
	}
	return words, nil
}

// world is one of the two in which every script runs.
type world struct {
	runtime wazero.Runtime
	rewrite bool
	modules map[string]api.Module
	last    api.Module
	yields  int
}

// specSlice is short, so that most of what runs long yields.
const specSlice = 1000

func newWorld(t *testing.T, rewrite bool, spectest []byte) *world {
	t.Helper()
	ctx := t.Context()
	w := &world{
		runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2)),
		rewrite: rewrite,
		modules: map[string]api.Module{},
	}
	t.Cleanup(func() { _ = w.runtime.Close(context.Background()) })
	yield := func(_ context.Context, m api.Module, _ []uint64) {
		w.yields++
		fuelOf(m).Set(specSlice)
	}
	must.Get(w.runtime.NewHostModuleBuilder(instrument.YieldModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(yield), nil, nil).Export(instrument.YieldName).Instantiate(ctx))(t)
	must.Get(w.runtime.InstantiateWithConfig(ctx, spectest, wazero.NewModuleConfig()))(t)
	return w
}

func fuelOf(m api.Module) api.MutableGlobal {
	fuel, _ := m.ExportedGlobal(instrument.Reserved + ".fuel").(api.MutableGlobal)
	return fuel
}

var errSegment = errors.New("out of bounds memory access")

// instantiate does what the sandbox does with a program.
func (w *world) instantiate(ctx context.Context, wasm []byte, name string) (api.Module, error) {
	config := wazero.NewModuleConfig().WithName(name).WithStartFunctions()
	if !w.rewrite {
		return w.runtime.InstantiateWithConfig(ctx, wasm, config)
	}
	file, err := wasmfile.Parse(wasm)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	p, err := instrument.Rewrite(file, instrument.Options{Fuel: true, MaxTableEntries: 1 << 27})
	if err != nil {
		return nil, fmt.Errorf("rewrite: %w", err)
	}
	m, err := w.runtime.InstantiateWithConfig(ctx, p.Wasm, config)
	if err != nil {
		return nil, err
	}
	for _, s := range p.Segments {
		if !m.Memory().Write(s.Offset, s.Data) {
			err = errSegment
			break
		}
	}
	if p.Start != "" && err == nil {
		_, err = m.ExportedFunction(p.Start).Call(ctx)
	}
	if err != nil {
		_ = m.Close(ctx)
		return nil, err
	}
	return m, nil
}

// The value types that the runtime's API has no name for.
const (
	valueTypeV128    = api.ValueType(wasmfile.V128)
	valueTypeFuncref = api.ValueType(wasmfile.FuncRef)
)

func (w *world) do(ctx context.Context, a action) ([]uint64, error) {
	m := w.last
	if a.Module != "" {
		m = w.modules[a.Module]
	}
	if a.Type == "get" {
		g := m.ExportedGlobal(a.Field)
		return []uint64{g.Get()}, nil
	}
	var args []uint64
	for _, v := range a.Args {
		words, err := v.bits()
		if err != nil {
			return nil, err
		}
		args = append(args, words...)
	}
	f := m.ExportedFunction(a.Field)
	got, err := f.Call(ctx, args...)
	types := f.Definition().ResultTypes()
	for i, at := 0, 0; i < len(types) && at < len(got); i, at = i+1, at+1 {
		switch types[i] {
		case api.ValueTypeI32, api.ValueTypeF32:
			got[at] &= 1<<32 - 1 // the rest is left over from what a register held
		case api.ValueTypeExternref, valueTypeFuncref:
			got[at] = min(got[at], 1) // pointers
		case valueTypeV128:
			at++
		}
	}
	return got, err
}

// root is the trap underneath, without the trace of indices.
func root(err error) string {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err.Error()
}

// specDir is where the runtime's module keeps the specification's tests.
func specDir(t *testing.T) string {
	t.Helper()
	out := must.Get(exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output())(t)
	return filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest")
}

// TestAccept_SB4_SpecTests: every command of the specification's scripts does the same to the plain modules and to the rewritten ones.
func TestAccept_SB4_SpecTests(t *testing.T) {
	t.Parallel()
	root := specDir(t)
	spectest := must.Get(os.ReadFile(filepath.Join(root, "testdata", "spectest.wasm")))(t)
	var commands, yields atomic.Int64
	t.Run("scripts", func(t *testing.T) {
		names, err := filepath.Glob(filepath.Join(root, "v2", "testdata", "*.json"))
		if err != nil || len(names) < 140 {
			t.Fatalf("%d scripts (%v)", len(names), err)
		}
		for _, name := range names {
			t.Run(filepath.Base(name), func(t *testing.T) {
				t.Parallel()
				s := &scriptRun{t: t, dir: filepath.Dir(name), plain: newWorld(t, false, spectest), rewritten: newWorld(t, true, spectest)}
				s.run(name)
				commands.Add(int64(s.calls))
				yields.Add(int64(s.rewritten.yields))
			})
		}
	})
	t.Logf("%d calls, %d yields", commands.Load(), yields.Load())
	if commands.Load() < 48_000 || yields.Load() < 1000 {
		t.Errorf("only %d calls were compared, with %d yields", commands.Load(), yields.Load())
	}
}

type scriptRun struct {
	t                *testing.T
	dir              string
	plain, rewritten *world
	calls            int
}

func (s *scriptRun) run(name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	var all script
	if err := json.Unmarshal(text, &all); err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(all.Commands); i++ {
		c := all.Commands[i]
		registered := ""
		if next := i + 1; c.Type == "module" && next < len(all.Commands) && all.Commands[next].Type == "register" {
			registered = all.Commands[next].As
			i++
		}
		s.command(c, registered)
	}
}

func (s *scriptRun) command(c command, registered string) {
	switch c.Type {
	case "module":
		s.instantiate(c, registered)
	case "assert_return", "action", "assert_trap", "assert_exhaustion":
		s.call(c)
	case "assert_invalid", "assert_malformed", "assert_unlinkable", "assert_uninstantiable":
		if c.ModuleType != "text" {
			s.instantiate(c, "")
		}
	default:
		s.t.Fatalf("line %d: unknown command %s", c.Line, c.Type)
	}
}

// instantiate holds that both worlds take a module, or neither does.
func (s *scriptRun) instantiate(c command, registered string) {
	wasm, err := os.ReadFile(filepath.Join(s.dir, c.Filename))
	if err != nil {
		s.t.Fatal(err)
	}
	plain, plainErr := s.plain.instantiate(s.t.Context(), wasm, registered)
	rewritten, err := s.rewritten.instantiate(s.t.Context(), wasm, registered)
	if (plainErr == nil) != (err == nil) && !declaresStart(plainErr) {
		s.t.Errorf("line %d: %s: plain %v, rewritten %v", c.Line, c.Type, plainErr, err)
	}
	if c.Type != "module" || plain == nil || rewritten == nil {
		return
	}
	s.plain.last, s.rewritten.last = plain, rewritten
	if c.Name != "" {
		s.plain.modules[c.Name], s.rewritten.modules[c.Name] = plain, rewritten
	}
}

// declaresStart: a start function that nothing else declares is exported by
// the rewriting, which makes ref.func of it valid. That does no harm.
func declaresStart(plainErr error) bool {
	return plainErr != nil && strings.Contains(plainErr.Error(), "undeclared function index")
}

// call holds that both worlds give the same bits or the same trap, and the numbers that the script expects.
func (s *scriptRun) call(c command) {
	s.calls++
	want, wantErr := s.plain.do(s.t.Context(), c.Action)
	got, err := s.rewritten.do(s.t.Context(), c.Action)
	if (wantErr == nil) != (err == nil) || err != nil && root(err) != root(wantErr) {
		s.t.Errorf("line %d: %s: plain %v, rewritten %v", c.Line, c.Action.Field, wantErr, err)
		return
	}
	if expected := c.Type != "assert_trap" && c.Type != "assert_exhaustion"; expected != (err == nil) {
		s.t.Errorf("line %d: %s: %s gave %v", c.Line, c.Action.Field, c.Type, err)
	}
	if !sameNumbers(c.Expected, want, got) {
		s.t.Errorf("line %d: %s: plain %x, rewritten %x", c.Line, c.Action.Field, want, got)
	}
	if len(c.Expected) == 1 && err == nil {
		s.number(c, got[0])
	}
}

// sameNumbers compares two results. They have the same bits, except where the script leaves open which NaN it is: there the rewritten
// module gives the canonical one, in every lane.
func sameNumbers(expected []value, plain, rewritten []uint64) bool {
	if slices.Equal(plain, rewritten) {
		return true
	}
	if len(expected) != 1 || len(plain) != len(rewritten) {
		return false
	}
	nans, width := expected[0].nans()
	for i, nan := range nans {
		word, shift, mask := i*width/64, i*width%64, uint64(1)<<(width-1)<<1-1
		want, canonical := plain[word]>>shift&mask, uint64(0x7fc00000)
		if width == 64 {
			canonical = 0x7ff8 << 48
		}
		if nan {
			want = canonical
		}
		if got := rewritten[word] >> shift & mask; got != want {
			return false
		}
	}
	return len(nans) > 0
}

// nans are the lanes that may be any NaN, canonical or arithmetic, and the bits of a lane.
func (v value) nans() (lanes []bool, width int) {
	var texts []string
	kind := v.LaneType
	if json.Unmarshal(v.Value, &texts) != nil {
		texts, kind = make([]string, 1), v.Type
		if json.Unmarshal(v.Value, &texts[0]) != nil {
			return nil, 0
		}
	}
	width = map[string]int{"f32": 32, "f64": 64}[kind]
	if width == 0 {
		return nil, 0
	}
	for _, text := range texts {
		lanes = append(lanes, strings.HasPrefix(text, "nan:"))
	}
	return lanes, width
}

// number shows that the scripts are understood.
func (s *scriptRun) number(c command, got uint64) {
	switch v := c.Expected[0]; v.Type {
	case "i32", "i64", "f32", "f64":
		if want, err := v.bits(); err == nil && want[0] != got { // an error is a kind of NaN
			s.t.Errorf("line %d: %s: got %x, the script expects %x", c.Line, c.Action.Field, got, want)
		}
	}
}
