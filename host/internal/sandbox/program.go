package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// program is a compiled module in a runtime of its own: what one module is
// granted, the next does not see, and closing one leaves the others alone.
type program struct {
	runtime wazero.Runtime
	code    wazero.CompiledModule
	cache   wazero.CompilationCache // nil without a cache directory
	reserve uint64                  // bytes of memory after initialization, as the trial found it
}

func (p *program) close(ctx context.Context) error {
	err := p.runtime.Close(ctx)
	if p.cache != nil {
		err = errors.Join(err, p.cache.Close(ctx))
	}
	return err
}

// wazero notes its own version in an unguarded variable while it makes a
// runtime.
var runtimeMu sync.Mutex

// errCompileTime is the cause of a context that ended by Limits.CompileTime.
var errCompileTime = errors.New("compile time limit")

// compileInTime compiles a checked file, and gives up on it with the
// context's cause when the context or the time for it ends.
func (e *Engine) compileInTime(ctx context.Context, file *wasmfile.File) (*program, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.limits.CompileTime, errCompileTime)
	defer cancel()
	type result struct {
		program *program
		err     error
	}
	code, err := file.Executable(e.limits.TableEntries) // a copy, which outlives the caller's bytes
	if err != nil {
		return nil, err
	}
	done := make(chan result)
	go func() {
		p, err := e.compile(context.WithoutCancel(ctx), code, file)
		select {
		case done <- result{p, err}:
		case <-ctx.Done():
			if p != nil {
				_ = p.close(context.WithoutCancel(ctx))
			}
		}
	}()
	select {
	case r := <-done:
		return r.program, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// compile compiles, with the cache if there is one. A cache that cannot be
// used costs time only.
func (e *Engine) compile(ctx context.Context, code []byte, file *wasmfile.File) (*program, error) {
	if e.cache == nil {
		return compileIn(ctx, "", code, file)
	}
	entry := e.cache.entry(digestOf(code))
	if err := entry.verify(); err != nil {
		e.log.Warn("compile cache entry dropped", "module", digestOf(code).String(), "error", err)
	}
	p, err := compileIn(ctx, entry.dir, code, file)
	if err == nil {
		if err := entry.seal(); err != nil {
			e.log.Warn("compile cache entry not sealed", "module", digestOf(code).String(), "error", err)
		}
		return p, nil
	}
	p, again := compileIn(ctx, "", code, file)
	if again != nil {
		return nil, again
	}
	e.log.Warn("compile cache unusable, compiled without it", "module", digestOf(code).String(), "error", err)
	entry.drop()
	return p, nil
}

// compileIn compiles with wazero's cache in a directory, or without one.
//
// A panic is recovered: the bytes are a stranger's, and wazero's compiler
// panics where it finds itself mistaken. It runs in one goroutine, because
// its compilation workers would panic where nobody can recover.
func compileIn(ctx context.Context, dir string, code []byte, file *wasmfile.File) (p *program, err error) {
	p = &program{}
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2).
		WithCloseOnContextDone(true).
		WithDebugInfoEnabled(false)
	runtimeMu.Lock()
	if dir != "" {
		if p.cache, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
			runtimeMu.Unlock()
			return nil, err
		}
		config = config.WithCompilationCache(p.cache)
	}
	p.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	runtimeMu.Unlock()

	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the compiler failed: %v", r)
		}
		if err != nil {
			_ = p.close(ctx)
			p = nil
		}
	}()
	if p.code, err = p.runtime.CompileModule(ctx, code); err != nil {
		return p, err
	}
	return p, instantiateSystem(ctx, p.runtime, file)
}

// instance is one instantiated program with the host's side of it. One
// goroutine at a time uses it.
type instance struct {
	module api.Module
	state  *guestState
	ctx    context.Context // of the one call that the instance lives for
	export string          // the guest's function that runs, for the error

	functions map[string]api.Function
}

// function gives an export that the module was checked to have. Handles are
// kept: making one costs as much as a short call.
func (in *instance) function(export string) api.Function {
	f, ok := in.functions[export]
	if !ok {
		f = in.module.ExportedFunction(export)
		in.functions[export] = f
	}
	return f
}

var anonymous = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// instantiate makes a pristine instance: memory as the file declares it, a
// new state of the host, and the module's own initialization done. The
// instance is given even with an error, for what it tells of it.
//
// A panic is recovered here because instantiating applies a stranger's
// segments outside of wazero's own recovery.
func (p *program) instantiate(ctx context.Context, memoryBytes int64) (in *instance, err error) {
	in = &instance{state: newGuestState(memoryBytes), export: "start", functions: map[string]api.Function{}}
	in.state.memory.reserve = p.reserve
	in.ctx = in.state.with(ctx)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("instantiation failed: %v", r)
		}
	}()
	if in.module, err = p.runtime.InstantiateModule(in.ctx, p.code, anonymous); err != nil {
		return in, err
	}
	in.export = abi.ExportInitialize
	if initialize := in.module.ExportedFunction(abi.ExportInitialize); initialize != nil {
		err = initialize.CallWithStack(in.ctx, nil)
	}
	return in, err
}

// close frees the instance. Nothing may run in it.
func (in *instance) close() {
	if in.module != nil {
		_ = in.module.Close(in.ctx) // frees memory only, and has no error to give
	}
}
