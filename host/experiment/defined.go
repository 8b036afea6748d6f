package experiment

import (
	"context"
	"errors"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/experiment/runner"
	"github.com/shadowcourt/shadowcourt/host/experiment/tree"
)

// defined is the toolchain of a runner that a definition describes.
type defined struct {
	*runner.Runner
	network, home bool
}

func (d *defined) unusable() error { return d.Problem() }

func (d *defined) version() string { return d.Version() }

func (d *defined) pace() plan.Pace {
	s := d.Seconds()
	build := time.Duration(s.Build * float64(time.Second))
	return plan.Pace{Start: plan.RunStart + time.Duration(s.Start*float64(time.Second)), Head: build, Other: build}
}

func (d *defined) sees(path string) bool { return d.Sees(path) }

// cached says that results don't outlive a run of the program: what is installed for the tests may change unseen.
func (*defined) cached() bool { return false }

func (d *defined) find(c *abi.Case) (*failure, error) {
	t, err := d.Select(c)
	switch {
	case errors.Is(err, runner.ErrOther):
		return nil, errNoTest
	case err != nil:
		return nil, err
	}
	f := &failure{name: t.Test.Name, group: t.Test.Class, unit: t.Unit(), elapsed: t.Test.Elapsed, certain: t.Found, target: target{project: t}}
	return f, d.Problem()
}

// serves tells of trees other than that under test where what is installed may lead back to the checkout.
func (d *defined) serves(t *tree.Tree) error { return d.Serves(t) }

// compare knows nothing of the tests of other languages.
func (*defined) compare(context.Context, *tree.Tree, *tree.Tree, *failure) (*comparison, error) {
	return &comparison{}, nil
}

// build writes the tree and builds in it. Where runs change the tree itself, it is written and built again before each.
func (d *defined) build(ctx context.Context, w *workspace, f *failure, _ replaced, _ string) (program, error) {
	source := w.source()
	t := f.target.project
	if err := w.write(ctx); err != nil {
		return nil, err
	}
	if err := d.Build(ctx, t, source, runner.Environment{Scratch: w.folder, Network: d.network, Home: d.home}); err != nil {
		return nil, err
	}
	builtAt := w.writes
	return func(ctx context.Context, f *failure, env runner.Environment) (*runner.Run, error) {
		if w.writes != builtAt {
			if err := d.Build(ctx, t, source, runner.Environment{Scratch: w.folder, Network: d.network, Home: d.home}); err != nil {
				return nil, err
			}
			builtAt = w.writes
		}
		if t := f.target.project; t.File() != "" {
			if _, ok := w.tree.File(t.File()); !ok {
				return nil, runner.ErrNoTests
			}
		}
		return d.Test(ctx, f.target.project, source, env)
	}, nil
}
