package experiment

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/repo"
)

// goTarget is a test of Go.
type goTarget struct {
	module string   // folder of the module in every tree
	folder string   // of the package, in its module
	flags  []string // of the build, which the failure needs
	// builds: the failure is that the package does not build, and its test is the build.
	builds bool
}

// module is a Go module of the tree under test.
type module struct{ folder, path string }

const maxGoMod = 1 << 20

func modulesOf(ctx context.Context, head *repo.Tree) ([]module, error) {
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
func testedFolders(t *repo.Tree) map[string]bool {
	tested := map[string]bool{}
	for _, name := range t.Paths() {
		if strings.HasSuffix(name, "_test.go") {
			tested[path.Dir(name)] = true
		}
	}
	return tested
}

// serves: a binary knows nothing of the checkout.
func (*goTests) serves(*repo.Tree) error { return nil }

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
	unbuilt := gotest.UnbuiltOf(c)
	switch len(tests) {
	case 0:
		if unbuilt == "" {
			return nil, errNoTest
		}
		tests = []gotest.Test{{Package: unbuilt}}
	case 1:
	default:
		return nil, fmt.Errorf("several tests are named, such as %s and %s", tests[0].Name, tests[1].Name)
	}
	test := tests[0]
	f := &failure{name: test.Name, group: test.Package, elapsed: test.Elapsed, certain: true}
	t := &f.goTest
	t.flags, t.builds = flagsOf(c.Documents), test.Name == ""
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
	if t.builds {
		f.unit += " -c"
	}
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

func (*goTests) compare(ctx context.Context, head, base *repo.Tree, f *failure) (*comparison, error) {
	if f.goTest.builds {
		return &comparison{}, nil
	}
	test, _, _ := strings.Cut(f.name, "/")
	pack := path.Join(f.goTest.module, f.goTest.folder)
	now, missing, err := needs(ctx, head, pack, test)
	if err != nil || now == nil || missing {
		return &comparison{}, err
	}
	before, missing, err := needs(ctx, base, pack, test)
	if err != nil || before == nil && !missing {
		return &comparison{}, err
	}
	c := &comparison{needed: map[abi.TreeRevision]replaced{abi.Head: replace(pack, now.files)}, change: abi.TestNew}
	if missing {
		return c, nil
	}
	c.needed[abi.Base] = replace(pack, before.files)
	own := func(name string) bool { return strings.HasPrefix(name, pack+"/") || pack == "." }
	data := func(name string) bool { return sourcefile.IsTest(name) && !strings.HasSuffix(name, "_test.go") }
	c.change = abi.TestChanged
	if now.digest == before.digest {
		c.same = now.process == before.process && !head.Differ(base, data)
		if c.same || !head.Differ(base, func(name string) bool { return own(name) && data(name) }) {
			c.change = abi.TestUnchanged
		}
	}
	return c, nil
}

// The bounds of the test files that are read to find what a test needs.
const (
	maxTestFile  = 2 << 20
	maxTestFiles = 500
)

// needs finds what a test needs of its package's test files in a tree; nil where that can't be told. missing: there is no such test.
// Errors are those of reading the tree.
func needs(ctx context.Context, t *repo.Tree, pack, test string) (n *needed, missing bool, err error) {
	files := map[string][]byte{}
	for _, name := range t.Paths() {
		if path.Dir(name) != pack || !strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := t.Read(ctx, name, maxTestFile+1)
		if err != nil {
			return nil, false, err
		}
		if files[path.Base(name)] = text; len(text) > maxTestFile || len(files) > maxTestFiles {
			return nil, false, nil
		}
	}
	n, err = needsOf(files, test)
	if err != nil {
		return nil, errors.Is(err, errNoSuchTest), nil
	}
	return n, false, nil
}
