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

// program is a compiled module in a runtime of its own: what one module is
// granted, the next does not see, and closing one leaves the others alone.
type program struct {
	runtime   wazero.Runtime
	code      wazero.CompiledModule
	cache     wazero.CompilationCache // nil without a cache directory
	rewritten *instrument.Program     // without its bytes, once it is compiled

	binding  Binding
	limits   Limits
	warm     []Warm
	now      func() time.Time
	pager    *pages.Pager // of the engine
	template *template    // nil: every call begins with a new instance
}

// prepare has a first instance start, so that a module that fails at that is
// never loaded, and saves what it then is. The instance is given even with an
// error, and is pristine without one; it may be nil.
func (p *program) prepare(ctx context.Context, fresh bool) (*instance, error) {
	in, err := p.begin(ctx)
	if err != nil && len(p.warm) > 0 && in != nil && in.warming {
		in.close()
		p.warm = nil
		in, err = p.begin(ctx)
	}
	if err != nil || fresh || !p.rewritten.Restorable {
		return in, err
	}
	t, err := in.save()
	if err != nil {
		return in, err
	}
	if err := in.memory.Begin(t.image); err != nil {
		return in, errors.Join(err, t.image.Close())
	}
	p.template, p.rewritten.Segments = t, nil
	return in, nil
}

// begin makes an instance as every call finds it, without a template.
func (p *program) begin(ctx context.Context) (*instance, error) {
	in, err := p.instantiate()
	if err == nil {
		err = in.start(ctx)
	}
	if err == nil {
		err = in.warmUp(ctx)
	}
	return in, err
}

func (p *program) close(ctx context.Context) error {
	err := p.runtime.Close(ctx)
	if p.template != nil {
		err = errors.Join(err, p.template.image.Close())
	}
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
func (e *Engine) compileInTime(ctx context.Context, file *wasmfile.File, code Digest) (*program, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.limits.CompileTime, errCompileTime)
	defer cancel()
	type result struct {
		program *program
		err     error
	}
	// A copy, which outlives the caller's bytes.
	rewritten, entry, err := e.rewrite(file, code)
	if err != nil {
		return nil, err
	}
	done := make(chan result)
	go func() {
		p, err := e.compile(context.WithoutCancel(ctx), rewritten, entry, file)
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
func (e *Engine) compile(ctx context.Context, rewritten *instrument.Program, entry *cacheEntry, file *wasmfile.File) (*program, error) {
	p, err := e.compileCode(ctx, rewritten, entry, file)
	if err != nil {
		return nil, err
	}
	rewritten.Wasm = nil
	p.rewritten, p.limits, p.now, p.pager = rewritten, e.limits, e.now, e.pager
	return p, nil
}

func (e *Engine) compileCode(ctx context.Context, rewritten *instrument.Program, entry *cacheEntry, file *wasmfile.File) (*program, error) {
	if entry == nil {
		return e.compileIn(ctx, "", rewritten.Wasm, file)
	}
	p, err := e.compileIn(ctx, entry.dir, rewritten.Wasm, file)
	if err == nil {
		if err := entry.keep(rewritten); err != nil {
			e.log.Warn("compile cache entry not sealed", "entry", entry.dir, "error", err)
		}
		if len(entry.verified) == 0 { // it is new
			if err := e.cache.bound(); err != nil {
				e.log.Warn("compile cache not held to its size", "error", err)
			}
		}
		return p, nil
	}
	p, again := e.compileIn(ctx, "", rewritten.Wasm, file)
	if again != nil {
		return nil, again
	}
	e.log.Warn("compile cache unusable, compiled without it", "entry", entry.dir, "error", err)
	entry.drop()
	return p, nil
}

// compileIn compiles with wazero's cache in a directory, or without one.
//
// A panic is recovered: the bytes are a stranger's, and wazero's compiler
// panics where it finds itself mistaken. It runs in one goroutine, because
// its compilation workers would panic where nobody can recover.
func (e *Engine) compileIn(ctx context.Context, dir string, code []byte, file *wasmfile.File) (p *program, err error) {
	p = &program{}
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
	if p.code, err = p.runtime.CompileModule(ctx, code); err != nil {
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
