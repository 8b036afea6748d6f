package experiment

import (
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/experiment/runner"
	"github.com/shadowcourt/shadowcourt/host/experiment/tree"
	"github.com/shadowcourt/shadowcourt/host/internal/testcode"
)

// defined is the toolchain of a runner that a definition describes.
type defined struct {
	*runner.Runner
	network, home bool
}

func (d *defined) unusable() error { return d.Problem() }

func (d *defined) version() string { return d.Version() }

func (d *defined) variables() []string { return d.Variables() }

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

// compare compares the code of the test, with what it uses of its file and with the helpers and fixtures beside it that changed.
func (*defined) compare(ctx context.Context, head, green *tree.Tree, f *failure) (*comparison, error) {
	now, err := codeOf(ctx, head, f)
	if err != nil || now == nil {
		return &comparison{}, err
	}
	file := f.target.project.File()
	if _, ok := green.File(file); !ok {
		return &comparison{}, nil // it may have been moved
	}
	before, err := codeOf(ctx, green, f)
	if err != nil {
		return nil, err
	}
	c := &comparison{change: abi.TestNew}
	if before == nil {
		return c, nil
	}
	c.change = abi.TestUnchanged
	helper := func(name string) bool {
		stem, _, _ := strings.Cut(path.Base(name), ".")
		return name != file && tree.IsTest(name) && (stem == "conftest" || sourcefile.KindOf(name) == abi.SourceFixture || strings.Contains(now.text, stem))
	}
	if !slices.EqualFunc(now.file.Uses(now.index), before.file.Uses(before.index), func(a, b testcode.Piece) bool { return a.Text == b.Text }) ||
		head.Differ(green, helper) {
		c.change = abi.TestChanged
	}
	return c, nil
}

// code is the code of a failing test in a tree.
type code struct {
	file  *testcode.File
	text  string
	index int
	rows  *regexp.Regexp
}

// codeOf finds the code of the failing test in a tree; nil where there is none, or its language is not known.
func codeOf(ctx context.Context, t *tree.Tree, f *failure) (*code, error) {
	target := f.target.project
	if _, ok := t.File(target.File()); !ok {
		return nil, nil //nolint:nilnil // the tree does not have it
	}
	text, err := t.Read(ctx, target.File(), maxTestFile)
	if err != nil {
		return nil, err
	}
	c := &code{file: testcode.Parse(target.File(), text), text: string(text)}
	if c.file == nil {
		return nil, nil //nolint:nilnil // the language is not known
	}
	var ok bool
	if c.index, c.rows, ok = c.file.Find(target.Test.Class, target.Test.Name); !ok {
		return nil, nil //nolint:nilnil // the tree has no such test
	}
	return c, nil
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
		target := f.target.project
		if target.File() != "" {
			if _, ok := w.tree.File(target.File()); !ok {
				return nil, runner.ErrNoTests
			}
		}
		if env.Rows {
			c, err := codeOf(ctx, w.tree, f)
			if err != nil {
				return nil, err
			}
			if c != nil {
				target = target.WithRows(c.file.Blocks[c.index].Name, c.rows)
			}
		}
		return d.Test(ctx, target, source, env)
	}, nil
}
