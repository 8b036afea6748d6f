package mine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// suite is the runner of a tree's tests.
type suite interface {
	// name is that of the runner in experiments.
	name() string
	// install puts what a tree needs beside it, in the folder where it is checked out.
	install(ctx context.Context, folder string) error
}

// goSuite needs nothing beside a tree.
type goSuite struct{}

func (goSuite) name() string { return "go" }

func (goSuite) install(context.Context, string) error { return nil }

// openSuite finds the suite for a tree, by the files at its top.
func openSuite(ctx context.Context, r *history.Repository, tree, folder string) (suite, error) {
	out, err := r.Git(ctx, "ls-tree", "--name-only", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	files := strings.Split(out, "\n")
	if slices.Contains(files, "go.mod") {
		return goSuite{}, nil
	}
	for _, name := range []string{"pyproject.toml", "setup.py", "setup.cfg"} {
		if slices.Contains(files, name) {
			return newPySuite(r, folder), nil
		}
	}
	scratch := filepath.Join(folder, "scratch")
	for _, s := range xmlSuites(scratch) {
		if slices.Contains(files, s.needs[0]) {
			return s, os.MkdirAll(scratch, 0o755)
		}
	}
	return goSuite{}, nil
}
