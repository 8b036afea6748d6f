package main

import (
	"context"
	"math/rand/v2"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/mutate"
)

// fault is one thing done wrong, and the condition that its runs have in common.
type fault struct {
	Cause     string       `json:"cause"`
	Kind      string       `json:"kind"` // the operator, or the fault of the environment without its degree
	Site      *mutate.Site `json:"site"` // nil where the source is left as it is
	Condition condition    `json:"condition"`
}

// attempt is what came of a fault.
type attempt struct {
	Fault fault `json:"fault"`
	// Broken: the tests don't compile. Such a failure is found before any test runs, and makes no case.
	Broken bool `json:"broken"`
	// Runs of the same tree. Of a deterministic cause the first is the one that is looked at, and all are in the same
	// condition. Of an nd001 cause the conditions differ by what decides which test wins.
	Runs []result `json:"runs"`
	// Elsewhere is a run of the same tree where nothing is wrong with the environment; nil where nothing was wrong anyway.
	Elsewhere *result `json:"elsewhere"`
	// Cases are tests and the run that is looked at.
	Cases    []found   `json:"cases"`
	Readings []reading `json:"readings"`
}

// found is a test that fails as its cause has it.
type found struct {
	Test string `json:"test"`
	Run  int    `json:"run"` // index into Runs
}

// repeats is how often a deterministic cause is run; the test has to fail each time.
const repeats = 3

// try makes the fault, runs the tests, and undoes it.
func (c *checkout) try(ctx context.Context, f fault, steady func(test string) bool) (attempt, error) {
	a := attempt{Fault: f}
	name := pristine
	if f.Site != nil {
		undo, err := f.Site.Apply(c.folder())
		if err != nil {
			return a, err
		}
		name = mutant
		problem, buildErr := c.build(ctx, name)
		if f.File() {
			defer func() { _ = undo() }() // the tests read it while they run
		} else if err := undo(); err != nil {
			return a, err
		}
		if buildErr != nil || problem != "" {
			a.Broken = true
			return a, buildErr
		}
	}
	var err error
	if f.Cause == noDefect {
		err = c.tryFlaky(ctx, name, &a)
	} else {
		err = c.tryDefect(ctx, name, &a, steady)
	}
	if err != nil || len(a.Cases) == 0 {
		return a, err
	}
	if f.Condition.Fault != "" {
		r, err := c.run(ctx, name, condition{Order: f.Condition.Order, Procs: usualProcs})
		if err != nil {
			return a, err
		}
		a.Elsewhere = &r
	}
	a.Readings, err = c.probeIn(ctx, f.Condition)
	return a, err
}

// File says whether the fault is in a data file.
func (f fault) File() bool { return f.Site != nil && mutate.IsFixture(f.Site.File) }

// tryDefect looks for tests that fail each time.
func (c *checkout) tryDefect(ctx context.Context, name string, a *attempt, steady func(test string) bool) error {
	for range repeats {
		r, err := c.run(ctx, name, a.Fault.Condition)
		if err != nil {
			return err
		}
		a.Runs = append(a.Runs, r)
		if len(r.Failed) == 0 {
			return nil // it survives, or not always fails
		}
	}
	for _, f := range a.Runs[0].Failed {
		always := steady(f.Test)
		for _, r := range a.Runs[1:] {
			_, again := r.log(f.Test)
			always = always && again
		}
		if always {
			a.Cases = append(a.Cases, found{Test: f.Test})
		}
	}
	return nil
}

// tryFlaky looks for tests that fail in some runs and pass in others.
func (c *checkout) tryFlaky(ctx context.Context, name string, a *attempt) error {
	for i, in := range flakyConditions(a.Fault) {
		r, err := c.run(ctx, name, in)
		if err != nil {
			return err
		}
		a.Runs = append(a.Runs, r)
		if i == 3 && allAlike(a.Runs) {
			return nil
		}
		if i >= 3 && changing(a.Runs) {
			break
		}
	}
	seen := map[string]bool{}
	for i, r := range a.Runs {
		for _, f := range r.Failed {
			if !seen[f.Test] && passesSometimes(a.Runs, f.Test) {
				seen[f.Test] = true
				a.Cases = append(a.Cases, found{Test: f.Test, Run: i})
			}
		}
	}
	return nil
}

// changing says whether some test fails in some runs and passes in others.
func changing(runs []result) bool {
	for _, r := range runs {
		for _, f := range r.Failed {
			if passesSometimes(runs, f.Test) {
				return true
			}
		}
	}
	return false
}

// allAlike says whether all runs pass, or all fail the same tests.
func allAlike(runs []result) bool {
	for _, r := range runs[1:] {
		if len(r.Failed) != len(runs[0].Failed) {
			return false
		}
		for _, f := range r.Failed {
			if _, too := runs[0].log(f.Test); !too {
				return false
			}
		}
	}
	return true
}

func passesSometimes(runs []result, test string) bool {
	for _, r := range runs {
		if r.Passed[test] {
			return true
		}
	}
	return false
}

// flakyConditions are those in which a tree is run to see whether its outcome changes.
func flakyConditions(f fault) []condition {
	usual := f.Condition
	switch f.Kind {
	case launch.Starved:
		calm := condition{Order: usual.Order, Procs: usual.Procs}
		return []condition{usual, calm, usual, calm, usual, calm}
	case otherOrder:
		var all []condition
		rng := rand.New(rand.NewPCG(uint64(usual.Order), 1)) //nolint:gosec // chosen, not secret
		for i := range 6 {
			all = append(all, condition{Fault: usual.Fault, Order: usual.Order + i*rng.IntN(1000), Procs: usual.Procs})
		}
		return all
	default:
		busy, single, mixed, many := usual, usual, usual, usual
		if usual.Fault == "" {
			busy.Fault = launch.Starved
		}
		single.Procs, many.Procs, mixed.Order = 1, 8, usual.Order+1000
		return []condition{usual, busy, mixed, single, usual, many}
	}
}

const otherOrder = "other order"
