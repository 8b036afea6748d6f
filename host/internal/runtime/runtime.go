package runtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Config of a Runtime. Only Now is required.
type Config struct {
	// CacheDir keeps compiled modules between runs. Default: none.
	CacheDir string
	// Limits of every call. Zero fields mean the defaults of SPEC.md.
	Limits sandbox.Limits
	// Store is where Keep puts modules. Optional.
	Store *record.Store
	// Casebook, Source, Experiments and Models answer modules. Optional.
	Casebook    Casebook
	Source      Source
	Experiments Experiments
	Models      Models
	// Logger gets the log lines of modules, and rejected artifacts. Default: none.
	Logger *slog.Logger
	// Now is the clock of the duration of calls.
	Now func() time.Time
	// Observe is called after every call of a module, from the goroutine of the trial. Optional.
	Observe func(Call)
	// Reset and CallClock are for tests: how calls are made pristine, and the clock that limits a call.
	Reset     sandbox.Reset
	CallClock func() time.Time
}

// Casebook answers recall and correlate.
type Casebook interface {
	Recall(ctx context.Context, subject *abi.Case, limit int) ([]abi.PriorCase, error)
	Correlate(ctx context.Context, text string, limit int) ([]abi.PriorCase, error)
	Digest() string
}

// Source answers source.
type Source interface {
	Source(ctx context.Context, query abi.SourceQuery) (abi.SourceAnswer, error)
	Digest() string
}

// Experiments runs the tests of a case again.
type Experiments interface {
	Offers(ctx context.Context, subject *abi.Case) ([]abi.ExperimentOffer, error)
	Why(subject *abi.Case) string
	Run(ctx context.Context, subject *abi.Case, experiment abi.Experiment) (abi.ExperimentResult, error)
	Digest() string
}

// Models are language models: see host.Models.
type Models interface {
	Offers(ctx context.Context, names []string) []abi.ModelOffer
	Complete(ctx context.Context, completion abi.Completion, asked trial.ModelUsage) (abi.CompletionResult, error)
	Digest() string
}

// Call is one call of a module. Input is valid only during Observe.
type Call struct {
	CaseID         string
	Module, Digest string
	Call           abi.Call
	Node, Persona  string
	Input, Output  []byte
	Elapsed        time.Duration
	Err            error
	Uses           []Use
}

// Runtime runs modules: it has a sandbox, and the generations of modules that were installed. It is safe for concurrent use;
// the caller closes it.
type Runtime struct {
	config   Config
	engine   *sandbox.Engine
	registry *registry.Registry
	calls    chan struct{} // one element for each call of a module that runs
}

// callsAtOnce is how many calls of modules run at the same time, each in memory of its own. More would not be faster: a thousand trials
// that begin together would only have a thousand instances.
func callsAtOnce() int { return max(16, 4*runtime.GOMAXPROCS(0)) }

// Open opens a sandbox without any modules. It fails if a limit is invalid or the cache directory cannot be used.
func Open(ctx context.Context, config Config) (*Runtime, error) {
	engine, err := sandbox.New(ctx, sandbox.Config{
		CacheDir: config.CacheDir, Logger: config.Logger, Reset: config.Reset, Now: config.CallClock, Limits: config.Limits,
	})
	if err != nil {
		return nil, fmt.Errorf("open the sandbox: %w", err)
	}
	return &Runtime{config: config, engine: engine, registry: registry.New(engine), calls: make(chan struct{}, callsAtOnce())}, nil
}

// turn waits until a call of a module may run, or its context ends, which the call sees itself.
func (r *Runtime) turn(ctx context.Context) (end func()) {
	select {
	case r.calls <- struct{}{}:
		return func() { <-r.calls }
	case <-ctx.Done():
		return func() {}
	}
}

// Keep puts modules into the store, where there is one.
func (r *Runtime) Keep(files map[string]sandbox.File) error {
	if r.config.Store == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		wasm, err := files[name].Bytes()
		if err == nil {
			_, err = r.config.Store.Put(wasm)
		}
		if err != nil {
			return fmt.Errorf("keep module %q: %w", name, err)
		}
	}
	return nil
}

// Install is [registry.Registry.Install].
func (r *Runtime) Install(ctx context.Context, files map[string]sandbox.File, needs []registry.Need, check func(codeDigest func(module string) string) error) error {
	return r.registry.Install(ctx, files, needs, check)
}

// CheckSwap is [registry.Registry.CheckSwap].
func (r *Runtime) CheckSwap(ctx context.Context, files map[string]sandbox.File, needs []registry.Need, changed []string, check func(codeDigest func(module string) string) error) error {
	return r.registry.CheckSwap(ctx, files, needs, changed, check)
}

// Limits of every call, with the defaults filled in.
func (r *Runtime) Limits() sandbox.Limits { return r.engine.Limits() }

// Loaded tells how many modules are loaded, those included that are closing.
func (r *Runtime) Loaded() int { return r.engine.Loaded() }

// Close waits for the users of generations and frees everything.
func (r *Runtime) Close(ctx context.Context) error {
	return errors.Join(r.registry.Close(ctx), r.engine.Close(ctx))
}

// Generation is a set of modules that were installed together, on its runtime.
type Generation struct {
	*registry.Generation
	runtime *Runtime
}

// Acquire gives the current generation, to be released once. The error is registry.ErrClosed.
func (r *Runtime) Acquire() (*Generation, error) {
	g, err := r.registry.Acquire()
	if err != nil {
		return nil, err
	}
	return &Generation{g, r}, nil
}

// With runs do with the current generation. The error is registry.ErrClosed, or that of do.
func (r *Runtime) With(ctx context.Context, do func(*Generation) error) error {
	g, err := r.Acquire()
	if err != nil {
		return err
	}
	defer func() { _ = g.Release(context.WithoutCancel(ctx)) }()
	return do(g)
}

// Unobserved are the same modules for a trial that Observe is not told of, with a logger of its own.
func (g *Generation) Unobserved(logger *slog.Logger) *Generation {
	r := *g.runtime
	r.config.Observe, r.config.Logger = nil, logger
	return &Generation{g.Generation, &r}
}

// WithCasebook is the same sandbox with the same modules and another casebook.
func (r *Runtime) WithCasebook(c Casebook) *Runtime {
	other := *r
	other.config.Casebook = c
	return &other
}

// WithObserver gives a Runtime with the same modules that tells observe of calls, too.
func (r *Runtime) WithObserver(observe func(Call)) *Runtime {
	other := *r
	if before := r.config.Observe; before != nil {
		other.config.Observe = func(c Call) {
			before(c)
			observe(c)
		}
		return &other
	}
	other.config.Observe = observe
	return &other
}

// Runtime of the generation.
func (g *Generation) Runtime() *Runtime { return g.runtime }

// Knowledge is the digests of casebook, source, laboratory and models, where there are any.
func (r *Runtime) Knowledge() []record.Part {
	var parts []record.Part
	if b := r.config.Casebook; b != nil {
		parts = append(parts, record.Part{Name: "casebook", Digest: record.Digest(b.Digest())})
	}
	if s := r.config.Source; s != nil {
		parts = append(parts, record.Part{Name: "source", Digest: record.Digest(s.Digest())})
	}
	if e := r.config.Experiments; e != nil {
		parts = append(parts, record.Part{Name: "experiments", Digest: record.Digest(e.Digest())})
	}
	if m := r.config.Models; m != nil {
		parts = append(parts, record.Part{Name: "models", Digest: record.Digest(m.Digest())})
	}
	return parts
}

// Parts are digests of modules, sorted by name.
func Parts(digests map[string]string) []record.Part {
	list := make([]record.Part, 0, len(digests))
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		list = append(list, record.Part{Name: name, Digest: record.Digest(digests[name])})
	}
	return list
}

// CallLimits are those of every call, as records have them.
func (r *Runtime) CallLimits() record.CallLimits {
	limits := r.engine.Limits()
	return record.CallLimits{
		MemoryBytes: limits.MemoryBytes, WallClockNanos: int64(limits.WallClock), OutputBytes: limits.OutputBytes,
		InputBytes: limits.InputBytes, Fuel: limits.Fuel,
	}
}
