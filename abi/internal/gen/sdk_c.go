package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// The C SDK's codec walks tables, so that a message costs a few bytes of data and no code.

// cField is a field's name in C.
func cField(f *model.Field) string {
	switch f.WireName {
	case "case", "default":
		return f.WireName + "_"
	}
	return f.WireName
}

func cValue(e *model.EnumType, value string) string {
	return strings.ToUpper("SC_" + model.WireName(e.GoName) + "_" + value)
}

// cType writes the type of a field's member.
func cType(f *model.Field) string {
	name := cTypeOf(f.Type)
	if f.Pointer {
		return name + " *"
	}
	return name + " "
}

func cTypeOf(t *model.Type) string {
	switch {
	case t.Kind == model.Enum || t.Kind == model.Struct:
		return "sc_" + model.WireName(t.GoName)
	case t.Kind == model.List && t.Elem.Kind == model.String:
		return "sc_texts"
	case t.Kind == model.List && t.Elem.Kind == model.Int:
		return "sc_ints"
	case t.Kind == model.List:
		return cTypeOf(t.Elem) + "_list"
	}
	return map[model.Kind]string{model.String: "sc_text", model.Bool: "bool", model.Int: "int64_t", model.Float: "double", model.Map: "sc_pairs"}[t.Kind]
}

// cRow writes the row of a field in the table of its message.
func cRow(s *model.StructType, f *model.Field) string {
	var flags []string
	add := func(there bool, flag string) {
		if there {
			flags = append(flags, "SC_"+flag)
		}
	}
	t := f.Type
	add(f.Required(), "REQUIRED")
	add(f.Optional, "OPTIONAL")
	add(f.Pointer, "POINTER")
	add(t.Kind == model.List, "LIST")
	add(t.NonEmpty, "NONEMPTY")
	least, most := 0, 0
	if t.MinCount != nil {
		least = *t.MinCount
	}
	if t.MaxCount != nil {
		most = *t.MaxCount
	}
	if t.Kind == model.List {
		t = t.Elem
	}
	add(t.Min != nil, "LEAST")
	add(t.Max != nil, "MOST")
	kind := map[model.Kind]string{
		model.String: "TEXT", model.Enum: "ENUM", model.Bool: "BOOL", model.Int: "INT", model.Float: "FLOAT", model.Struct: "STRUCT", model.Map: "PAIRS",
	}[t.Kind]
	of := "0"
	switch {
	case t.Kind == model.Enum:
		of = "&" + cTypeOf(t) + "_names"
	case t.Kind == model.Struct:
		of = "&" + cTypeOf(t) + "_type"
	case f.HasDefault:
		of = fmt.Sprintf("%q", f.Default)
	}
	return fmt.Sprintf("{%q, %d, SC_KIND_%s, %s, offsetof(sc_%s, %s), %s, %s, %s, %d, %d}", f.WireName, len(f.WireName), kind,
		cmp.Or(strings.Join(flags, " | "), "0"), s.WireName, cField(f), of, number(t.Min, "0"), number(t.Max, "0"), least, most)
}
