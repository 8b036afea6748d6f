package model

import (
	"go/ast"
	"go/types"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

func abiTag(f *ast.Field) (string, bool) {
	if f.Tag == nil {
		return "", false
	}
	s, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return "", false
	}
	return reflect.StructTag(s).Lookup("abi")
}

// fill reads the fields of a struct.
func (r *reader) fill(s *StructType) {
	spec := r.nodes[s.GoName]
	seen := map[string]bool{}
	for _, node := range spec.Type.(*ast.StructType).Fields.List { //nolint:forcetypeassert // only structs are filled
		tag, ok := abiTag(node)
		switch {
		case len(node.Names) != 1:
			r.fault(node.Pos(), "%s: embedded fields and several names in one line are not for messages", s.GoName)
			continue
		case !ok:
			r.fault(node.Pos(), "%s.%s has no abi tag", s.GoName, node.Names[0].Name)
			continue
		}
		f := r.field(s, node, tag)
		if f == nil {
			continue
		}
		if seen[f.WireName] {
			r.fault(node.Pos(), "%s: two fields are called %q", s.GoName, f.WireName)
		}
		seen[f.WireName] = true
		s.Fields = append(s.Fields, f)
	}
	if len(s.Fields) > 64 {
		r.fault(spec.Pos(), "%s has more than 64 fields: a decoder notes those seen in 64 bits", s.GoName)
	}
}

func (r *reader) field(s *StructType, node *ast.Field, tag string) *Field {
	name, options, _ := strings.Cut(tag, ",")
	f := &Field{GoName: node.Names[0].Name, WireName: name, Doc: comment(node.Doc)}
	fault := func(format string, args ...any) {
		r.fault(node.Pos(), "%s.%s"+format, append([]any{s.GoName, f.GoName}, args...)...)
	}
	if !wireName.MatchString(name) {
		fault(": %q is no snake_case name", name)
	}
	if !node.Names[0].IsExported() {
		fault(" is not exported")
	}
	t := node.Type
	if p, ok := t.(*ast.StarExpr); ok {
		f.Pointer, f.Optional = true, true
		t = p.X
	}
	f.Type = r.typeOf(t)
	if f.Type == nil {
		fault(": a message cannot hold a %s", types.ExprString(node.Type))
		return nil
	}
	if f.Pointer && (f.Type.Kind == List || f.Type.Kind == Map) {
		fault(": no pointers to lists and maps")
	}
	if strings.Contains(tag, ",") {
		for option := range strings.SplitSeq(options, ",") {
			if why := f.option(option); why != "" {
				fault(": option %q: %s", option, why)
			}
		}
	}
	if why := f.consistent(); why != "" {
		fault(": %s", why)
	}
	return f
}

var wireName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// basic are the types of Go that a message may hold.
var basic = map[string]Kind{"string": String, "bool": Bool, "int": Int, "int64": Int, "float64": Float}

// typeOf gives the model of a type, nil for one that no message may hold.
func (r *reader) typeOf(expr ast.Expr) *Type {
	switch t := expr.(type) {
	case *ast.Ident:
		if kind, ok := basic[t.Name]; ok {
			return &Type{Kind: kind, GoName: t.Name}
		}
		if s := r.structs[t.Name]; s != nil {
			return &Type{Kind: Struct, GoName: t.Name, Struct: s}
		}
		if e := r.enums[t.Name]; e != nil {
			r.used[e] = true
			return &Type{Kind: Enum, GoName: t.Name, Enum: e}
		}
	case *ast.ArrayType:
		if elem := r.typeOf(t.Elt); elem != nil && t.Len == nil {
			return &Type{Kind: List, GoName: "[]" + elem.GoName, Elem: elem}
		}
	case *ast.MapType:
		if elem := r.typeOf(t.Value); elem != nil && types.ExprString(t.Key) == "string" {
			return &Type{Kind: Map, GoName: "map[string]" + elem.GoName, Elem: elem}
		}
	}
	return nil
}

// option applies one tag option and says what is wrong with it, if anything.
func (f *Field) option(option string) string {
	key, value, has := strings.Cut(option, "=")
	if has && (key == "opt" || key == "nonempty") {
		return "takes no value"
	}
	switch key {
	case "opt":
		if f.Type.Kind != String && f.Type.Kind != Enum && f.Type.Kind != List && f.Type.Kind != Map {
			return "is for strings, lists and maps; a pointer is always optional"
		}
		f.Optional = true
	case "nonempty":
		if f.Type.Kind != String && f.Type.Kind != List && f.Type.Kind != Map {
			return "is for strings, lists and maps"
		}
		f.Type.NonEmpty = true
	case "default":
		if !has || value == "" || f.Type.Kind != String || f.Pointer {
			return "is for strings, and is not empty"
		}
		f.Default, f.HasDefault = value, true
	case "min", "max":
		return f.bound(key, value)
	case "most":
		return f.most(value)
	default:
		return "is not known"
	}
	return ""
}

// bound applies min or max: to a number, to the numbers of a list, or else to the length of a list or map.
func (f *Field) bound(key, value string) string {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return "is no number"
	}
	t := f.Type
	if t.Kind == List && (t.Elem.Kind == Int || t.Elem.Kind == Float) {
		t = t.Elem
	}
	whole := n == float64(int(n))
	switch t.Kind {
	case Int, Float:
		if t.Kind == Int && !whole {
			return "is no whole number"
		}
		if key == "min" {
			t.Min = &n
		} else {
			t.Max = &n
		}
	case List, Map:
		if !whole || n < 0 {
			return "is no length"
		}
		count := int(n)
		if key == "min" {
			t.MinCount = &count
		} else {
			t.MaxCount = &count
		}
	default:
		return "is for numbers, lists and maps"
	}
	return ""
}

// most bounds the length of a list of numbers, of which min and max bound the elements.
func (f *Field) most(value string) string {
	if t := f.Type; t.Kind != List || t.Elem.Kind != Int && t.Elem.Kind != Float {
		return "is for lists of numbers; others take max"
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return "is no length"
	}
	f.Type.MaxCount = &n
	return ""
}

// consistent says what is wrong between the options of a field.
func (f *Field) consistent() string {
	t := f.Type
	switch {
	case f.HasDefault && f.Optional:
		return "default excludes opt"
	case f.Optional && !f.Pointer && (t.NonEmpty || t.MinCount != nil):
		return "opt means absent when empty, so nonempty and min say nothing"
	case t.NonEmpty && t.MinCount != nil:
		return "nonempty and min say the same"
	case t.MinCount != nil && t.MaxCount != nil && *t.MinCount > *t.MaxCount, t.Min != nil && t.Max != nil && *t.Min > *t.Max:
		return "min is above max"
	}
	return ""
}
