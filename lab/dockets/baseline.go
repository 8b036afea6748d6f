package main

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
)

// baseline is what a module's tests do without any fault.
type baseline struct {
	Orders   []int    `json:"orders"`   // of the tests, in which all passed each time
	Calm     []result `json:"calm"`     // the runs in these orders
	Busy     []result `json:"busy"`     // runs in bursts of processor time, and on one processor
	Problems string   `json:"problems"` // why the module is of no use
}

// How many orders are looked for, how often the tests pass in each, and how many are tried.
const (
	wantedOrders = 4
	runsOfOrder  = 3
	triedOrders  = 12
)

// findBaseline runs the untouched tests: in several orders, several times each, and where the processor is short.
func (c *checkout) findBaseline(ctx context.Context) (baseline, error) {
	var b baseline
	problem, err := c.build(ctx, pristine)
	if err != nil || problem != "" {
		b.Problems = problem
		return b, err
	}
	if err := c.findOrders(ctx, &b); err != nil || b.Problems != "" {
		return b, err
	}
	for i := range 4 {
		in := condition{Fault: launch.Starved, Order: b.Orders[i%len(b.Orders)], Procs: usualProcs}
		if i == 3 {
			in = condition{Order: b.Orders[0], Procs: 1}
		}
		r, err := c.run(ctx, pristine, in)
		if err != nil {
			return b, err
		}
		b.Busy = append(b.Busy, r)
	}
	return b, nil
}

func (c *checkout) findOrders(ctx context.Context, b *baseline) error {
	last := ""
	for order := range triedOrders {
		passed := true
		var runs []result
		for range runsOfOrder {
			r, err := c.run(ctx, pristine, condition{Order: order, Procs: usualProcs})
			if err != nil {
				return err
			}
			if passed = passes(r); !passed {
				last = fmt.Sprintf("%+v", r.Failed)
				break
			}
			runs = append(runs, r)
		}
		if passed {
			b.Orders = append(b.Orders, order)
			b.Calm = append(b.Calm, runs...)
		}
		if len(b.Orders) == wantedOrders {
			return nil
		}
	}
	if len(b.Orders) == 0 {
		b.Problems = fmt.Sprintf("its tests fail on this machine without any fault: %.400s", last)
	}
	return nil
}

func passes(r result) bool { return len(r.Failed) == 0 && r.Red == 0 && r.Tests > 0 && r.Cannot == "" }

// unsteady says whether a test failed in any run without a fault, a starved one included.
func (b baseline) unsteady(test string) bool {
	for _, r := range b.Busy {
		if _, failed := r.log(test); failed {
			return true
		}
	}
	return false
}

// The names of the test binaries without any mutation and with one. No case has them.
const (
	pristine = "pristine"
	mutant   = "mutant"
)
