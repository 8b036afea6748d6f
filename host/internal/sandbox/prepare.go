package sandbox

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// Preparation is what a module that has started is prepared with (SPEC.md §2.19).
type Preparation struct {
	// Digest names all of it: equal digests mean equal requests.
	Digest string
	// Requests are prepare_requests, in order. They are read only.
	Requests [][]byte
}

// maxPrepared is how many preparations a program keeps while no call runs in them.
const maxPrepared = 4

// Prepares says whether the module can be prepared: it has the export, and what it is can be saved.
func (m *Module) Prepares() bool { return m.prepares && m.pool.template != nil }

// runPrepared makes one call after a preparation.
func (m *Module) runPrepared(ctx context.Context, after *Preparation, export string, request []byte) (Output, error) {
	g := m.pool.program.prepared.acquire(m.pool.program, after.Digest)
	defer m.pool.program.prepared.release(g)
	if err := m.prepare(ctx, g, after); err != nil {
		return Output{}, err
	}
	return m.run(ctx, &g.pool, export, request)
}

// prepare makes the pool of a preparation, unless it is there. One caller makes it; others wait, at most until their context ends, and
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
	}
	for i := 0; i < len(p.Requests) && err == nil; i++ {
		err = in.prepare(p.Requests[i])
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

// prepare makes a call of the export, in which there are no capabilities.
func (in *instance) prepare(request []byte) error {
	in.state.standIns, in.state.broker = standInsOfCall(), noDesk{}
	said := len(in.state.stderr)
	output, err := in.call(abi.ExportPrepare, request, in.program.limits.OutputBytes)
	if in.export = abi.ExportPrepare; err != nil { // also where the allocator failed
		return err
	}
	response, err := codec.DecodePrepareResponse(output.Bytes, len(output.Bytes))
	switch {
	case err != nil:
		return &responseError{err}
	case response.Failure != nil:
		return &guestError{"the module gives up: " + response.Failure.Code + ": " + response.Failure.Message}
	}
	in.state.stderr = in.state.stderr[:said]
	return nil
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
	for i := 0; i < len(s.pools) && len(s.pools) > maxPrepared; {
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
