package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// maxUsesBytes bounds the Go files that are read for what the tests of one text use.
const maxUsesBytes = 32 << 20

// declaration is what a Go file declares at its top level: a function, a type, a variable, or a group of constants.
type declaration struct {
	names       []string
	receiver    string // of a method
	always      bool   // it runs, or is initialized, whoever uses it
	first, last int
	words       []string // the identifiers in it, sorted
}

// declarationsOf reads a Go file, once; none of one that is not valid.
func (t *Tree) declarationsOf(file string) []declaration {
	return t.declared.of(file, func() []declaration {
		data, err := t.read(file)
		if err != nil {
			return nil
		}
		return declarations(file, data)
	})
}

func declarations(file string, data []byte) []declaration {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, data, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var list []declaration
	add := func(n ast.Node, d declaration) {
		d.first, d.last = set.PositionFor(n.Pos(), false).Line, set.PositionFor(n.End(), false).Line
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				d.words = append(d.words, id.Name)
			}
			return true
		})
		slices.Sort(d.words)
		d.words = slices.Clip(slices.Compact(d.words))
		list = append(list, d)
	}
	for _, decl := range parsed.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			d := declaration{names: []string{decl.Name.Name}}
			if decl.Recv == nil {
				d.always = d.names[0] == "init" || d.names[0] == "TestMain" || d.names[0] == "main" || d.names[0] == "_"
			} else {
				d.receiver, _, _ = strings.Cut(strings.Trim(functionName(decl), "(*"), ".")
				d.receiver = strings.TrimSuffix(d.receiver, ")")
			}
			add(decl, d)
		case *ast.GenDecl:
			if decl.Tok == token.CONST { // one may count on from another
				d := declaration{}
				for _, spec := range decl.Specs {
					d.names = append(d.names, namesOf(spec)...)
				}
				add(decl, d)
				continue
			}
			for _, spec := range decl.Specs {
				if names := namesOf(spec); names != nil {
					add(spec, declaration{names: names, always: slices.Contains(names, "_") || calls(spec)})
				}
			}
		}
	}
	return list
}

// calls says whether a variable is initialized by a call, which happens whether or not the variable is used.
func calls(spec ast.Spec) (found bool) {
	value, ok := spec.(*ast.ValueSpec)
	if !ok {
		return false
	}
	for _, v := range value.Values {
		ast.Inspect(v, func(n ast.Node) bool {
			_, call := n.(*ast.CallExpr)
			_, literal := n.(*ast.FuncLit)
			found = found || call
			return !found && !literal
		})
	}
	return found
}

func namesOf(spec ast.Spec) []string {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return []string{spec.Name.Name}
	case *ast.ValueSpec:
		var names []string
		for _, id := range spec.Names {
			names = append(names, id.Name)
		}
		return names
	}
	return nil
}

// uses says what the failing tests use: declarations by file and first line. It goes by names alone, so that it has too much
// rather than too little: whatever has a name that something used has, and the exported methods of used types, which others may
// call through an interface.
type uses map[string]map[int]bool

// usesOf follows the tests through the packages that they reach; nil where not all of the tests are Go functions that are found.
func (s *scope) usesOf() uses {
	if !s.language || !s.whole || len(s.plain) > 0 || len(s.tests.names) == 0 {
		return nil
	}
	type place struct {
		file string
		d    *declaration
	}
	byName, methods := map[string][]place{}, map[string][]place{}
	var queue []place
	found, room := 0, maxUsesBytes
	for dir, distance := range s.distance {
		for _, file := range s.modules.files[dir] {
			isTest := strings.HasSuffix(file, "_test.go")
			if isTest && distance > 0 {
				continue
			}
			info, err := s.tree.root.Stat(filepath.FromSlash(file))
			if err != nil || room < int(info.Size()) {
				return nil
			}
			room -= int(info.Size())
			list := s.tree.declarationsOf(file)
			for i := range list {
				p := place{file, &list[i]}
				own := isTest && list[i].receiver == "" && slices.Contains(s.tests.names, list[i].names[0])
				if own {
					found++
				}
				if own || list[i].always || isTest && list[i].receiver != "" && strings.HasPrefix(list[i].names[0], "Test") {
					queue = append(queue, p)
				}
				for _, name := range list[i].names {
					byName[name] = append(byName[name], p)
				}
				if list[i].receiver != "" && ast.IsExported(list[i].names[0]) {
					methods[list[i].receiver] = append(methods[list[i].receiver], p)
				}
			}
		}
	}
	if found == 0 {
		return nil
	}
	used, seen := uses{}, map[string]bool{}
	for len(queue) > 0 {
		p := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if used[p.file] == nil {
			used[p.file] = map[int]bool{}
		}
		if used[p.file][p.d.first] {
			continue
		}
		used[p.file][p.d.first] = true
		if p.d.receiver == "" {
			for _, name := range p.d.names {
				queue = append(queue, methods[name]...)
			}
		}
		for _, w := range p.d.words {
			if !seen[w] {
				seen[w] = true
				queue = append(queue, byName[w]...)
			}
		}
	}
	return used
}

// touches says whether a change of a Go file touches what is used. What it removes from outside of any declaration counts.
func (u uses) touches(t *Tree, c *Change) bool {
	if c.Opaque || path.Ext(c.Path) != ".go" || c.Kind == ChangeRemoved {
		return true
	}
	list := t.declarationsOf(c.Path)
	if len(list) == 0 {
		return true
	}
	for i := range c.Hunks {
		h := &c.Hunks[i]
		if !h.Code {
			continue
		}
		if u.hunk(t, c.Path, h) {
			return true
		}
		if slices.ContainsFunc(h.Added, directs) || slices.ContainsFunc(h.Removed, func(line string) bool {
			return directs(line) || gone(line, list) && (!strings.HasSuffix(c.Path, "_test.go") || !removedTest.MatchString(line) || strings.HasPrefix(line, "func TestMain("))
		}) {
			return true
		}
	}
	return false
}

// hunk says whether a hunk touches a declaration that is used, as every one does where that is not known.
func (u uses) hunk(t *Tree, file string, h *Hunk) bool {
	return u == nil || slices.ContainsFunc(t.declarationsOf(file), func(d declaration) bool {
		return u[file][d.first] && h.touches(d.first, d.last)
	})
}

// directs says whether a line stands for the whole file or for what follows it.
func directs(line string) bool {
	return strings.HasPrefix(line, "//go:") || strings.HasPrefix(line, "// +build") || strings.HasPrefix(line, "package ")
}

var declared = regexp.MustCompile(`^(?:func|type|var|const)\s+(?:\([^)]*\)\s*)?([\pL_][\pL\d_]*)?`)

// removedTest is a line that begins a test, which no other one uses.
var removedTest = regexp.MustCompile(`^func (?:Test|Fuzz|Example|Benchmark)(?:\P{Ll}[\pL\d_]*)?\(`)

// gone says whether a removed line begins a declaration that the file has no more.
func gone(line string, list []declaration) bool {
	m := declared.FindStringSubmatch(line)
	return m != nil && (m[1] == "" || !slices.ContainsFunc(list, func(d declaration) bool { return slices.Contains(d.names, m[1]) }))
}
