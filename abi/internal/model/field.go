package model

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
	"strings"
)

func tagged(t *ast.StructType) bool {
	for _, f := range t.Fields.List {
		if _, ok := abiTag(f); ok {
			return true
		}
	}
	return false
}

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

func constantString(c *types.Const) string { return constant.StringVal(c.Val()) }

// fill reads the fields of a struct.
func (r *reader) fill(s *StructType) {
	obj := r.pkg.Scope().Lookup(s.GoName)
	st := obj.Type().Underlying().(*types.Struct) //nolint:forcetypeassert // only structs are looked up
	index := 0
	seen := map[string]bool{}
	for _, node := range r.nodes[s.GoName].Fields.List {
		tag, ok := abiTag(node)
		switch {
		case len(node.Names) != 1:
			r.fault(node.Pos(), "%s: embedded fields and several names in one line are not for messages", s.GoName)
			index += max(1, len(node.Names))
			continue
		case !ok:
			r.fault(node.Pos(), "%s.%s has no abi tag", s.GoName, node.Names[0].Name)
			index++
			continue
		}
		v := st.Field(index)
		index++
		f := r.field(s, v, tag, node.Pos())
		if f == nil {
			continue
		}
		if seen[f.WireName] {
			r.fault(node.Pos(), "%s: two fields are called %q", s.GoName, f.WireName)
		}
		seen[f.WireName] = true
		f.Doc = comment(node.Doc)
		s.Fields = append(s.Fields, f)
	}
	if len(s.Fields) > 64 {
		r.fault(obj.Pos(), "%s has more than 64 fields: a decoder notes those seen in 64 bits", s.GoName)
	}
	s.HasRules = r.hasRules(obj)
}

// hasRules finds the method Rules(*Collector) and rejects one of another shape.
func (r *reader) hasRules(obj types.Object) bool {
	m, _, _ := types.LookupFieldOrMethod(types.NewPointer(obj.Type()), true, r.pkg, "Rules")
	fn, ok := m.(*types.Func)
	if !ok {
		return false
	}
	sig := fn.Signature()
	if sig.Params().Len() == 1 && sig.Results().Len() == 0 {
		if p, ok := sig.Params().At(0).Type().(*types.Pointer); ok {
			if n, ok := p.Elem().(*types.Named); ok && n.Obj().Pkg() == r.pkg && n.Obj().Name() == "Collector" {
				return true
			}
		}
	}
	r.fault(fn.Pos(), "%s.Rules must be Rules(*Collector)", obj.Name())
	return false
}

func (r *reader) field(s *StructType, v *types.Var, tag string, pos token.Pos) *Field {
	name, options, _ := strings.Cut(tag, ",")
	f := &Field{GoName: v.Name(), WireName: name}
	if !validName(name) {
		r.fault(pos, "%s.%s: %q is no snake_case name", s.GoName, v.Name(), name)
	}
	if !v.Exported() {
		r.fault(pos, "%s.%s is not exported", s.GoName, v.Name())
	}
	t := v.Type()
	if p, ok := t.(*types.Pointer); ok {
		f.Pointer, f.Optional = true, true
		t = p.Elem()
	}
	f.Type = r.typeOf(t)
	if f.Type == nil {
		r.fault(pos, "%s.%s: a message cannot hold a %s", s.GoName, v.Name(), v.Type())
		return nil
	}
	if f.Pointer && (f.Type.Kind == List || f.Type.Kind == Map) {
		r.fault(pos, "%s.%s: no pointers to lists and maps", s.GoName, v.Name())
	}
	for option := range strings.SplitSeq(options, ",") {
		if option == "" && options == "" {
			break
		}
		if why := f.option(option); why != "" {
			r.fault(pos, "%s.%s: option %q: %s", s.GoName, v.Name(), option, why)
		}
	}
	if why := f.consistent(); why != "" {
		r.fault(pos, "%s.%s: %s", s.GoName, v.Name(), why)
	}
	return f
}

func validName(name string) bool {
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// typeOf gives the model of a type, nil for one that no message may hold.
func (r *reader) typeOf(t types.Type) *Type {
	switch t := t.(type) {
	case *types.Basic:
		kind, ok := map[types.BasicKind]Kind{types.String: String, types.Bool: Bool, types.Int: Int, types.Int64: Int, types.Float64: Float}[t.Kind()]
		if !ok {
			return nil
		}
		return &Type{Kind: kind, GoName: t.Name()}
	case *types.Named:
		if t.Obj().Pkg() != r.pkg {
			return nil
		}
		name := t.Obj().Name()
		if s := r.structs[name]; s != nil {
			return &Type{Kind: Struct, GoName: name, Struct: s}
		}
		if e := r.enums[name]; e != nil {
			r.used[e] = true
			return &Type{Kind: Enum, GoName: name, Enum: e}
		}
		return nil
	case *types.Slice:
		if elem := r.typeOf(t.Elem()); elem != nil {
			return &Type{Kind: List, GoName: "[]" + elem.GoName, Elem: elem}
		}
	case *types.Map:
		key, ok := t.Key().(*types.Basic)
		if !ok || key.Kind() != types.String {
			return nil
		}
		if elem := r.typeOf(t.Elem()); elem != nil {
			return &Type{Kind: Map, GoName: "map[string]" + elem.GoName, Elem: elem}
		}
	}
	return nil
}

// option applies one tag option and says what is wrong with it, if anything.
func (f *Field) option(option string) string {
	key, value, has := strings.Cut(option, "=")
	switch key {
	case "opt":
		if has {
			return "takes no value"
		}
		if f.Type.Kind != String && f.Type.Kind != Enum && f.Type.Kind != List && f.Type.Kind != Map {
			return "is for strings, lists and maps; a pointer is always optional"
		}
		f.Optional = true
	case "nonempty":
		if has {
			return "takes no value"
		}
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

// bound applies min or max: to a number, to the numbers of a list, or else to
// the length of a list or map.
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
