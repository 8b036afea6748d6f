package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/internal/pages"
)

// instance is one instantiated program with the host's side of it. One goroutine at a time uses it.
type instance struct {
	program  *program
	template *template // what it begins its calls as; nil while it starts
	module   api.Module
	memory   *pages.Memory
	globals  []api.MutableGlobal // in the order of the program's
	state    guestState
	ctx      context.Context // of every call into it: host functions find the state there
	export   string          // the guest's function that runs, for the error

	warming   bool  // the calls before the first one go on
	startFuel int64 // what is left of the budget for loading

	functions map[string]handle
	callStack *pages.Stack // what functions run on; nil where wazero's stacks stay
	stack     [2]uint64    // parameters and results of a call
}

// function gives an export that the module was checked to have. Handles are kept: making one costs as much as a short call.
func (in *instance) function(export string) api.Function {
	h, ok := in.functions[export]
	if !ok {
		h = newHandle(in.module.ExportedFunction(export), in.callStack)
		in.functions[export] = h
	}
	return h.Function
}

// dropHandles forgets the functions whose stack a call has made larger.
func (in *instance) dropHandles() {
	for export, h := range in.functions {
		if h.grew() {
			delete(in.functions, export)
		}
	}
}

var anonymous = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// exportStart names the start section in errors.
const exportStart = "start"

// instantiate makes an instance in which nothing of the module has run, or with a template one that holds what that has saved. The instance
// is given even with an error, for what it tells of it.
//
// A panic is recovered here because instantiating applies a stranger's segments outside of wazero's own recovery.
func (p *program) instantiate(now func() time.Time, t *template) (in *instance, err error) {
	in = &instance{program: p, template: t, export: exportStart, functions: map[string]handle{}}
	in.state.meter.now = now
	in.ctx = in.state.with(context.Background())
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("instantiation failed: %v", r)
		}
	}()
	if in.memory, err = p.pager.NewMemory(uint64(p.limits.MemoryBytes)); err != nil {
		return in, err
	}
	in.state.memory = in.memory
	if in.callStack, err = newStack(); err != nil {
		return in, err
	}
	if p.binding == Extism {
		if in.state.kernel, err = newKernel(in.memory, p.limits.MemoryBytes); err != nil {
			return in, err
		}
	}
	if t != nil {
		if err := in.memory.Begin(t.image); err != nil {
			return in, err
		}
	}
	allocator := experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return in.memory })
	if in.module, err = p.runtime.InstantiateModule(experimental.WithMemoryAllocator(in.ctx, allocator), p.code, anonymous); err != nil {
		return in, err
	}
	if err := in.bind(); err != nil || t == nil {
		return in, err
	}
	return in, in.fill()
}

// bind finds what the host reads and writes of an instance.
func (in *instance) bind() error {
	global := func(name string) (api.MutableGlobal, error) {
		g, ok := in.module.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			return nil, fmt.Errorf("no mutable global %s", name)
		}
		return g, nil
	}
	for _, g := range in.program.rewritten.Globals {
		global, err := global(g.Export)
		if err != nil {
			return err
		}
		in.globals = append(in.globals, global)
	}
	var err error
	if in.state.meter.left = new(unmetered); in.program.rewritten.Fuel != "" {
		in.state.meter.left, err = global(in.program.rewritten.Fuel)
	}
	return err
}

// fill gives a new instance the size and the globals of the template. Its memory holds the content already.
func (in *instance) fill() error {
	memory, size := in.module.Memory(), in.template.image.Size()
	if have := uint64(memory.Size()); size > have {
		if _, ok := memory.Grow(uint32((size - have) / pageBytes)); !ok {
			return errors.New("the memory cannot be made as large as the one that was saved")
		}
	}
	return in.restoreRest()
}

// become makes what the instance is now, which was saved, what it begins its calls as.
func (in *instance) become(t *template) error {
	in.template = t
	return in.memory.Begin(t.image)
}

// errOutOfBounds is the trap of a data segment that is not in the memory, with wazero's text.
var errOutOfBounds = errors.New("out of bounds memory access")

// start does to a new instance what the module does when it is instantiated. It
// has the wall clock of a call, and the fuel of Limits.StartFuel.
func (in *instance) start(caller context.Context) error {
	in.startFuel = int64(in.program.limits.StartFuel)
	in.enterStart(caller, standInsOfStart())
	for _, s := range in.program.rewritten.Segments {
		if !in.module.Memory().Write(s.Offset, s.Data) {
			return errOutOfBounds
		}
	}
	if start := in.program.rewritten.Start; start != "" {
		if err := in.function(start).CallWithStack(in.ctx, nil); err != nil {
			return err
		}
	}
	in.export = abi.ExportInitialize
	if in.module.ExportedFunction(abi.ExportInitialize) != nil {
		if err := in.function(abi.ExportInitialize).CallWithStack(in.ctx, nil); err != nil {
			return err
		}
	}
	if err := in.state.meter.over(); err != nil {
		return err
	}
	// If a warm-up call fails, the start is repeated without: so it is paid for twice.
	in.startFuel -= 2 * in.state.meter.spent()
	return nil
}

// warmUp makes the calls that a module is loaded with. What they write to the standard error is forgotten; the rest of what they leave is a
// part of what every call begins with.
func (in *instance) warmUp(caller context.Context) error {
	in.warming = true
	said := len(in.state.stderr)
	for _, w := range in.program.warm {
		in.enterStart(caller, in.state.ofWarming())
		if _, err := in.call(exportOf(w.Call), w.Request, in.program.limits.OutputBytes); err != nil {
			return err
		}
		in.startFuel -= in.state.meter.spent()
	}
	in.state.stderr = in.state.stderr[:said]
	in.dropHandles()
	in.warming = false
	return nil
}

// begin gives one call its fuel and its stand-ins.
func (in *instance) begin(caller context.Context) {
	in.enter(caller, int64(in.program.limits.Fuel), callBudget)
	in.state.standIns, in.state.broker = standInsOfCall(), brokerOf(caller)
}

// enterStart begins what runs before the first call, with what is left of the fuel for that. It knows of no case.
func (in *instance) enterStart(caller context.Context, with standIns) {
	in.enter(caller, max(0, in.startFuel), startBudget)
	in.state.standIns, in.state.broker = with, emptyDesk{}
}

func (in *instance) enter(caller context.Context, budget int64, limit string) {
	in.state.meter.begin(caller, in.program.limits.WallClock, budget, limit)
	in.state.uses = uses{}
	in.memory.Forgive()
}

// leave forgets the call: an instance waits for the next one for any time, and what a caller holds must not wait with it.
func (in *instance) leave() { in.state.broker, in.state.meter.caller = nil, nil }

// errNotShrunk is an instance that grew as far as its module allows, so that it cannot be told that its memory is small again.
var errNotShrunk = errors.New("the memory cannot be made small again")

// restore puts an instance back to what it was before its first call. Its last call must have returned.
//
// wazero has no way to make a memory smaller. It takes what the allocator gives for the size, though, when a memory grows: so a memory that
// was reset grows once, and gets what it began with. That is how wazero 1.12 does it and no promise; the tests hold it to it.
func (in *instance) restore() error {
	grown := in.memory.Grown()
	if err := in.memory.Reset(); err != nil {
		return err
	}
	if grown {
		memory := in.module.Memory()
		if _, ok := memory.Grow(1); !ok || uint64(memory.Size()) != in.template.image.Size() {
			return errNotShrunk
		}
	}
	in.dropHandles()
	if in.callStack != nil {
		if err := in.callStack.Drop(keptStack); err != nil {
			return err
		}
	}
	return in.restoreRest()
}

// restoreRest restores all but the memory.
func (in *instance) restoreRest() error {
	in.state.stderr = append(in.state.stderr[:0], in.template.stderr...)
	for i, g := range in.globals {
		g.Set(in.template.globals[i])
	}
	if in.state.kernel != nil {
		return in.state.kernel.restore(&in.template.variables)
	}
	return nil
}

// close frees the instance. Nothing may run in it.
func (in *instance) close() {
	if in.module != nil {
		_ = in.module.Close(in.ctx) // frees memory only, and has no error to give
	}
	if in.memory != nil {
		in.memory.Free() // also where instantiating failed half way
	}
	if in.state.kernel != nil {
		in.state.kernel.close()
	}
	if in.callStack != nil {
		in.callStack.Free()
	}
}

// template is what an instance is before its first call.
type template struct {
	image     *pages.Image
	stderr    []byte
	globals   []uint64
	variables variables // of an Extism guest
}

// save makes a template of an instance that has started.
func (in *instance) save() (*template, error) {
	image, err := in.program.pager.NewImage(in.memory.Bytes())
	if err != nil {
		return nil, err
	}
	t := &template{image: image, stderr: slices.Clone(in.state.stderr)}
	if in.state.kernel != nil {
		t.variables = in.state.kernel.vars.clone()
	}
	for _, g := range in.globals {
		t.globals = append(t.globals, g.Get())
	}
	return t, nil
}

const maxStderrBytes = 4 << 10

// guestState is the host's side of one instance: its clock and its random stream,
// what it wrote, what it may spend. It is a part of what pristine means.
//
// One goroutine at a time uses it, the one that calls the instance.
type guestState struct {
	standIns
	stderr []byte
	meter  meter
	uses   uses
	broker Broker
	memory *pages.Memory

	// what poll_oneoff reads and writes, here so that it makes no garbage
	polled [maxSubscriptions * subscriptionBytes]byte
	event  [eventBytes]byte

	kernel *kernel // nil but for a guest of Extism
}

// standIns are what a guest has instead of the machine's clock and randomness.
// They begin again with every call, and with every phase before the first one.
type standIns struct {
	clock    uint64 // nanoseconds, see clock.go
	clockEnd uint64 // where it stands still
	seeded   bool
	random   rand.ChaCha8
}

// standInsOfStart are those of a module that starts.
func standInsOfStart() standIns { return standIns{clock: clockStart, clockEnd: clockCall} }

// ofWarming gives those of a warm call: its clock goes on where the one before it ended.
func (s standIns) ofWarming() standIns { return standIns{clock: s.clock, clockEnd: clockCall} }

// standInsOfCall are those of every call, whatever ran before it.
func standInsOfCall() standIns { return standIns{clock: clockCall, clockEnd: clockEnd} }

// write keeps the beginning of what a guest writes to its standard error.
func (s *guestState) write(b []byte) {
	if room := maxStderrBytes - len(s.stderr); room > 0 {
		s.stderr = append(s.stderr, b[:min(room, len(b))]...)
	}
}

type guestKey struct{}

// with gives the context that every call into the instance must carry: host functions find the state there.
func (s *guestState) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, guestKey{}, s)
}

func guestOf(ctx context.Context) *guestState {
	s, ok := ctx.Value(guestKey{}).(*guestState)
	if !ok {
		panic("sandbox: an instance was called without its context")
	}
	return s
}
