package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/repo/testcode"
)

// parsedFile is what frames need to know of a file. The name of the package is empty if it is not Go, or too broken.
type parsedFile struct {
	name      string
	lines     int
	functions []function
}

// function is a function of a file, or a test that is a block, with the decorators and annotations that belong to it.
type function struct {
	name        string
	key         string // tells functions of one file apart, with what stands around them
	first, last int
}

// parse never fails: a file that can't be read has no lines.
func (t *Source) parse(file string) *parsedFile {
	return t.parsed.of(file, func() *parsedFile {
		data, err := t.read(file)
		if err != nil {
			return &parsedFile{}
		}
		p := &parsedFile{lines: strings.Count(string(data), "\n") + 1}
		p.name, p.functions = functionsIn(file, data)
		return p
	})
}

// at is the innermost function at a line, nil for none.
func (p *parsedFile) at(line int) *function {
	var inner *function
	for i := range p.functions {
		if f := &p.functions[i]; f.first <= line && line <= f.last {
			inner = f // inner ones come last
		}
	}
	return inner
}

// functionsIn lists the functions of a file, inner ones last, and gives the name of a Go file's package.
func functionsIn(file string, data []byte) (name string, list []function) {
	seen := map[string]int{}
	add := func(f function) {
		seen[f.key]++
		f.key = strings.Repeat("\x00", seen[f.key]-1) + f.key
		list = append(list, f)
	}
	if path.Ext(file) != ".go" {
		code := testcode.Parse(file, data)
		if code == nil {
			return "", nil
		}
		for i := range code.Blocks {
			b := &code.Blocks[i]
			if !b.Callable {
				continue
			}
			names := []string{b.Name}
			for k := b.Parent; k >= 0; k = code.Blocks[k].Parent {
				names = append(names, code.Blocks[k].Name)
			}
			add(function{b.Name, strings.Join(names, " in "), b.First, b.Last})
		}
		return "", list
	}
	set := token.NewFileSet()
	// What could be parsed of a broken file is as good as nothing is: build failures are failures too.
	parsed, _ := parser.ParseFile(set, file, data, parser.SkipObjectResolution)
	if parsed == nil || parsed.Name == nil || parsed.Name.Name == "_" {
		return "", nil
	}
	for _, decl := range parsed.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			// Not PositionFor's adjusted lines: //line comments are the file's own words.
			name := functionName(f)
			add(function{name, name, set.PositionFor(f.Pos(), false).Line, set.PositionFor(f.End(), false).Line})
		}
	}
	return parsed.Name.Name, list
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

// unchanged are the functions of a changed test file that the revision has with the same code, by their keys; nil for other files. Lines
// that a diff shows as added or removed may belong to a neighbour: a function has changed only if its own code differs.
func (t *Source) unchanged(file string) map[string]bool {
	before, changed := t.oldTests[file]
	if !changed {
		return nil
	}
	return t.same.of(file, func() map[string]bool {
		data, err := t.read(file)
		if err != nil {
			return nil
		}
		now, old := splitLines(string(data)), splitLines(string(before))
		text := func(lines []string, f *function) string {
			return strings.Join(lines[f.first-1:min(f.last, len(lines))], "\n")
		}
		same := map[string]bool{}
		_, earlier := functionsIn(file, before)
		for i := range t.parse(file).functions {
			f := &t.parse(file).functions[i]
			at := slices.IndexFunc(earlier, func(g function) bool { return g.key == f.key })
			if at >= 0 && sameCode(file, text(now, f), text(old, &earlier[at])) {
				same[f.key] = true
			}
		}
		return same
	})
}

// sameCode says whether two functions of a file are the same but for comments and formatting.
func sameCode(file, a, b string) bool {
	if a == b {
		return true
	}
	before, ok := tokensOf(file, []byte(a))
	after, also := tokensOf(file, []byte(b))
	return ok && also && sameText(before, after)
}
