package sandbox

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/internal/pages"
)

// Metering is how calls are metered.
type Metering int

// The ways of metering.
const (
	// MeterFuel counts fuel, and ends what spends too much of it.
	MeterFuel Metering = iota
	// MeterNone counts nothing: a guest that spins is never ended, and stops the whole process.
	MeterNone
	// MeterRuntime counts nothing, and has wazero look in every loop whether the call has to end.
	MeterRuntime
)

// Reset is how an instance is made pristine again after a call. See package pages for what the ways do.
type Reset = pages.Way

// The ways, the cheapest first. ResetAuto takes the cheapest that works here; ResetFresh makes a new instance for every call: what all the
// others have to be equal to.
const (
	ResetAuto    = pages.Auto
	ResetScan    = pages.Scan
	ResetDiscard = pages.Discard
	ResetCompare = pages.Compare
	ResetFresh   = pages.Fresh
)

// Resets are the ways of making an instance pristine that work here, the cheapest first.
func Resets() []Reset { return append(pages.Ways(), ResetFresh) }

// Bare is an instance that is never reset: each call finds what the one before it left. It is for measurements, of what being pristine
// costs. One goroutine at a time uses it.
type Bare struct {
	module *Module
	in     *instance
	cancel context.CancelFunc
}

// Bare gives an instance as a first call finds it. The caller closes it, and the module waits for that.
func (m *Module) Bare(ctx context.Context) (*Bare, error) {
	if !m.gate.enter() {
		return nil, m.reject("", CauseHost, "module is closed", ErrClosed)
	}
	in, err := m.pool.take(ctx, m.engine.now)
	if err != nil {
		err = failure(m.info.Digest, m.limits, in, err)
		in.close()
		m.gate.leave()
		return nil, err
	}
	b := &Bare{module: m, in: in}
	// What wazero's own checks cost, they cost with a context that can end.
	in.ctx, b.cancel = context.WithCancel(in.ctx)
	return b, nil
}

// Call is Module.Call without the reset. After an error the instance is of no use any more.
func (b *Bare) Call(ctx context.Context, call abi.Call, request []byte) (Output, error) {
	b.in.begin(ctx)
	output, err := b.in.call(exportOf(call), request, b.module.limits.OutputBytes)
	if err != nil {
		return Output{}, failure(b.module.info.Digest, b.module.limits, b.in, err)
	}
	return output, nil
}

// Close frees the instance.
func (b *Bare) Close() {
	b.cancel()
	b.in.close()
	b.module.gate.leave()
}

// unmetered is the fuel of a guest that spends none.
type unmetered struct{ left uint64 }

// Get gives what Set was told last.
func (u *unmetered) Get() uint64 { return u.left }

// Set notes what is left.
func (u *unmetered) Set(v uint64) { u.left = v }
