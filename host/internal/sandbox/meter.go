package sandbox

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
)

// Compiled code cannot be preempted: while a guest spins, the collector waits for it, and everybody for the collector. So a guest gets its
// fuel in slices, and comes to the host for the next. A slice is some microseconds of plain code, and two milliseconds of the slowest that
// there is, which touches a new page with every store. Coming costs a fiftieth of it.
const sliceFuel = 20_000

// lookEvery is how many times a guest comes before the host looks at the clock
// and at the caller's context, which costs as much as the rest.
const lookEvery = 5

// turn is how long a guest goes on before other goroutines get theirs. Go would take its processor away after ten milliseconds, and
// everybody who shares it would wait as long.
const turn = 300 * time.Microsecond

// meter counts what one call spends, and ends it when it has to end. What was
// spent is the same in every run: it does not depend on the slices.
type meter struct {
	left    fuelLeft // the guest's: what is left of what it was granted; below zero at the end of a slice
	budget  int64
	limit   string // what the budget is, for the error
	granted int64
	yields  int // since the host last looked whether the call has to end

	caller   context.Context // of the call that runs; kept here because host functions get the instance's own
	deadline time.Time
	turn     time.Time // when it is that of other goroutines
	now      func() time.Time
}

// fuelLeft is a global of the guest, an i64.
type fuelLeft interface {
	Get() uint64
	Set(v uint64)
}

// The budgets of fuel, as errors name them.
const (
	callBudget  = "limit"
	startBudget = "limit for loading the module"
	// prepareBudget is that of a preparation with a profile.
	prepareBudget = "limit for preparing the module with a profile"
)

// begin starts a call with a budget of fuel.
func (m *meter) begin(caller context.Context, wallClock time.Duration, budget int64, limit string) {
	now := m.now()
	m.caller, m.deadline, m.turn = caller, now.Add(wallClock), now.Add(turn)
	m.budget, m.limit = budget, limit
	m.granted, m.yields = min(m.budget, sliceFuel), 0
	m.left.Set(uint64(m.granted))
}

// spent so far. A guest learns only at its next question that it has nothing left, so that this may be more than the budget.
func (m *meter) spent() int64 { return m.granted - int64(m.left.Get()) }

// charge has the guest pay for what a host function does. The guest asks for more at its next question.
func (m *meter) charge(units uint64) { m.left.Set(m.left.Get() - units) }

// over is the error of a call that spent more than its budget, or nil.
func (m *meter) over() error {
	if spent := m.spent(); spent > m.budget {
		return &fuelError{spent: spent, budget: m.budget, limit: m.limit}
	}
	return nil
}

// due is the error of a call that has to end, or nil. Before that it gives way to other goroutines, if it is their turn.
func (m *meter) due() error {
	now := m.now()
	if now.After(m.turn) {
		runtime.Gosched()
		now = m.now()
		m.turn = now.Add(turn)
	}
	switch {
	case m.caller.Err() != nil:
		return errCancelled
	case now.After(m.deadline):
		return errWallClock
	}
	return nil
}

// yield is the guest at the end of a slice.
func (m *meter) yield() {
	if err := m.over(); err != nil {
		panic(err)
	}
	if m.yields++; m.yields >= lookEvery {
		m.yields = 0
		if err := m.due(); err != nil {
			panic(err)
		}
	}
	spent := m.spent()
	more := min(sliceFuel, m.budget-spent)
	m.granted = spent + more
	m.left.Set(uint64(more))
}

// fuelError ends a call that spent its budget.
type fuelError struct {
	spent, budget int64
	limit         string
}

func (e *fuelError) Error() string {
	return fmt.Sprintf("%d units of fuel spent, the %s is %d", e.spent, e.limit, e.budget)
}

// instantiateMeter gives a runtime the function that guests come to.
func instantiateMeter(ctx context.Context, in wazero.Runtime) error {
	_, err := in.NewHostModuleBuilder(instrument.YieldModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(func(ctx context.Context, _ []uint64) { guestOf(ctx).meter.yield() }), nil, nil).
		Export(instrument.YieldName).Instantiate(ctx)
	return err
}
