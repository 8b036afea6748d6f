package sandbox

import (
	"context"
	"slices"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// Info says what a module is. It is read-only, its slices included.
type Info struct {
	Digest     Digest // of the file
	CodeDigest Digest // of the file without its custom sections
	Size       int    // of the file, in bytes
	Imports    []wasmfile.Import
	Exports    []wasmfile.Export
	Calls      []abi.Call // the kinds of calls it serves, in the contract's order
	Binding    Binding    // as its imports tell
	// ManifestBytes is the payload of the manifest's section, as it stands in the file; nil without one.
	ManifestBytes []byte

	// Of Inspect, for LoadInspected; a module keeps none. The file may be the head of the one that whole gives.
	file  *wasmfile.File
	whole func(Digest) (*wasmfile.File, error)
}

// Described says whether only the head of the file was read, as of a module that is built into this program.
func (i Info) Described() bool { return i.whole != nil }

// describe copies what it keeps, so that the file can go.
func describe(digest Digest, file *wasmfile.File) Info {
	info := Info{
		Digest:     digest,
		CodeDigest: Digest(file.CodeDigest()),
		Size:       file.Size(),
		Imports:    file.Imports,
		Exports:    file.Exports,
		Binding:    bindingOf(file.Imports),
	}
	for _, c := range calls {
		if _, ok := file.Export(c.export); ok {
			info.Calls = append(info.Calls, c.call)
		}
	}
	if manifest, ok := file.Custom(abi.ManifestSection); ok {
		info.ManifestBytes = append([]byte{}, manifest...)
	}
	return info
}

// Inspect reads a file without compiling or running anything. The error is a *wasmfile.Error with the offset. The file need not keep the
// contract. The bytes must not change while the result is used.
func Inspect(wasm []byte) (Info, error) {
	file, err := wasmfile.Parse(wasm)
	if err != nil {
		return Info{}, err
	}
	info := describe(digestOf(wasm), file)
	info.file = file
	return info, nil
}

// Module is a loaded module. Calls may run at the same time: each has an instance to itself, which is as if it were new.
type Module struct {
	engine *Engine
	limits Limits
	info   Info
	gate   gate
	entry  *programEntry // of which this is a user
	pool   *pool         // of the program

	prepares bool // it has the export
}

func newModule(e *Engine, entry *programEntry, info Info) *Module {
	prepares := slices.ContainsFunc(info.Exports, func(x wasmfile.Export) bool { return x.Name == abi.ExportPrepare })
	return &Module{
		engine: e, limits: e.limits, info: info, gate: newGate(), entry: entry, pool: &entry.program.pool, prepares: prepares,
	}
}

// free ends the use of the program. Nobody is inside.
func (m *Module) free(ctx context.Context) error { return sharedPrograms.release(ctx, m.entry) }

// Info says what the module is.
func (m *Module) Info() Info { return m.info }

// Output is what a call gave.
type Output struct {
	Bytes []byte // the response, the caller's own
	// Fuel is what it cost, the same in every run. It is never nil.
	Fuel *uint64
}

// Call sends a request to the guest's function for that kind of call, in pristine memory, and gives its response, which nobody has
// validated yet. The error is a *CallError. The request is only read.
func (m *Module) Call(ctx context.Context, call abi.Call, request []byte) (Output, error) {
	return m.CallPrepared(ctx, nil, call, request)
}

// CallPrepared is Call in the memory that the module has after a preparation, which is made when it is first needed; nil for none. An error
// of it names abi.ExportPrepare.
func (m *Module) CallPrepared(ctx context.Context, after *Preparation, call abi.Call, request []byte) (Output, error) {
	if !m.gate.enter() {
		return Output{}, m.reject("", CauseHost, "module is closed", ErrClosed)
	}
	defer m.gate.leave()
	export := exportOf(call)
	if !slices.Contains(m.info.Calls, call) {
		return Output{}, m.reject(export, CauseMissingExport, "the module does not serve "+string(call)+" calls", nil)
	}
	if int64(len(request)) > m.limits.InputBytes {
		return Output{}, m.reject(export, CauseInputTooLarge, bytesOver(int64(len(request)), m.limits.InputBytes), nil)
	}
	if err := ctx.Err(); err != nil {
		return Output{}, m.reject(export, CauseCancelled, context.Cause(ctx).Error(), err)
	}
	if after == nil {
		return m.run(ctx, m.pool, export, request)
	}
	return m.runPrepared(ctx, after, export, request)
}

// run makes one call in a pristine instance of a pool.
func (m *Module) run(caller context.Context, of *pool, export string, request []byte) (output Output, err error) {
	in, err := of.take(caller, m.engine.now)
	if err == nil {
		in.begin(caller)
		output, err = in.call(export, request, m.limits.OutputBytes)
	}
	if err := m.failed(in, err); err != nil {
		of.give(in, false)
		return Output{}, err
	}
	of.give(in, true)
	return output, nil
}

// failed is the error of what was done in an instance; nil for none.
func (m *Module) failed(in *instance, err error) error {
	if broken := in.memory.Err(); broken != nil {
		err = broken
	}
	if err == nil {
		return nil
	}
	return failure(m.info.Digest, m.limits, in, err)
}

func (m *Module) reject(export string, cause Cause, detail string, err error) *CallError {
	return &CallError{Digest: m.info.Digest, Export: export, Cause: cause, Detail: detail, Err: err}
}

// Close rejects further calls, waits for those in flight, at most until the context ends, and frees the compiled code. If the context ends
// first, its error is given and the last call frees the code. Closing twice is harmless.
func (m *Module) Close(ctx context.Context) error {
	m.engine.forget(m)
	return m.gate.close(ctx, func() error { return m.free(context.WithoutCancel(ctx)) })
}

// gate counts the calls in flight, because freeing code or memory under a running guest kills the process.
type gate struct {
	mu      sync.Mutex
	inside  int
	closed  bool
	free    func() error
	freed   chan struct{}
	freeErr error
}

func newGate() gate { return gate{freed: make(chan struct{})} }

// enter reports whether the gate is open, and counts the caller in.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside++
	return true
}

// leave is called once for each enter that was let in. The last one out of a closed gate frees.
func (g *gate) leave() {
	g.mu.Lock()
	g.inside--
	last := g.closed && g.inside == 0
	g.mu.Unlock()
	if last {
		g.finish()
	}
}

// close shuts the gate and waits until free has run, once, after the last call inside has left.
func (g *gate) close(ctx context.Context, free func() error) error {
	g.mu.Lock()
	first := !g.closed
	if first {
		g.closed, g.free = true, free
	}
	idle := first && g.inside == 0
	g.mu.Unlock()
	if idle {
		g.finish()
	}
	select {
	case <-g.freed: // also after the end of the context, as after Ctrl-C
		return g.freeErr
	default:
	}
	select {
	case <-g.freed:
		return g.freeErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) finish() {
	g.freeErr = g.free()
	close(g.freed)
}

// bindingError is what a guest did against the binding: its allocator or its answer makes no sense.
type bindingError struct {
	cause  Cause
	detail string
}

func (e *bindingError) Error() string { return string(e.cause) + ": " + e.detail }

// direct calls one of the contract's functions over the direct binding: the guest allocates, the host writes the request and calls, the
// answer is pointer<<32 | length. Nothing of the answer is believed before it has been checked against the limit and the memory. The bytes
// are the caller's own.
func (in *instance) direct(export string, request []byte, outputBytes int64) (output Output, err error) {
	stack := in.stack[:]
	in.export = abi.ExportAlloc
	stack[0] = uint64(len(request))
	if err := in.function(abi.ExportAlloc).CallWithStack(in.ctx, stack[:1]); err != nil {
		return output, err
	}
	pointer := uint32(stack[0])
	if pointer == 0 && len(request) > 0 {
		return output, &bindingError{CauseOutOfMemory, abi.ExportAlloc + " gave no memory"}
	}
	if !in.module.Memory().Write(pointer, request) {
		return output, &bindingError{CauseBadPointer, span(pointer, uint32(len(request)), in.module.Memory().Size())}
	}

	in.export = export
	stack[0], stack[1] = uint64(pointer), uint64(len(request))
	if err := in.function(export).CallWithStack(in.ctx, stack); err != nil {
		return output, err
	}
	if err := in.state.meter.over(); err != nil {
		return output, err
	}
	pointer, length := uint32(stack[0]>>32), uint32(stack[0])
	if int64(length) > outputBytes {
		return output, &bindingError{CauseOutputTooLarge, bytesOver(int64(length), outputBytes)}
	}
	view, ok := in.module.Memory().Read(pointer, length)
	if !ok {
		return output, &bindingError{CauseOutputOutOfBounds, span(pointer, length, in.module.Memory().Size())}
	}
	spent := uint64(in.state.meter.spent())
	return Output{Bytes: append(make([]byte, 0, length), view...), Fuel: &spent}, nil
}
