package court

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// Runtime runs the modules that a court or an audit needs: it has a sandbox, and the generations of modules that were installed. It is
// safe for concurrent use; the caller closes it.
type Runtime struct {
	sandbox  Sandbox
	engine   *sandbox.Engine
	registry *registry.Registry
	running  chan struct{} // one element for each call of a module that runs

	names []string        // of the modules that files are needed of
	needs []registry.Need // of them, and of those of a candidate
	check func(codeDigest func(module string) string) error
	// candidate are modules of a candidate court, which is no part of what is told of the runtime.
	candidate map[string][]byte
}

// callsAtOnce is how many calls of modules run at the same time, each in memory of its own. More would not be faster: a thousand trials
// that begin together would only have a thousand instances.
func callsAtOnce() int { return max(16, 4*runtime.GOMAXPROCS(0)) }

// open opens the sandbox without any modules.
func (r *Runtime) open(ctx context.Context, config Sandbox, logger *slog.Logger) error {
	engine, err := sandbox.New(ctx, sandbox.Config{
		CacheDir: config.CacheDir, Logger: logger, Now: config.CallClock, Limits: config.CallLimits,
	})
	if err != nil {
		return &CacheError{config.CacheDir, fmt.Errorf("open the sandbox: %w", err)}
	}
	r.sandbox, r.engine, r.registry, r.running = config, engine, registry.New(engine), make(chan struct{}, callsAtOnce())
	return nil
}

// turn waits until a call of a module may run, or its context ends, which the call sees itself.
func (r *Runtime) turn(ctx context.Context) (end func()) {
	if r == nil {
		return func() {}
	}
	select {
	case r.running <- struct{}{}:
		return func() { <-r.running }
	case <-ctx.Done():
		return func() {}
	}
}

// ModuleNames are the names of all modules that are needed, each once. Those of a candidate are not among them.
func (r *Runtime) ModuleNames() []string { return r.names }

// Read reads the modules that are needed; see [ReadModules].
func (r *Runtime) Read(ctx context.Context, fsys fs.FS) (map[string]sandbox.File, error) {
	return ReadModules(ctx, fsys, r.names, r.sandbox.Sleep)
}

// Install keeps files in the store, and makes them the current modules, with those of the candidate, all or none. The error is a
// *registry.RejectedError with every fault, one of the store, or the context's.
func (r *Runtime) Install(ctx context.Context, files map[string]sandbox.File) error {
	if r.sandbox.Store != nil {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			wasm, err := files[name].Bytes()
			if err == nil {
				_, err = r.sandbox.Store.Put(wasm)
			}
			if err != nil {
				return fmt.Errorf("keep module %q: %w", name, err)
			}
		}
	}
	all := maps.Clone(files)
	maps.Copy(all, Files(r.candidate))
	return r.registry.Install(ctx, all, r.needs, r.check)
}

// CheckSwap tells whether Install would accept files in which only the changed modules are new.
func (r *Runtime) CheckSwap(ctx context.Context, files map[string]sandbox.File, changed []string) error {
	return r.registry.CheckSwap(ctx, files, r.needs, changed, r.check)
}

// Digests of the current modules by name, without those of a candidate; a fresh map. Nil when the runtime is closed.
func (r *Runtime) Digests(ctx context.Context) map[string]string {
	g, err := r.Acquire()
	if err != nil {
		return nil
	}
	digests := g.Digests()
	_ = g.Release(context.WithoutCancel(ctx))
	maps.DeleteFunc(digests, func(name, _ string) bool { _, hidden := r.candidate[name]; return hidden })
	return digests
}

// parts are the digests of a trial's modules, sorted by name.
func (r *Runtime) parts(modules Modules) []record.Part {
	list := make([]record.Part, 0, len(r.needs))
	for i := range r.needs {
		name := r.needs[i].Module
		if _, hidden := r.candidate[name]; !hidden {
			digest := record.Digest(modules.Digest(name))
			signed := r.sandbox.Signed[digest]
			list = append(list, record.Part{Name: name, Digest: digest, Signer: signed.Signer, Policy: signed.Policy})
		}
	}
	slices.SortFunc(list, func(a, b record.Part) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Acquire gives the current modules, to be released once. The error is registry.ErrClosed.
func (r *Runtime) Acquire() (*registry.Generation, error) { return r.registry.Acquire() }

// orInForce gives the modules of a caller, or those in force where there are none, to be released once. The error is registry.ErrClosed.
func (r *Runtime) orInForce(ctx context.Context, modules Modules) (_ Modules, release func(), err error) {
	if modules != nil {
		return modules, func() {}, nil
	}
	g, err := r.Acquire()
	if err != nil {
		return nil, nil, err
	}
	return g, func() { _ = g.Release(context.WithoutCancel(ctx)) }, nil
}

// CallLimits are those of every call, as records have them.
func (r *Runtime) CallLimits() record.CallLimits {
	limits := r.engine.Limits()
	return record.CallLimits{
		MemoryBytes: limits.MemoryBytes, WallClockNanos: int64(limits.WallClock), OutputBytes: limits.OutputBytes,
		InputBytes: limits.InputBytes, Fuel: limits.Fuel,
	}
}

// Loaded tells how many modules are loaded, those included that are closing.
func (r *Runtime) Loaded() int { return r.engine.Loaded() }

// Close waits for the users of modules and frees everything.
func (r *Runtime) Close(ctx context.Context) error {
	return errors.Join(r.registry.Close(ctx), r.engine.Close(ctx))
}
