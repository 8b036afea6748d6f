package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// tablesPage is the whole of TYPES.md. Its sections have the numbers that they
// have in SPEC.md, so that a citation such as §7.4 is the same in both.
func tablesPage(m *model.Model) (string, error) {
	types, err := typesText(m)
	return "<!-- " + generated + " -->\n\n" +
		"# Tables of the contract\n\n" +
		"The types, enumerations and limits of [SPEC.md](SPEC.md), generated from package `abi`. This page is part of the contract.\n" +
		"Sections have the same numbers on both pages.\n\n" +
		"[3. Canonical bytes](#3-canonical-bytes) · [5. Limits](#5-limits) · [7. Types](#7-types) · [8. Enumerations](#8-enumerations)\n\n" +
		"## 3. Canonical bytes\n\nSPEC.md §3.1 to §3.6 have the rules.\n\n" + encodingTable() +
		"\n## 5. Limits\n\nSPEC.md §5 says what each limit applies to.\n\n" + limitsTable() +
		"\n## 7. Types\n\nSPEC.md §7 explains the columns.\n" + types +
		"\n## 8. Enumerations\n\nStrings with exactly these values; letter case matters.\n\n" + enumsTable(m), err
}

func limitsTable() string {
	var b strings.Builder
	b.WriteString("| limit | default | constant of package `abi` |\n| --- | --- | --- |\n")
	for _, l := range []struct {
		what  string
		value int
		unit  string
		name  string
	}{
		{"memory of an instance: linear memory, and blocks and variables of the Extism binding", abi.DefaultMemoryBytes, "bytes", "DefaultMemoryBytes"},
		{"wall clock of a call, instantiation included", abi.DefaultWallClockNanos / 1_000_000_000, "seconds", "DefaultWallClockNanos"},
		{"fuel of a call", abi.DefaultFuel, "units", "DefaultFuel"},
		{"fuel of loading: start section, `_initialize` and warm-up calls together", abi.DefaultStartFuel, "units", "DefaultStartFuel"},
		{"response of a call", abi.DefaultOutputBytes, "bytes", "DefaultOutputBytes"},
		{"request of a call", abi.DefaultInputBytes, "bytes", "DefaultInputBytes"},
		{"one document of a case; longer ones are cut head and tail, with a mark", abi.DefaultDocumentBytes, "bytes", "DefaultDocumentBytes"},
		{"all documents of a case together", abi.DefaultCaseDocumentBytes, "bytes", "DefaultCaseDocumentBytes"},
		{"module file", abi.DefaultModuleBytes, "bytes", "DefaultModuleBytes"},
		{"entries of all tables, declared or grown to", abi.DefaultTableEntries, "entries", "DefaultTableEntries"},
		{"compiling a module", abi.DefaultCompileNanos / 1_000_000_000, "seconds", "DefaultCompileNanos"},
		{"work of compiling a module, estimated from its structure", abi.DefaultCompileSteps, "steps", "DefaultCompileSteps"},
		{"memory for compiling a module, estimated from its structure", abi.DefaultCompileBytes, "bytes", "DefaultCompileBytes"},
		{"nesting of maps and lists in a message, the message itself being 1", abi.MaxDepth, "levels", "MaxDepth"},
		{"elements of a list that follows the evidence of a case, in what a module sends", abi.MaxEvidence, "elements", "MaxEvidence"},
		{"problems of a message that are listed; the rest is counted", abi.MaxProblems, "problems", "MaxProblems"},
	} {
		fmt.Fprintf(&b, "| %s | %s %s | `%s` |\n", l.what, grouped(l.value), l.unit, l.name)
	}
	return b.String()
}

// grouped writes a number with commas between thousands.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// chapters are the files of package abi with the titles of their types.
var chapters = []struct{ file, title string }{
	{"calls.go", "Requests and responses"},
	{"artifact.go", "Answers of a node"},
	{"case.go", "The case"},
	{"court.go", "Artifacts of the court"},
	{"profile.go", "The profile"},
	{"capability.go", "Capabilities"},
	{"manifest.go", "The manifest"},
	{"audit.go", "The audit"},
	{"light.go", "Artifacts of the Light path"},
	{"state.go", "The state (the host's own; no module sees it)"},
	{"completion.go", "Language models"},
}

func typesText(m *model.Model) (string, error) {
	var b strings.Builder
	written := 0
	for i, c := range chapters {
		fmt.Fprintf(&b, "\n### §7.%d %s\n", i+1, c.title)
		for _, s := range m.Structs {
			if s.File == c.file {
				typeText(&b, s)
				written++
			}
		}
	}
	if written != len(m.Structs) {
		return "", errors.New("a type has no chapter in TYPES.md: see chapters")
	}
	if text := b.String(); !strings.Contains(text, "SPEC.md") {
		return text, nil
	}
	return "", errors.New("a doc comment refers to SPEC.md: say in here to which section")
}

func typeText(b *strings.Builder, s *model.StructType) {
	fmt.Fprintf(b, "\n#### %s\n\n%s\n\n", s.WireName, cell(s.Doc, s.GoName, s.WireName))
	b.WriteString("| field | type | key | bounds | meaning |\n| --- | --- | --- | --- | --- |\n")
	for _, f := range s.Fields {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", f.WireName, typeOf(f.Type), presence(f), bounds(f.Type), cell(f.Doc, f.GoName, f.WireName))
	}
	if s.HasRules {
		b.WriteString("\nRules: §9.1.\n")
	}
}

func typeOf(t *model.Type) string {
	switch t.Kind {
	case model.Struct:
		return "[" + t.Struct.WireName + "](#" + t.Struct.WireName + ")"
	case model.Enum:
		return "enum " + model.WireName(t.Enum.GoName)
	case model.List:
		return "list of " + typeOf(t.Elem)
	case model.Map:
		return "map of " + typeOf(t.Elem)
	default:
		return t.Kind.String()
	}
}

func presence(f *model.Field) string {
	switch {
	case f.HasDefault:
		return "default `" + f.Default + "`"
	case f.Pointer:
		return "optional"
	case f.Optional:
		return "optional, absent if empty"
	default:
		return "required"
	}
}

func bounds(t *model.Type) string {
	of := ""
	switch {
	case t.NonEmpty:
		return "not empty"
	case t.MinCount != nil && t.MaxCount != nil:
		return fmt.Sprintf("%d to %d elements", *t.MinCount, *t.MaxCount)
	case t.MinCount != nil:
		return fmt.Sprintf("at least %d elements", *t.MinCount)
	case t.MaxCount != nil:
		return fmt.Sprintf("at most %d elements", *t.MaxCount)
	case t.Kind == model.List:
		t, of = t.Elem, "each "
	}
	switch {
	case t.Min != nil && t.Max != nil:
		return fmt.Sprintf("%s%g to %g", of, *t.Min, *t.Max)
	case t.Min != nil:
		return fmt.Sprintf("%sat least %g", of, *t.Min)
	case t.Max != nil:
		return fmt.Sprintf("%sat most %g", of, *t.Max)
	}
	return ""
}

func enumsTable(m *model.Model) string {
	var b strings.Builder
	b.WriteString("| enumeration | values | meaning |\n| --- | --- | --- |\n")
	for _, e := range m.Enums {
		values := make([]string, len(e.Values))
		for i, v := range e.Values {
			values[i] = "`" + v.Value + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", model.WireName(e.GoName), strings.Join(values, ", "), cell(e.Doc, e.GoName, model.WireName(e.GoName)))
	}
	return b.String()
}

// here turns references to SPEC.md into its sections.
var here = strings.NewReplacer("the table in SPEC.md", "§4.1", "the destructive cycle in SPEC.md", "§4.10")

// cell is a doc comment for a cell of a table: one line, which begins with the name on the wire instead of the one in Go.
func cell(doc, goName, wireName string) string {
	text := strings.Join(strings.Fields(renamed(doc, goName, "`"+wireName+"`")), " ")
	return strings.ReplaceAll(here.Replace(text), "|", "\\|")
}
