package main

import (
	"fmt"
	"strings"
	"text/template"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// inC are the template functions of the C SDK. Its codec walks tables, so
// that a message costs a few bytes of data and no code.
func inC() template.FuncMap {
	return template.FuncMap{"cType": cType, "cField": cField, "cRow": cRow, "cValue": cValue, "upper": strings.ToUpper, "wire": model.WireName}
}

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
	switch t.Kind {
	case model.String:
		return "sc_text"
	case model.Enum:
		return "sc_" + model.WireName(t.Enum.GoName)
	case model.Bool:
		return "bool"
	case model.Int:
		return "int64_t"
	case model.Float:
		return "double"
	case model.Struct:
		return "sc_" + t.Struct.WireName
	case model.Map:
		return "sc_pairs"
	case model.List:
		switch t.Elem.Kind {
		case model.String:
			return "sc_texts"
		case model.Int:
			return "sc_ints"
		default:
			return cTypeOf(t.Elem) + "_list"
		}
	}
	panic("gensdk: no C type for " + t.GoName)
}

// cRow writes the row of a field in the table of its message.
func cRow(s *model.StructType, f *model.Field) string {
	t := f.Type
	var flags []string
	add := func(there bool, flag string) {
		if there {
			flags = append(flags, "SC_"+flag)
		}
	}
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
		of = "&sc_" + model.WireName(t.Enum.GoName) + "_names"
	case t.Kind == model.Struct:
		of = "&sc_" + t.Struct.WireName + "_type"
	case f.HasDefault:
		of = fmt.Sprintf("%q", f.Default)
	}
	if len(flags) == 0 {
		flags = []string{"0"}
	}
	return fmt.Sprintf("{%q, %d, SC_KIND_%s, %s, offsetof(sc_%s, %s), %s, %s, %s, %d, %d}",
		f.WireName, len(f.WireName), kind, strings.Join(flags, " | "), s.WireName, cField(f), of, number(t.Min), number(t.Max), least, most)
}

func number(n *float64) string {
	if n == nil {
		return "0"
	}
	return fmt.Sprintf("%g", *n)
}
