package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/internal/pages"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// program is a compiled module in a runtime of its own, with the instances that run it: what one module is granted, the next does not see,
// and closing one leaves the others alone. Modules of several engines may use it; see programs.
type program struct {
	runtime   wazero.Runtime
	code      wazero.CompiledModule
	cache     wazero.CompilationCache // nil without a cache directory
	rewritten *instrument.Program     // without its bytes, once it is compiled

	binding  Binding
	limits   Limits
	warm     []Warm
	pager    *pages.Pager
	fresh    bool // every call begins with a new instance
	pool     pool // of instances that have started
	prepared preparedPools
}

// startFirst has a first instance start, so that a module that fails at that is never loaded, and saves what it then is. The instance is
// given even with an error, and is pristine without one; it may be nil.
func (p *program) startFirst(ctx context.Context, now func() time.Time) (*instance, error) {
	in, err := p.begin(ctx, now)
	if err != nil && len(p.warm) > 0 && in != nil && in.warming {
		in.close()
		p.warm = nil
		in, err = p.begin(ctx, now)
	}
	if err != nil || p.fresh || !p.rewritten.Restorable {
		return in, err
	}
	t, err := in.save()
	if err != nil {
		return in, err
	}
	if err := in.become(t); err != nil {
		return in, errors.Join(err, t.image.Close())
	}
	p.pool.template, p.rewritten.Segments = t, nil
	return in, nil
}

// begin makes an instance as every call finds it, without a template.
func (p *program) begin(ctx context.Context, now func() time.Time) (*instance, error) {
	in, err := p.instantiate(now, nil)
	if err == nil {
		err = in.start(ctx)
	}
	if err == nil {
		err = in.warmUp(ctx)
	}
	return in, err
}

// close frees the instances and the code. No call runs in it.
func (p *program) close(ctx context.Context) error {
	p.prepared.close()
	p.pool.close()
	err := errors.Join(p.runtime.Close(ctx), p.prepared.free(), p.pool.free())
	if p.cache != nil {
		err = errors.Join(err, p.cache.Close(ctx))
	}
	collect()
	return err
}

// wazero notes its own version in an unguarded variable while it makes a runtime.
var runtimeMu sync.Mutex

// program gives the compiled and prepared program of a checked file, which the caller releases. The error is a *CallError if the module
// fails at its start, errCompileTime, or the context's.
func (e *Engine) program(ctx context.Context, file *wasmfile.File, info *Info, warm []Warm, whole func() (*wasmfile.File, error)) (*programEntry, error) {
	entry, first := sharedPrograms.acquire(e.programKey(info.CodeDigest, warm))
	if first {
		e.makeProgram(ctx, entry, file, info, warm, whole)
	}
	if err := entry.await(ctx, e.limits); err != nil {
		return nil, errors.Join(err, sharedPrograms.release(context.WithoutCancel(ctx), entry))
	}
	return entry, nil
}

// makeProgram begins to make the program of an entry. What needs the caller's bytes is done when it returns; the rest goes on until it is
// done, or until nobody waits for it.
func (e *Engine) makeProgram(ctx context.Context, entry *programEntry, file *wasmfile.File, info *Info, warm []Warm, whole func() (*wasmfile.File, error)) {
	detached := context.WithoutCancel(ctx)
	p, rewritten := e.cached(detached, file, info.CodeDigest), (*instrument.Program)(nil)
	if p == nil {
		file, err := whole()
		if err == nil {
			rewritten, err = e.rewrite(file)
		}
		if err != nil {
			close(entry.compiled)
			sharedPrograms.finish(detached, entry, nil, err)
			return
		}
	}
	making, cancel := context.WithCancel(detached)
	entry.cancel = cancel
	code, digest, binding := info.CodeDigest, info.Digest, info.Binding
	go func() {
		defer cancel()
		var err error
		if p == nil {
			p, err = e.compile(detached, rewritten, code, file)
		}
		close(entry.compiled)
		if err == nil {
			p.limits, p.pager, p.fresh = e.limits, e.pager, e.reset == ResetFresh
			p.warm, p.binding = warm, binding
			err = p.fill(making, e.now, digest)
		}
		if err != nil && p != nil {
			_ = p.close(detached)
			p = nil
		}
		sharedPrograms.finish(detached, entry, p, err)
	}()
}

// fill has the first instance start. The error is a *CallError.
func (p *program) fill(ctx context.Context, now func() time.Time, digest Digest) error {
	in, err := p.startFirst(ctx, now)
	if err != nil {
		defer in.close()
		return failure(digest, p.limits, in, err)
	}
	p.pool.keep(in)
	return nil
}

// compile compiles, and keeps the result in the cache if there is one. A cache that cannot be used costs time only.
func (e *Engine) compile(ctx context.Context, rewritten *instrument.Program, code Digest, file *wasmfile.File) (*program, error) {
	if e.cache == nil {
		return e.compileIn(ctx, "", rewritten, file)
	}
	p, err := e.compileAndKeep(ctx, rewritten, code, file)
	if err == nil {
		return p, nil
	}
	p, again := e.compileIn(ctx, "", rewritten, file)
	if again != nil {
		return nil, again
	}
	e.log.Warn("compile cache unusable, compiled without it", "code", code.String(), "error", err)
	return p, nil
}

// compileIn compiles with wazero's cache in a directory, or without one.
//
// A panic is recovered: the bytes are a stranger's, and wazero's compiler panics where it finds itself mistaken. It runs in one goroutine,
// because its compilation workers would panic where nobody can recover.
func (e *Engine) compileIn(ctx context.Context, dir string, rewritten *instrument.Program, file *wasmfile.File) (p *program, err error) {
	p = &program{rewritten: new(*rewritten)}
	p.rewritten.Wasm = nil
	p.pool.program = p
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2).
		WithDebugInfoEnabled(false).
		WithCloseOnContextDone(e.meter == MeterRuntime)
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
	if p.code, err = p.runtime.CompileModule(ctx, rewritten.Wasm); err != nil {
		return p, err
	}
	if err := instantiateMeter(ctx, p.runtime); err != nil {
		return p, err
	}
	if err := instantiateCapabilities(ctx, p.runtime, file); err != nil {
		return p, err
	}
	if err := instantiateExtism(ctx, p.runtime, file); err != nil {
		return p, err
	}
	return p, instantiateSystem(ctx, p.runtime, file)
}
