package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/internal/testcode"
)

// A goFile is what frames need to know of a file. The name of the package is empty if it is not Go, or too broken; functions of other
// languages are those that package testcode finds.
type goFile struct {
	name      string
	lines     int
	functions []function
}

type function struct {
	name        string
	first, last int
}

// parse never fails: a file that can't be read has no lines.
func (t *Tree) parse(file string) *goFile {
	return t.parsed.of(file, func() *goFile { return t.goFile(file) })
}

func (t *Tree) goFile(file string) *goFile {
	data, err := t.read(file)
	if err != nil {
		return &goFile{}
	}
	g := &goFile{lines: strings.Count(string(data), "\n") + 1}
	if path.Ext(file) != ".go" {
		if code := testcode.Parse(file, data); code != nil {
			for i := range code.Blocks {
				if b := &code.Blocks[i]; b.Callable {
					g.functions = append(g.functions, function{name: b.Name, first: b.First, last: b.Last})
				}
			}
		}
		return g
	}
	set := token.NewFileSet()
	// What could be parsed of a broken file is as good as nothing is: build failures are failures too.
	parsed, _ := parser.ParseFile(set, file, data, parser.SkipObjectResolution)
	if parsed == nil || parsed.Name == nil || parsed.Name.Name == "_" {
		return g
	}
	g.name = parsed.Name.Name
	for _, decl := range parsed.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			// Not PositionFor's adjusted lines: //line comments are the file's own words.
			g.functions = append(g.functions, function{
				name: functionName(f), first: set.PositionFor(f.Pos(), false).Line, last: set.PositionFor(f.End(), false).Line,
			})
		}
	}
	return g
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	star, pointer := receiver.(*ast.StarExpr)
	if pointer {
		receiver = star.X
	}
	switch generic := receiver.(type) {
	case *ast.IndexExpr:
		receiver = generic.X
	case *ast.IndexListExpr:
		receiver = generic.X
	}
	name, ok := receiver.(*ast.Ident)
	switch {
	case !ok:
		return f.Name.Name
	case pointer:
		return "(*" + name.Name + ")." + f.Name.Name
	}
	return name.Name + "." + f.Name.Name
}
