package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// Module is a module that has passed the checks.
type Module struct {
	Name     string
	Manifest abi.Manifest
	info     sandbox.Info
	granted  []abi.Capability
	sandbox  atomic.Pointer[sandbox.Module] // nil until its first call, where load does it then
	load     func(ctx context.Context) (*sandbox.Module, error)
	loading  sync.Mutex
	// holders are the generations that it is in: one that a swap does not change is in the next one as it is.
	holders atomic.Int64
}

// letGo closes the module when no generation has it any more.
func (m *Module) letGo(ctx context.Context) error {
	if m.holders.Add(-1) > 0 {
		return nil
	}
	if loaded := m.sandbox.Load(); loaded != nil {
		if err := loaded.Close(ctx); err != nil {
			return fmt.Errorf("close module %q: %w", m.Name, err)
		}
	}
	return nil
}

// loaded gives the module in its sandbox, and loads it where it is not there yet. The error is that of sandbox.Engine.LoadInspected.
func (m *Module) loaded(ctx context.Context) (*sandbox.Module, error) {
	if s := m.sandbox.Load(); s != nil {
		return s, nil
	}
	m.loading.Lock()
	defer m.loading.Unlock()
	if s := m.sandbox.Load(); s != nil {
		return s, nil
	}
	s, err := m.load(ctx)
	if err == nil {
		m.sandbox.Store(s)
	}
	return s, err
}

// is says whether it is that file, with the same grants.
func (m *Module) is(digest sandbox.Digest, granted []abi.Capability) bool {
	return m.Info().Digest == digest && slices.Equal(m.granted, granted)
}

// Info says what the module is.
func (m *Module) Info() sandbox.Info { return m.info }

// Call sends a request; see [sandbox.Module.Call].
func (m *Module) Call(ctx context.Context, call abi.Call, request []byte) (sandbox.Output, error) {
	s, err := m.loaded(ctx)
	if err != nil {
		return sandbox.Output{}, err
	}
	return s.Call(ctx, call, request)
}

// Generation is a set of modules that were installed together. It never
// changes. It may be used by many trials at once, between Acquire and Release.
type Generation struct {
	number  uint64
	modules map[string]*Module

	mu      sync.Mutex
	users   int
	retired bool
	closed  bool
}

// Number counts the generations of a registry, from 1.
func (g *Generation) Number() uint64 { return g.number }

// Digests are those of the files, by module name; a fresh map.
func (g *Generation) Digests() map[string]string {
	digests := make(map[string]string, len(g.modules))
	for name, m := range g.modules {
		digests[name] = m.Info().Digest.String()
	}
	return digests
}

// Module gives the module of that name.
func (g *Generation) Module(name string) (*Module, error) {
	if m, ok := g.modules[name]; ok {
		return m, nil
	}
	return nil, fmt.Errorf("generation %d has no module %q", g.number, name)
}

// Call sends a request to the module of that name; see [sandbox.Module.Call].
func (g *Generation) Call(ctx context.Context, module string, call abi.Call, request []byte) (sandbox.Output, error) {
	m, err := g.Module(module)
	if err != nil {
		return sandbox.Output{}, err
	}
	return m.Call(ctx, call, request)
}

// Waits says whether the module of that name is still to be loaded, which Ready does.
func (g *Generation) Waits(module string) bool {
	m, ok := g.modules[module]
	return ok && m.sandbox.Load() == nil
}

// Ready loads the module of that name, if it is not loaded yet. The error is that of sandbox.Engine.LoadInspected.
func (g *Generation) Ready(ctx context.Context, module string) error {
	m, err := g.Module(module)
	if err == nil {
		_, err = m.loaded(ctx)
	}
	return err
}

// Prepares says whether the module of that name, which is loaded, can be prepared; see [sandbox.Module.Prepares].
func (g *Generation) Prepares(module string) bool {
	m, ok := g.modules[module]
	return ok && !g.Waits(module) && m.sandbox.Load().Prepares()
}

// CallPrepared is Call after a preparation; see [sandbox.Module.CallPrepared].
func (g *Generation) CallPrepared(ctx context.Context, module string, after *sandbox.Preparation, call abi.Call, request []byte) (sandbox.Output, error) {
	m, err := g.Module(module)
	if err != nil {
		return sandbox.Output{}, err
	}
	s, err := m.loaded(ctx)
	if err != nil {
		return sandbox.Output{}, err
	}
	return s.CallPrepared(ctx, after, call, request)
}

// Digest of the module of that name, "sha256:" and 64 hex digits; empty if there is none.
func (g *Generation) Digest(module string) string {
	if m, ok := g.modules[module]; ok {
		return m.Info().Digest.String()
	}
	return ""
}

// acquire counts a user; false when the generation is gone.
func (g *Generation) acquire() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.retired {
		return false
	}
	g.users++
	return true
}

// Share counts one more user, to release it by itself, also when the generation was
// replaced already. Only who holds the generation may share it.
func (g *Generation) Share() {
	g.mu.Lock()
	g.users++
	g.mu.Unlock()
}

// Release gives the generation back. The last user of a retired one closes it.
func (g *Generation) Release(ctx context.Context) error {
	return g.leave(ctx, func() { g.users-- })
}

// retire lets no new user in, and closes the generation once nobody uses it.
func (g *Generation) retire(ctx context.Context) error {
	return g.leave(ctx, func() { g.retired = true })
}

// leave makes a change under the lock, and closes the generation where it is retired then and nobody uses it.
func (g *Generation) leave(ctx context.Context, change func()) error {
	g.mu.Lock()
	change()
	last := g.retired && g.users == 0 && !g.closed
	g.closed = g.closed || last
	g.mu.Unlock()
	if last {
		return g.close(ctx)
	}
	return nil
}

func (g *Generation) close(ctx context.Context) error {
	var errs []error
	for _, m := range g.modules {
		errs = append(errs, m.letGo(ctx))
	}
	return errors.Join(errs...)
}
