package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/complexity"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/internal/pages"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// Config of an engine. The zero value is useful: no cache on disk, default limits, no log.
type Config struct {
	// CacheDir keeps compiled modules between runs. It holds machine code that this process will execute, so it must belong to the user and
	// be writable by nobody else; it is created so. Empty: compiled code is kept in memory only. It may be deleted at any time.
	CacheDir string
	// CacheBytes is what the entries of CacheDir may take together; of more, those go that were used longest ago.
	// Default: [DefaultCacheBytes].
	CacheBytes int64
	// Limits of every call.
	Limits Limits
	// Logger gets what is not an error: a compile cache that had to be dropped. Nil: nothing is logged.
	Logger *slog.Logger
	// Reset is how an instance is made pristine again after a call. The result is the same; all but ResetAuto are for tests and
	// measurements, and New fails if one does not work on this machine.
	Reset Reset
	// Metering is how calls are metered; all but MeterFuel are for measurements of modules that are trusted to end.
	Metering Metering
	// Now is the clock that limits a call. Nil: time.Now.
	Now func() time.Time
}

// Engine loads modules. It is safe for concurrent use.
type Engine struct {
	limits  Limits
	cache   *compileCache // nil: in memory only
	log     *slog.Logger
	surface surface
	now     func() time.Time
	pager   *pages.Pager
	reset   Reset
	meter   Metering

	mu      sync.Mutex
	closed  bool
	modules map[*Module]struct{}
}

// New opens an engine. The caller closes it. It fails if a limit makes no
// sense, or if the cache directory cannot be made or is not private.
func New(_ context.Context, config Config) (*Engine, error) {
	if err := config.Limits.validate(); err != nil {
		return nil, err
	}
	e := &Engine{
		limits:  config.Limits.withDefaults(),
		log:     config.Logger,
		surface: systemSurface(),
		modules: map[*Module]struct{}{},
	}
	extismSurface(e.surface)
	e.log = cmp.Or(e.log, slog.New(slog.DiscardHandler))
	if e.now = config.Now; e.now == nil {
		e.now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	var err error
	if config.CacheDir != "" {
		if e.cache, err = openCompileCache(config.CacheDir); err != nil {
			return nil, err
		}
		if e.cache.most = config.CacheBytes; e.cache.most <= 0 {
			e.cache.most = DefaultCacheBytes
		}
	}
	e.reset, e.meter = config.Reset, config.Metering
	e.pager, err = pages.Open(config.Reset)
	return e, err
}

// Limits of every call, with the defaults filled in.
func (e *Engine) Limits() Limits { return e.limits }

// Warm is a call that a module answers once, before what it then is becomes what every call begins with. A module of a language with a
// runtime does much at its first call that it need not do again.
type Warm struct {
	Call    abi.Call
	Request []byte
}

// Load checks a module, compiles it and tries it once. The bytes may be reused afterwards. The error is a *LoadError with every fault that
// was found if the module is at fault, and the context's error if that ended. Compiling takes a second for a module of the Go toolchain.
// The compiler cannot be interrupted: if the context or the time for it ends, Load returns and the compiler runs on to its end without a
// use. The caller closes the module, or the engine with all of them.
func (e *Engine) Load(ctx context.Context, wasm []byte, warm ...Warm) (*Module, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	if fault := e.tooBig(len(wasm)); fault != nil {
		return nil, &LoadError{Digest: digestOf(wasm), Faults: []Fault{*fault}}
	}
	info, err := Inspect(wasm)
	if err != nil {
		return nil, &LoadError{Digest: digestOf(wasm), Faults: []Fault{{Code: FaultNotWasm, Detail: err.Error(), Err: err}}}
	}
	return e.LoadInspected(ctx, info, nil, warm...)
}

func (e *Engine) tooBig(size int) *Fault {
	if int64(size) <= e.limits.ModuleBytes {
		return nil
	}
	return &Fault{Code: FaultTooBig, Detail: fmt.Sprintf("%d bytes, the limit is %d", size, e.limits.ModuleBytes)}
}

// LoadInspected is Load for what Inspect gave. The module may import the capabilities that are granted, and no others.
func (e *Engine) LoadInspected(ctx context.Context, info Info, granted []abi.Capability, warm ...Warm) (*Module, error) {
	reject := func(faults ...Fault) (*Module, error) {
		return nil, &LoadError{Digest: info.Digest, Faults: faults}
	}
	file := info.file
	whole := info.whole
	info.file, info.whole = nil, nil
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	if fault := e.tooBig(info.Size); fault != nil {
		return reject(*fault)
	}
	if faults := check(file, e.surface.granting(granted), e.limits); len(faults) > 0 {
		return reject(faults...)
	}
	entry, err := e.program(ctx, file, &info, warm, func() (*wasmfile.File, error) {
		if whole == nil {
			return file, nil
		}
		return whole(info.Digest)
	})
	var (
		start  *CallError
		costly *complexity.Error
	)
	switch {
	case errors.As(err, &costly):
		return reject(Fault{Code: FaultTooComplex, Detail: costly.Error(), Err: costly})
	case errors.Is(err, errCompileTime):
		return reject(Fault{Code: FaultCompileTime, Detail: "still compiling after " + e.limits.CompileTime.String(), Err: err})
	case ctx.Err() != nil:
		if err == nil {
			err = sharedPrograms.release(context.WithoutCancel(ctx), entry)
		}
		return nil, fmt.Errorf("load: %w", errors.Join(ctx.Err(), err))
	case errors.As(err, &start) && start.Cause == CauseHost:
		return nil, fmt.Errorf("load: %w", err)
	case start != nil:
		return reject(Fault{Code: FaultStart, Detail: start.of(info.Digest).Error(), Err: start})
	case err != nil:
		return reject(Fault{Code: FaultInvalid, Detail: err.Error(), Err: err})
	}
	m := newModule(e, entry, info)
	if !e.adopt(m) {
		_ = m.free(ctx)
		return nil, fmt.Errorf("load: engine: %w", ErrClosed)
	}
	return m, nil
}

// adopt has the engine close the module at last, unless it is closed itself.
func (e *Engine) adopt(m *Module) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.modules[m] = struct{}{}
	return true
}

func (e *Engine) forget(m *Module) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.modules, m)
}

// Loaded says how many modules there are, those included that are closing.
func (e *Engine) Loaded() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.modules)
}

// Close rejects new loads and calls, waits for the calls in flight, at most until the context ends, and closes every module.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	modules := make([]*Module, 0, len(e.modules))
	for m := range e.modules {
		modules = append(modules, m)
	}
	e.mu.Unlock()
	var errs []error
	for _, m := range modules {
		errs = append(errs, m.Close(ctx))
	}
	return errors.Join(errs...)
}
