package model

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Load reads package abi from the source in its folder. All faults are reported together.
func Load(dir string) (*Model, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names { // in order
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("model: %s holds no package", dir)
	}
	return FromSyntax(fset, files)
}

// FromSyntax reads a package from its files, which have comments, in their order.
func FromSyntax(fset *token.FileSet, files []*ast.File) (*Model, error) {
	r := &reader{fset: fset, structs: map[string]*StructType{}, enums: map[string]*EnumType{}, nodes: map[string]*ast.TypeSpec{}, used: map[*EnumType]bool{}}
	for _, spec := range specs[*ast.TypeSpec](files) {
		r.declare(spec)
	}
	for _, spec := range specs[*ast.ValueSpec](files) {
		r.constants(spec)
	}
	for _, s := range r.Structs {
		r.fill(s)
	}
	for _, file := range files {
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == "Rules" {
				r.rules(fn)
			}
		}
	}
	r.Enums = slices.DeleteFunc(r.Enums, func(e *EnumType) bool { return !r.used[e] })
	for _, e := range r.Enums {
		if len(e.Values) == 0 {
			r.fault(r.nodes[e.GoName].Pos(), "enumeration %s has no values", e.GoName)
		}
	}
	state := map[*StructType]int{}
	for _, s := range r.Structs {
		r.recursion(s, state)
	}
	return &r.Model, errors.Join(r.faults...)
}

// specs gives the specifications of a kind in all declarations. One that stands alone has the comment of its declaration.
func specs[T ast.Spec](files []*ast.File) (list []T) {
	for _, file := range files {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && len(g.Specs) == 1 && t.Doc == nil {
					t.Doc = g.Doc
				}
				if s, ok := spec.(T); ok {
					list = append(list, s)
				}
			}
		}
	}
	return list
}

type reader struct {
	Model

	fset    *token.FileSet
	structs map[string]*StructType
	enums   map[string]*EnumType
	nodes   map[string]*ast.TypeSpec
	used    map[*EnumType]bool // by some message
	faults  []error
}

func (r *reader) fault(pos token.Pos, format string, args ...any) {
	p := r.fset.Position(pos)
	r.faults = append(r.faults, fmt.Errorf("%s:%d: "+format, append([]any{filepath.Base(p.Filename), p.Line}, args...)...))
}

// declare notes the structs with abi tags, and the named strings that some message may use as enumerations.
func (r *reader) declare(spec *ast.TypeSpec) {
	name, doc := spec.Name.Name, comment(spec.Doc)
	r.nodes[name] = spec
	switch t := spec.Type.(type) {
	case *ast.StructType:
		if !slices.ContainsFunc(t.Fields.List, func(f *ast.Field) bool { _, ok := abiTag(f); return ok }) {
			return
		}
		if spec.TypeParams != nil {
			r.fault(spec.Pos(), "%s has type parameters", name)
			return
		}
		file := filepath.Base(r.fset.Position(spec.Pos()).Filename)
		r.structs[name] = &StructType{GoName: name, WireName: WireName(name), Doc: doc, File: file}
		r.Structs = append(r.Structs, r.structs[name])
	case *ast.Ident:
		if t.Name == "string" && !spec.Assign.IsValid() {
			r.enums[name] = &EnumType{GoName: name, Doc: doc}
			r.Enums = append(r.Enums, r.enums[name])
		}
	}
}

// constants notes the values of enumerations, which are declared as such and have a literal each.
func (r *reader) constants(spec *ast.ValueSpec) {
	for i, value := range spec.Values {
		if call, ok := value.(*ast.CallExpr); ok && r.enums[types.ExprString(call.Fun)] != nil {
			r.fault(spec.Pos(), "%s must be declared with its type and a literal", spec.Names[i].Name)
		}
		e := r.enums[types.ExprString(spec.Type)]
		if e == nil {
			continue
		}
		lit, ok := value.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			r.fault(spec.Pos(), "%s must be a literal", spec.Names[i].Name)
			continue
		}
		text, _ := strconv.Unquote(lit.Value) // the parser has read it
		e.Values = append(e.Values, EnumValue{GoName: spec.Names[i].Name, Value: text})
	}
}

// rules notes a method Rules(*Collector) and rejects one of another shape.
func (r *reader) rules(fn *ast.FuncDecl) {
	name := strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*")
	s := r.structs[name]
	if s == nil {
		return
	}
	if p := fn.Type.Params.List; len(p) != 1 || len(p[0].Names) > 1 || types.ExprString(p[0].Type) != "*Collector" || fn.Type.Results.NumFields() > 0 {
		r.fault(fn.Pos(), "%s.Rules must be Rules(*Collector)", name)
	}
	s.HasRules = true
}

// recursion rejects types that contain themselves: messages are finite trees of known depth.
func (r *reader) recursion(s *StructType, state map[*StructType]int) {
	const open, closed = 1, 2
	switch state[s] {
	case open:
		r.fault(r.nodes[s.GoName].Pos(), "%s contains itself", s.GoName)
		return
	case closed:
		return
	}
	state[s] = open
	for _, f := range s.Fields {
		t := f.Type
		for t.Elem != nil {
			t = t.Elem
		}
		if t.Struct != nil {
			r.recursion(t.Struct, state)
		}
	}
	state[s] = closed
}

func comment(g *ast.CommentGroup) string { return strings.TrimSpace(g.Text()) }
