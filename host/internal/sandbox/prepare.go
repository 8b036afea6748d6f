package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/internal/pages"
)

// Preparation is one prepare_request (SPEC.md §2.19).
type Preparation struct {
	// Digest names all that the module is prepared with: equal digests mean equal requests, after equal preparations.
	Digest string
	// Request is the message. It is read only.
	Request []byte

	told *changes // of a case: what it changed in the module, once it was made
}

// Prepared is what a call begins with: the start of the module, then the preparation of a generation, which many trials share, then that
// of a case. Either may be nil. The module keeps those of generations, a few of them; the Preparation of a case keeps what it changed,
// up to maxTold bytes, so it is for calls of one module from one goroutine.
type Prepared struct{ Generation, Case *Preparation }

// maxTold is the most memory that the preparation of a case may change.
const maxTold = 16 << 20

// maxGenerations is how many generations a program keeps prepared while no call runs in them.
const maxGenerations = 4

// Prepares says whether the module can be prepared: it has the export, and what it is can be saved.
func (m *Module) Prepares() bool { return m.prepares && m.pool.template != nil }

// runPrepared makes one call after preparations.
func (m *Module) runPrepared(ctx context.Context, after Prepared, export string, request []byte) (Output, error) {
	of := m.pool
	if after.Generation != nil {
		g := m.pool.program.prepared.acquire(m.pool.program, after.Generation.Digest)
		defer m.pool.program.prepared.release(g)
		if err := m.prepare(ctx, g, after.Generation); err != nil {
			return Output{}, err
		}
		of = &g.pool
	}
	if after.Case == nil {
		return m.run(ctx, of, nil, export, request)
	}
	if err := m.tell(ctx, of, after.Case); err != nil {
		return Output{}, err
	}
	output, err := m.run(ctx, of, after.Case.told, export, request)
	output.Preparing = after.Case.told.fuel
	return output, err
}

// prepare makes the pool of a generation, unless it is there. One caller makes it; others wait, at most until their context ends, and
// share its failure, unless it is that its own context ended. What fails at any time would fail again, and is not tried again while the
// pool is kept.
func (m *Module) prepare(ctx context.Context, g *preparedPool, p *Preparation) error {
	if g.made.Load() {
		return g.failure(m.info.Digest)
	}
	waited := g.failures.Load()
	select {
	case g.making <- struct{}{}:
		defer func() { <-g.making }()
	case <-ctx.Done():
		return m.reject(abi.ExportPrepare, CauseCancelled, context.Cause(ctx).Error(), ctx.Err())
	}
	if g.made.Load() || g.failures.Load() != waited {
		return g.failure(m.info.Digest)
	}
	in, err := m.pool.take(ctx, m.engine.now)
	if err == nil {
		in.enter(ctx, int64(m.limits.StartFuel), prepareBudget)
		_, err = in.prepare(p.Request)
	}
	if err == nil {
		g.pool.template, err = in.save()
	}
	if err == nil {
		if err = in.become(g.pool.template); err == nil {
			err = in.restore()
		}
	}
	if err := m.failed(in, err); err != nil {
		m.pool.give(in, false)
		_ = g.pool.free() // unmaps memory, and closes a file that was never written
		g.pool.template = nil
		if failed, ok := errors.AsType[*CallError](err); ok && failed.Cause != CauseCancelled {
			g.failed = failed
			g.failures.Add(1)
			g.made.Store(failed.Deterministic())
		}
		return err
	}
	g.pool.keep(in)
	g.failed = nil
	g.made.Store(true)
	return nil
}

// tell makes the preparation of a case, unless it is there.
func (m *Module) tell(ctx context.Context, of *pool, p *Preparation) error {
	if p.told != nil {
		return nil
	}
	in, err := of.take(ctx, m.engine.now)
	var told *changes
	if err == nil {
		told = new(changes)
		in.enter(ctx, int64(m.limits.Fuel), callBudget)
		told.fuel, err = in.prepare(p.Request)
	}
	if err == nil {
		told.memory, err = in.memory.Changes(maxTold)
	}
	if errors.Is(err, pages.ErrTooMuch) {
		err = &bindingError{CauseOutOfMemory, fmt.Sprintf("it changed more than %d bytes of memory with a case", maxTold)}
	}
	if err := m.failed(in, err); err != nil {
		of.give(in, false)
		return err
	}
	told.rest = in.saveRest()
	of.give(in, true)
	p.told = told
	return nil
}

// prepare makes a call of the export, in which there are no capabilities, and gives its fuel.
func (in *instance) prepare(request []byte) (fuel uint64, err error) {
	in.state.standIns, in.state.broker = standInsOfCall(), noDesk{}
	said := len(in.state.stderr)
	output, err := in.call(abi.ExportPrepare, request, in.program.limits.OutputBytes)
	if in.export = abi.ExportPrepare; err != nil { // also where the allocator failed
		return 0, err
	}
	response, err := codec.DecodePrepareResponse(output.Bytes, len(output.Bytes))
	switch {
	case err != nil:
		return 0, &responseError{err}
	case response.Failure != nil:
		return 0, &guestError{"the module gives up: " + response.Failure.Code + ": " + response.Failure.Message}
	}
	in.state.stderr = in.state.stderr[:said]
	return *output.Fuel, nil
}

// responseError is a response of the export that is rejected.
type responseError struct{ err error } // an *abi.ValidationError

func (e *responseError) Error() string { return e.err.Error() }
func (e *responseError) Unwrap() error { return e.err }

// noDesk is where a module asks while it is prepared: it may not.
type noDesk struct{}

func (noDesk) Ask(_ context.Context, capability abi.Capability, _ []byte) ([]byte, error) {
	return nil, &DeniedError{capability, "may not be used while the module is prepared"}
}

// changes are what the preparation of a case made of an instance.
type changes struct {
	memory *pages.Changes
	rest   rest
	fuel   uint64
}

// apply makes the changes in a pristine instance. What is held beside the memory comes first: the memory may have grown in its place.
func (in *instance) apply(c *changes) error {
	if err := in.set(&c.rest); err != nil {
		return err
	}
	if err := in.grow(c.memory.Size()); err != nil {
		return err
	}
	in.memory.Apply(c.memory)
	return nil
}

// preparedPools are those of a program, by what the module was prepared with. Safe for concurrent use.
type preparedPools struct {
	mu    sync.Mutex
	pools []*preparedPool // the one that was used last comes last
}

// preparedPool keeps instances of a program that was prepared.
type preparedPool struct {
	digest string
	users  int // calls in it; guarded by preparedPools.mu

	made     atomic.Bool
	making   chan struct{} // who makes it holds it
	pool     pool          // with its template once it was made
	failed   *CallError    // in place of it
	failures atomic.Int64  // how often it failed
}

// failure is why a pool that was made has no instances; nil where it has. It is another module's, with the same code.
func (g *preparedPool) failure(module Digest) error {
	if g.failed == nil {
		return nil
	}
	return g.failed.of(module)
}

// acquire gives the pool of a digest, which may not be made yet, to be released once.
func (s *preparedPools) acquire(program *program, digest string) *preparedPool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, g := range s.pools {
		if g.digest == digest {
			g.users++
			copy(s.pools[i:], s.pools[i+1:])
			s.pools[len(s.pools)-1] = g
			return g
		}
	}
	g := &preparedPool{digest: digest, users: 1, making: make(chan struct{}, 1)}
	g.pool.program = program
	s.pools = append(s.pools, g)
	return g
}

// release ends a use, and frees what is too much: the pools that were used longest ago, of those in which no call runs.
func (s *preparedPools) release(g *preparedPool) {
	s.mu.Lock()
	g.users--
	var gone []*preparedPool
	for i := 0; i < len(s.pools) && len(s.pools) > maxGenerations; {
		if old := s.pools[i]; old.users == 0 {
			gone = append(gone, old)
			s.pools = append(s.pools[:i], s.pools[i+1:]...)
			continue
		}
		i++
	}
	s.mu.Unlock()
	for _, old := range gone {
		old.pool.close()
		_ = old.pool.free() // unmaps memory, and closes a file that was never written
	}
}

// close frees the instances, and free what they began as. No call runs in them.
func (s *preparedPools) close() {
	for _, g := range s.pools {
		g.pool.close()
	}
}

func (s *preparedPools) free() error {
	var errs []error
	for _, g := range s.pools {
		errs = append(errs, g.pool.free())
	}
	return errors.Join(errs...)
}
