package mine

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
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

// installer is a suite whose trees need something installed beside them.
type installer interface {
	// install puts what a tree needs beside it, in the folder where it is checked out.
	install(ctx context.Context, folder string) error
}

// openSuite finds the suite for a tree, by the files at its top.
func openSuite(ctx context.Context, r *history.Repository, tree, folder string) (suite, error) {
	out, err := r.Git(ctx, "ls-tree", "--name-only", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	files := strings.Split(out, "\n")
	for _, name := range []string{"pyproject.toml", "setup.py", "setup.cfg"} {
		if slices.Contains(files, name) && !slices.Contains(files, "go.mod") {
			return newPySuite(r, folder)
		}
	}
	for _, kind := range xmlKinds() {
		if slices.Contains(files, kind.marker) && !slices.Contains(files, "go.mod") {
			return newXMLSuite(kind, folder)
		}
	}
	return newGoSuite(ctx, filepath.Join(folder, "scratch"))
}

// surroundings are what a run has otherwise than usual.
type surroundings struct {
	// launcher runs before the command, with the command as its last arguments.
	launcher []string
	// only runs a single test, alone; empty runs all.
	only string
	// clock is how much the clock is ahead.
	clock time.Duration
}

// outcome is what the tests of a unit came to.
type outcome struct {
	passed map[string]bool
	failed map[string]history.Report // by the test's name, of subtests that fail the innermost alone
	// problem is why nothing was run, such as what the compiler says.
	problem string
	// slow: the tests took longer than a suite may.
	slow bool
	wall time.Duration
	took map[string]time.Duration // by the test's name
}
