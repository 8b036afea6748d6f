package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

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
		{"wall clock of a call, instantiation included", abi.DefaultWallClockNanos, "nanoseconds", "DefaultWallClockNanos"},
		{"fuel of a call", abi.DefaultFuel, "units", "DefaultFuel"},
		{"fuel of loading: start section, `_initialize` and warm-up calls together", abi.DefaultStartFuel, "units", "DefaultStartFuel"},
		{"response of a call", abi.DefaultOutputBytes, "bytes", "DefaultOutputBytes"},
		{"request of a call", abi.DefaultInputBytes, "bytes", "DefaultInputBytes"},
		{"one document of a case; longer ones are cut head and tail, with a mark", abi.DefaultDocumentBytes, "bytes", "DefaultDocumentBytes"},
		{"all documents of a case together", abi.DefaultCaseDocumentBytes, "bytes", "DefaultCaseDocumentBytes"},
		{"module file", abi.DefaultModuleBytes, "bytes", "DefaultModuleBytes"},
		{"entries of all tables, declared or grown to", abi.DefaultTableEntries, "entries", "DefaultTableEntries"},
		{"compiling a module", abi.DefaultCompileNanos, "nanoseconds", "DefaultCompileNanos"},
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
	{"artifact.go", "What a node gives"},
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

func typesText(m *model.Model) string {
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
		b.WriteString("\nA type has no chapter: see chapters in abi/internal/genspec.\n")
	}
	return b.String()
}

func typeText(b *strings.Builder, s *model.StructType) {
	fmt.Fprintf(b, "\n#### %s\n\n%s\n\n", s.WireName, named(s.Doc, s.GoName, s.WireName))
	b.WriteString("| field | type | key | bounds | meaning |\n| --- | --- | --- | --- | --- |\n")
	for _, f := range s.Fields {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", f.WireName, typeOf(f.Type), presence(f), bounds(f.Type), named(f.Doc, f.GoName, f.WireName))
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
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	inner := t
	of := ""
	if t.Kind == model.List && (t.Elem.Min != nil || t.Elem.Max != nil) {
		inner, of = t.Elem, "each "
	}
	switch {
	case t.NonEmpty:
		return "not empty"
	case t.MinCount != nil && t.MaxCount != nil:
		return fmt.Sprintf("%d to %d elements", *t.MinCount, *t.MaxCount)
	case t.MinCount != nil:
		return fmt.Sprintf("at least %d elements", *t.MinCount)
	case t.MaxCount != nil:
		return fmt.Sprintf("at most %d elements", *t.MaxCount)
	case inner.Min != nil && inner.Max != nil:
		return of + number(*inner.Min) + " to " + number(*inner.Max)
	case inner.Min != nil:
		return of + "at least " + number(*inner.Min)
	case inner.Max != nil:
		return of + "at most " + number(*inner.Max)
	default:
		return ""
	}
}

func enumsTable(m *model.Model) string {
	var b strings.Builder
	b.WriteString("| enumeration | values | meaning |\n| --- | --- | --- |\n")
	for _, e := range m.Enums {
		values := make([]string, len(e.Values))
		for i, v := range e.Values {
			values[i] = "`" + v.Value + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", model.WireName(e.GoName), strings.Join(values, ", "), named(e.Doc, e.GoName, model.WireName(e.GoName)))
	}
	return b.String()
}

// here turns references to this page into references within it.
var here = strings.NewReplacer("the table in SPEC.md", "§4.1", "the destructive cycle in SPEC.md", "§4.10")

// named gives a doc comment that begins with the name on the wire instead of
// the one in Go.
func named(doc, goName, wireName string) string {
	text := here.Replace(oneLine(doc))
	if rest, ok := strings.CutPrefix(text, goName); ok && (rest == "" || !isLetter(rest[0])) {
		return "`" + wireName + "`" + rest
	}
	return text
}

func isLetter(c byte) bool { return (c|0x20 >= 'a' && c|0x20 <= 'z') || c == '_' }

// oneLine joins the lines of a comment for a cell of a table.
func oneLine(doc string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(doc), " "), "|", "\\|")
}
