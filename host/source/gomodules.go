package source

import (
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

// maxPackages bounds the packages that are looked at for one text.
const maxPackages = 2000

// goModules are the Go modules of a tree, and who imports whom in them. Its methods may be called concurrently.
type goModules struct {
	tree    *Tree
	modules []goModule // the deepest folders first
	files   map[string][]string
	imports memo[*goImports] // by folder
}

type goModule struct{ dir, path string }

// goImports are the folders of the tree that the Go files of a folder import; others: they import packages that are neither of the tree nor of the standard library.
type goImports struct {
	product, tests []string
	others         bool
}

func newGoModules(t *Tree) *goModules {
	g := &goModules{tree: t, files: map[string][]string{}}
	for _, name := range t.files {
		if path.Ext(name) == ".go" && !sourcefile.Installed(name) {
			dir := path.Dir(name)
			g.files[dir] = append(g.files[dir], name)
		}
	}
	for _, name := range t.byBase["go.mod"] {
		if text, err := t.read(name); err == nil && sourcefile.KindOf(name) == abi.SourceOther {
			if found := moduleLine.FindSubmatch(text); found != nil {
				g.modules = append(g.modules, goModule{path.Dir(name), string(found[1])})
			}
		}
	}
	slices.SortFunc(g.modules, func(a, b goModule) int {
		if n := depth(b.dir) - depth(a.dir); n != 0 {
			return n
		}
		return strings.Compare(a.dir, b.dir)
	})
	return g
}

func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

// under says whether a path is a folder, or lies in it.
func under(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// moduleOf is the module that a folder belongs to, nil for none.
func (g *goModules) moduleOf(dir string) *goModule {
	for i := range g.modules {
		if under(dir, g.modules[i].dir) {
			return &g.modules[i]
		}
	}
	return nil
}

// isPackage says whether a folder holds a package of which it is known what it imports.
func (g *goModules) isPackage(dir string) bool {
	return len(g.files[dir]) > 0 && g.moduleOf(dir) != nil
}

// folderOf is the folder of an import path; not ok for what is none of the tree's.
func (g *goModules) folderOf(importPath string) (dir string, ok bool) {
	for i := range g.modules {
		m := &g.modules[i]
		rest, within := strings.CutPrefix(importPath, m.path)
		if !within || rest != "" && rest[0] != '/' {
			continue
		}
		dir := path.Join(m.dir, rest)
		if owner := g.moduleOf(dir); owner != nil && owner.path == m.path {
			return dir, true
		}
	}
	return "", false
}

// importsOf reads what the Go files of a folder import, once.
func (g *goModules) importsOf(dir string) *goImports {
	return g.imports.of(dir, func() *goImports { return g.newImports(dir) })
}

func (g *goModules) newImports(dir string) *goImports {
	found := &goImports{}
	for _, name := range g.files[dir] {
		data, err := g.tree.read(name)
		if err != nil {
			continue
		}
		// What could be parsed of a broken file is as good as nothing is.
		parsed, _ := parser.ParseFile(token.NewFileSet(), name, data, parser.ImportsOnly)
		if parsed == nil {
			continue
		}
		list := &found.product
		if strings.HasSuffix(name, "_test.go") {
			list = &found.tests
		}
		for _, spec := range parsed.Imports {
			importPath, err := strconv.Unquote(spec.Path.Value)
			if folder, ok := g.folderOf(importPath); ok && err == nil {
				*list = append(*list, folder)
				continue
			}
			first, _, _ := strings.Cut(importPath, "/")
			found.others = found.others || strings.Contains(first, ".")
		}
	}
	for _, list := range []*[]string{&found.product, &found.tests} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return found
}

// distances gives how many imports lie between the tests of some folders and the folders that they reach; not whole when
// there are more than are looked at.
func (g *goModules) distances(from []string) (by map[string]int, whole bool) {
	by = map[string]int{}
	queue := slices.Clone(from)
	for _, dir := range from {
		by[dir] = 0
	}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		imports := g.importsOf(dir)
		next := imports.product
		if by[dir] == 0 {
			next = slices.Concat(imports.product, imports.tests)
		}
		for _, other := range next {
			if _, seen := by[other]; seen {
				continue
			}
			if len(by) >= maxPackages {
				return by, false
			}
			by[other] = by[dir] + 1
			queue = append(queue, other)
		}
	}
	return by, true
}

// importsOthers says whether a package of some folders imports one of another module.
func (g *goModules) importsOthers(folders map[string]int) bool {
	for dir := range folders {
		if g.importsOf(dir).others {
			return true
		}
	}
	return false
}
