package model

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"
)

// PackagePath is the package that is read.
const PackagePath = "github.com/shadowcourt/shadowcourt/abi"

// Load reads package abi from source. dir is any directory inside the module;
// empty is the current one. All faults are reported together.
func Load(dir string) (*Model, error) {
	pkgs, err := packages.Load(&packages.Config{
		Dir:  dir,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes,
	}, PackagePath)
	if err != nil {
		return nil, fmt.Errorf("model: load %s: %w", PackagePath, err)
	}
	if len(pkgs) != 1 {
		return nil, fmt.Errorf("model: load %s: %d packages", PackagePath, len(pkgs))
	}
	p := pkgs[0]
	var faults []error
	for _, e := range p.Errors {
		faults = append(faults, e)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("model: load %s: %w", PackagePath, errors.Join(faults...))
	}
	return FromSyntax(p.Fset, p.Syntax, p.Types)
}

// FromSyntax reads a package that is already parsed (with comments) and type-checked.
func FromSyntax(fset *token.FileSet, files []*ast.File, pkg *types.Package) (*Model, error) {
	r := &reader{fset: fset, pkg: pkg, structs: map[string]*StructType{}, enums: map[string]*EnumType{}, nodes: map[string]*ast.StructType{}, used: map[*EnumType]bool{}}
	files = append([]*ast.File(nil), files...)
	sort.Slice(files, func(i, j int) bool { return r.file(files[i].Pos()) < r.file(files[j].Pos()) })
	var decls []*ast.GenDecl
	for _, f := range files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				decls = append(decls, g)
			}
		}
	}
	m := &Model{}
	for _, g := range decls {
		r.declare(m, g)
	}
	for _, g := range decls {
		r.constants(g)
	}
	for _, s := range m.Structs {
		r.fill(s)
	}
	m.Enums = slices.DeleteFunc(m.Enums, func(e *EnumType) bool { return !r.used[e] })
	for _, e := range m.Enums {
		if len(e.Values) == 0 {
			r.fault(pkg.Scope().Lookup(e.GoName).Pos(), "enumeration %s has no values", e.GoName)
		}
	}
	r.recursion(m)
	if len(r.faults) > 0 {
		return nil, errors.Join(r.faults...)
	}
	return m, nil
}

type reader struct {
	fset    *token.FileSet
	pkg     *types.Package
	structs map[string]*StructType
	enums   map[string]*EnumType
	nodes   map[string]*ast.StructType
	used    map[*EnumType]bool // by some message
	faults  []error
}

func (r *reader) fault(pos token.Pos, format string, args ...any) {
	p := r.fset.Position(pos)
	r.faults = append(r.faults, fmt.Errorf("%s:%d: "+format, append([]any{filepath.Base(p.Filename), p.Line}, args...)...))
}

func (r *reader) file(pos token.Pos) string { return filepath.Base(r.fset.Position(pos).Filename) }

// declare notes the structs with abi tags and the exported named strings that
// some message uses as enumerations.
func (r *reader) declare(m *Model, g *ast.GenDecl) {
	if g.Tok != token.TYPE {
		return
	}
	for _, spec := range g.Specs {
		ts := spec.(*ast.TypeSpec) //nolint:forcetypeassert // what a type declaration holds
		doc := comment(ts.Doc)
		if doc == "" && len(g.Specs) == 1 {
			doc = comment(g.Doc)
		}
		switch t := ts.Type.(type) {
		case *ast.StructType:
			if !tagged(t) {
				continue
			}
			if ts.TypeParams != nil {
				r.fault(ts.Pos(), "%s has type parameters", ts.Name.Name)
				continue
			}
			s := &StructType{GoName: ts.Name.Name, WireName: WireName(ts.Name.Name), Doc: doc, File: r.file(ts.Pos())}
			m.Structs = append(m.Structs, s)
			r.structs[s.GoName] = s
			r.nodes[s.GoName] = t
		case *ast.Ident:
			if t.Name == "string" && !ts.Assign.IsValid() {
				e := &EnumType{GoName: ts.Name.Name, Doc: doc}
				m.Enums = append(m.Enums, e)
				r.enums[e.GoName] = e
			}
		}
	}
}

func (r *reader) constants(g *ast.GenDecl) {
	if g.Tok != token.CONST {
		return
	}
	for _, spec := range g.Specs {
		vs := spec.(*ast.ValueSpec) //nolint:forcetypeassert // what a const declaration holds
		for _, name := range vs.Names {
			c, ok := r.pkg.Scope().Lookup(name.Name).(*types.Const)
			if !ok {
				continue
			}
			named, ok := c.Type().(*types.Named)
			if !ok {
				continue
			}
			if e := r.enums[named.Obj().Name()]; e != nil {
				e.Values = append(e.Values, EnumValue{GoName: name.Name, Value: constantString(c), Doc: comment(vs.Doc)})
			}
		}
	}
}

// recursion rejects types that contain themselves: messages are finite trees
// of known depth.
func (r *reader) recursion(m *Model) {
	state := map[*StructType]int{}
	var visit func(*StructType)
	var through func(*Type)
	through = func(t *Type) {
		switch {
		case t == nil:
		case t.Elem != nil:
			through(t.Elem)
		case t.Struct != nil:
			visit(t.Struct)
		}
	}
	visit = func(s *StructType) {
		switch state[s] {
		case 1:
			r.fault(r.pkg.Scope().Lookup(s.GoName).Pos(), "%s contains itself", s.GoName)
			return
		case 2:
			return
		}
		state[s] = 1
		for _, f := range s.Fields {
			through(f.Type)
		}
		state[s] = 2
	}
	for _, s := range m.Structs {
		visit(s)
	}
}

func comment(g *ast.CommentGroup) string { return strings.TrimSpace(g.Text()) }
