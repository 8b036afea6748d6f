package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// sdks adds the messages of the guest SDKs, in Rust, C and TypeScript: what a module reads and writes, and nothing of the host's own
// state. The codecs that these descriptions drive are written by hand, one small one in each language, below sdk/.
func (files contents) sdks(m *model.Model) error {
	p, err := gather(m)
	if err != nil {
		return err
	}
	for name, template := range map[string]string{
		"c/shadowcourt_types.h":               "types.h.tmpl",
		"c/shadowcourt_types.c":               "types.c.tmpl",
		"typescript/assembly/messages.ts":     "messages.ts.tmpl",
		"typescript/tests/assembly/byName.ts": "byName.ts.tmpl",
		"rust/src/messages.rs":                "messages.rs.tmpl",
		"rust/tests/guest/src/by_name.rs":     "by_name.rs.tmpl",
		"c/tests/by_name.h":                   "by_name.h.tmpl",
	} {
		if files["../sdk/"+name], err = execute(template, p); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// sdkPage is what a template of an SDK sees.
type sdkPage struct {
	Version string
	// Structs stand after those that they hold.
	Structs []*model.StructType
	Enums   []*model.EnumType
	// Listed are the structs of which some message holds a list.
	Listed map[*model.StructType]bool
}

// gather finds what can be reached from the messages that cross the boundary of a module.
func gather(m *model.Model) (*sdkPage, error) {
	structs, err := m.Reach(
		"node_request", "node_response", "contest_request", "contest_response", "edge_request", "edge_response",
		"judge_request", "judge_response", "prepare_request", "prepare_response", "manifest",
		"recall_query", "correlate_query", "prior_cases", "source_query", "source_answer", "log_line")
	if err != nil {
		return nil, err
	}
	p := &sdkPage{Version: abi.Version, Structs: structs, Listed: map[*model.StructType]bool{}}
	used := map[*model.EnumType]bool{}
	for _, s := range structs {
		for _, f := range s.Fields {
			t := f.Type
			if t.Kind == model.Map && t.Elem.Kind != model.String {
				return nil, fmt.Errorf("%s.%s: the SDKs know maps of strings alone", s.WireName, f.WireName)
			}
			if t.Kind == model.List {
				t = t.Elem
				if t.Kind == model.List || t.Kind == model.Map {
					return nil, fmt.Errorf("%s.%s: the SDKs know no lists of lists or maps", s.WireName, f.WireName)
				}
				p.Listed[t.Struct] = true
			}
			used[t.Enum] = true
		}
	}
	for _, e := range m.Enums {
		if used[e] {
			p.Enums = append(p.Enums, e)
		}
	}
	return p, nil
}

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
	least, most := t.Counts()
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
