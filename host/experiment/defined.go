package experiment

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/repo"
	"github.com/shadowcourt/shadowcourt/repo/testcode"
)

// compare compares the code of the test, with what it uses of its file and with the helpers and fixtures beside it that changed.
func (*defined) compare(ctx context.Context, head, base *repo.Tree, f *failure) (*comparison, error) {
	now, err := codeOf(ctx, head, f)
	if err != nil || now == nil {
		return &comparison{}, err
	}
	file := f.project.path()
	if _, ok := base.File(file); !ok {
		return &comparison{}, nil // it may have been moved
	}
	before, err := codeOf(ctx, base, f)
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
		return name != file && sourcefile.IsTest(name) && (stem == "conftest" || sourcefile.KindOf(name) == abi.SourceFixture || strings.Contains(now.text, stem))
	}
	if !slices.EqualFunc(now.file.Uses(now.index), before.file.Uses(before.index), func(a, b testcode.Piece) bool { return a.Text == b.Text }) ||
		head.Differ(base, helper) {
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
func codeOf(ctx context.Context, t *repo.Tree, f *failure) (*code, error) {
	target := f.project
	if _, ok := t.File(target.path()); !ok {
		return nil, nil //nolint:nilnil // the tree does not have it
	}
	text, err := t.Read(ctx, target.path(), maxTestFile)
	if err != nil {
		return nil, err
	}
	c := &code{file: testcode.Parse(target.path(), text), text: string(text)}
	if c.file == nil {
		return nil, nil //nolint:nilnil // the language is not known
	}
	var ok bool
	if c.index, c.rows, ok = c.file.Find(target.test.Class, target.test.Name); !ok {
		return nil, nil //nolint:nilnil // the tree has no such test
	}
	return c, nil
}

// build writes the tree and builds in it. Where runs change the tree itself, it is written and built again before each.
func (r *defined) build(ctx context.Context, w *workspace, f *failure, _ replaced, _ string) (program, error) {
	source, builtAt := w.source(), -1
	build := func(ctx context.Context) error {
		if w.writes == builtAt {
			return nil
		}
		err := r.prepare(ctx, f.project, source, environment{Scratch: w.folder, Network: r.network, Home: r.home})
		if err == nil {
			builtAt = w.writes
		}
		return err
	}
	if err := w.write(ctx); err != nil {
		return nil, err
	}
	if err := build(ctx); err != nil {
		return nil, err
	}
	return func(ctx context.Context, f *failure, env environment) (*testRun, error) {
		if err := build(ctx); err != nil {
			return nil, err
		}
		target := f.project
		env.Tree = w.tree
		if target.path() != "" {
			if _, ok := w.tree.File(target.path()); !ok {
				return nil, errNoTests
			}
		}
		if env.Rows {
			c, err := codeOf(ctx, w.tree, f)
			if err != nil {
				return nil, err
			}
			if c != nil {
				target = target.withRows(c.file.Blocks[c.index].Name, c.rows)
			}
		}
		return r.test(ctx, target, source, env)
	}, nil
}
