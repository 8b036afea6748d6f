package mine

import (
	"context"
	"time"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// suite runs all tests of a part of a tree at once, to find those that fail. What it finds is run again by the product's own lab.
type suite interface {
	// name is that of the runner in experiments.
	name() string
	// units are the parts of a tree that can be run by themselves and have some of the test files, such as packages.
	units(folder string, tests []string) []string
	// declares is text that stands where a test is declared, and nowhere else.
	declares(test string) string
	// run runs all tests of a unit of a tree in a folder, in isolation.
	run(ctx context.Context, folder, unit string, in surroundings) (*outcome, error)
}

// surroundings are what a run has otherwise than usual.
type surroundings struct {
	// environment replaces variables, as NAME=VALUE; NAME alone takes one away.
	environment []string
	// launcher runs before the command, with the command as its last arguments.
	launcher []string
	// only runs a single test, alone; empty runs all.
	only string
	// times runs everything so often in one process. Zero is once.
	times int
	// shuffle runs the tests in another order.
	shuffle bool
	starve  bool
	// clock is how much the clock is ahead.
	clock time.Duration
}

// outcome is what the tests of a unit came to.
type outcome struct {
	passed map[string]bool
	failed map[string]history.Report // by the test's name, of subtests that fail the innermost alone
	// problem is why nothing was run, such as what the compiler says.
	problem string
	wall    time.Duration
	took    map[string]time.Duration // by the test's name
}

// mixed are the tests that both passed and failed.
func (o *outcome) mixed() []string {
	var names []string
	for name := range o.failed {
		if o.passed[name] {
			names = append(names, name)
		}
	}
	return names
}
