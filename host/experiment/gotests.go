package experiment

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment/gorun"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/experiment/runner"
	"github.com/shadowcourt/shadowcourt/host/experiment/tree"
)

// goTests is the toolchain of Go: one binary for each package and tree, without the go command in its runs.
type goTests struct {
	command *gorun.Go
	modules []module
	tested  map[string]bool // folders of the tree under test that have test files
	problem error           // why nothing can be run
}

// goTarget is a test of Go.
type goTarget struct {
	module string   // folder of the module in every tree
	folder string   // of the package, in its module
	flags  []string // of the build, which the failure needs
}

// module is a Go module of the tree under test.
type module struct{ folder, path string }

const maxGoMod = 1 << 20

// openGo gives the toolchain of Go for a tree with modules, else nil.
func openGo(ctx context.Context, source runner.Source, flags []string) (*goTests, error) {
	modules, err := modulesOf(ctx, source.Head)
	if err != nil || len(modules) == 0 {
		return nil, err
	}
	g := &goTests{modules: modules, tested: testedFolders(source.Head)}
	if g.command, g.problem = gorun.Find(ctx, source.Scratch, flags...); g.problem == nil {
		g.command.Hide(source.Top)
	}
	return g, ctx.Err()
}

func modulesOf(ctx context.Context, head *tree.Tree) ([]module, error) {
	var found []module
	for _, name := range head.Paths() {
		if path.Base(name) != "go.mod" || slices.ContainsFunc(strings.Split(name, "/"), ignored) {
			continue
		}
		data, err := head.Read(ctx, name, maxGoMod)
		if err != nil {
			return nil, err
		}
		if p := modfile.ModulePath(data); p != "" {
			found = append(found, module{path.Dir(name), p})
		}
	}
	return found, nil
}

// ignored are folders in which the go command looks for no packages.
func ignored(folder string) bool {
	return folder == "testdata" || folder == "vendor" || strings.HasPrefix(folder, "_") || strings.HasPrefix(folder, ".")
}

// testedFolders are the folders of a tree that have test files of Go.
func testedFolders(t *tree.Tree) map[string]bool {
	tested := map[string]bool{}
	for _, name := range t.Paths() {
		if strings.HasSuffix(name, "_test.go") {
			tested[path.Dir(name)] = true
		}
	}
	return tested
}

// String is the toolchain's name.
func (*goTests) String() string { return "go" }

func (*goTests) cached() bool { return true }

func (*goTests) serves(*tree.Tree) error { return nil }

func (g *goTests) unusable() error { return g.problem }

func (g *goTests) sees(path string) bool { return g.command != nil && g.command.Sees(path) }

func (g *goTests) version() string {
	if g.problem != nil {
		return ""
	}
	return g.command.Version()
}

func (*goTests) variables() []string { return gorun.Variables(runner.Environment{}) }

func (*goTests) pace() plan.Pace { return plan.GoPace() }

// find finds the only test of Go that a case names, and its package in the tree.
func (g *goTests) find(c *abi.Case) (*failure, error) {
	var tests []gotest.Test
	for _, t := range gotest.TestsOf(c) {
		if t.Package == "" {
			t.Package = c.Group
		}
		if !slices.ContainsFunc(tests, func(other gotest.Test) bool { return other.Name == t.Name && other.Package == t.Package }) {
			tests = append(tests, t)
		}
	}
	switch len(tests) {
	case 0:
		return nil, errNoTest
	case 1:
	default:
		return nil, fmt.Errorf("several tests are named, such as %s and %s", tests[0].Name, tests[1].Name)
	}
	test := tests[0]
	f := &failure{name: test.Name, group: test.Package, elapsed: test.Elapsed, certain: true}
	t := &f.target.goTest
	t.flags = flagsOf(c.Documents)
	var at string
	for _, m := range g.modules { // the innermost module that has the package
		folder, ok := strings.CutPrefix(test.Package+"/", m.path+"/")
		if ok && len(m.path) > len(at) {
			at, t.module, t.folder = m.path, m.folder, path.Clean("./"+folder)
		}
	}
	pack := path.Join(t.module, t.folder)
	if at == "" || !g.tested[pack] {
		return nil, fmt.Errorf("no tests of package %q are in the source", test.Package)
	}
	f.unit = strings.Join(append([]string{pack}, t.flags...), " ")
	return f, g.problem
}

// flagsOf are the flags without which the failure could not have happened: without the race detector, tests with races pass.
func flagsOf(documents []abi.Document) []string {
	for i := range documents {
		if text := documents[i].Text; strings.Contains(text, "WARNING: DATA RACE") || strings.Contains(text, "race detected during execution of test") {
			return []string{"-race"}
		}
	}
	return nil
}

func (g *goTests) build(ctx context.Context, w *workspace, f *failure, only replaced, out string) (program, error) {
	t := f.target.goTest
	if !w.tested()[path.Join(t.module, t.folder)] {
		return nil, runner.ErrNoTests
	}
	if err := w.write(ctx); err != nil {
		return nil, err
	}
	overlay, err := only.write(out, w.source())
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(w.source(), filepath.FromSlash(t.module))
	binary, err := g.command.Build(ctx, folder, "./"+t.folder, out, slices.Concat(overlay, t.flags)...)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, f *failure, env runner.Environment) (*runner.Run, error) {
		return g.command.Test(ctx, binary, f.name, env)
	}, nil
}
