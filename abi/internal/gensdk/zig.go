package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// inZig are the template functions of the Zig SDK. Its codec is comptime: it
// reads the types themselves, and of each field what a type can't say.
func inZig() template.FuncMap {
	return template.FuncMap{"zigType": zigType, "zigRules": zigRules, "zigDefault": zigDefault, "zigName": zigName}
}

func zigName(name string) string {
	switch name {
	case "test", "error":
		return "@" + strconv.Quote(name)
	}
	return name
}

func zigType(f *model.Field) string {
	name := zigTypeOf(f.Type)
	if f.Pointer || (f.Optional && f.Type.Kind == model.Enum) {
		return "?" + name
	}
	return name
}

func zigTypeOf(t *model.Type) string {
	switch t.Kind {
	case model.String:
		return "[]const u8"
	case model.Bool:
		return "bool"
	case model.Int:
		return "i64"
	case model.Float:
		return "f64"
	case model.List:
		return "[]const " + zigTypeOf(t.Elem)
	case model.Map:
		return "[]const Pair"
	case model.Enum:
		return t.Enum.GoName
	case model.Struct:
		return t.Struct.GoName
	}
	panic("gensdk: no Zig type for " + t.GoName)
}

// zigDefault is the value that a literal may leave out: that of an absent key, or nothing.
func zigDefault(f *model.Field) string {
	t := f.Type
	switch {
	case f.Pointer || (f.Optional && t.Kind == model.Enum):
		return " = null"
	case f.HasDefault:
		return " = " + strconv.Quote(f.Default)
	case t.Kind == model.String:
		return ` = ""`
	case t.Kind == model.List || t.Kind == model.Map:
		return " = &.{}"
	case t.Kind == model.Bool:
		return " = false"
	case t.Kind == model.Int || t.Kind == model.Float:
		return " = 0"
	case t.Kind == model.Enum:
		return " = ." + zigName(t.Enum.Values[0].Value)
	default:
		return " = .{}"
	}
}

// zigRules writes what the type of a field doesn't say; nothing where that is all.
func zigRules(f *model.Field) string {
	t := f.Type
	var rules []string
	flag := func(there bool, name string) {
		if there {
			rules = append(rules, "."+name+" = true")
		}
	}
	flag(f.Optional, "optional")
	flag(f.HasDefault, "has_default")
	flag(t.NonEmpty, "nonempty")
	if t.MinCount != nil {
		rules = append(rules, fmt.Sprintf(".min_count = %d", *t.MinCount))
	}
	if t.MaxCount != nil {
		rules = append(rules, fmt.Sprintf(".max_count = %d", *t.MaxCount))
	}
	if t.Kind == model.List {
		t = t.Elem
	}
	if t.Min != nil {
		rules = append(rules, fmt.Sprintf(".least = %g", *t.Min))
	}
	if t.Max != nil {
		rules = append(rules, fmt.Sprintf(".most = %g", *t.Max))
	}
	return strings.Join(rules, ", ")
}
