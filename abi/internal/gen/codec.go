package main

import (
	"encoding/binary"
	"fmt"
	"go/format"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// codec adds package abi/codec: a file for each file of types, and what is the same for all of them.
func (files contents) codec(m *model.Model) error {
	add := func(template, name string, p codecPage) error {
		text, err := execute(template, p)
		if err == nil {
			text, err = format.Source(text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		files["codec/"+name] = text
		return nil
	}
	reached, err := m.Reach(read...)
	if err != nil {
		return err
	}
	p := codecPage{Structs: m.Structs, Enums: m.Enums, Sorted: slices.Clone(m.Structs), read: reached}
	slices.SortFunc(p.Sorted, func(a, b *model.StructType) int { return strings.Compare(a.WireName, b.WireName) })
	for template, name := range map[string]string{
		"enums.go.tmpl": "enums_gen.go", "layouts.go.tmpl": "layouts_gen.go", "registry.go.tmpl": "registry_gen.go", "messages.go.tmpl": "messages_gen_test.go",
	} {
		if err := add(template, name, p); err != nil {
			return err
		}
	}
	byFile := map[string][]*model.StructType{}
	for _, s := range m.Structs {
		byFile[s.File] = append(byFile[s.File], s)
	}
	for file, structs := range byFile {
		p.Structs, p.UsesMath = structs, slices.ContainsFunc(structs, usesMath)
		if err := add("types.go.tmpl", strings.TrimSuffix(file, ".go")+"_gen.go", p); err != nil {
			return err
		}
	}
	return nil
}

// codecPage is what a template of the codec sees.
type codecPage struct {
	UsesMath bool
	Structs  []*model.StructType
	Sorted   []*model.StructType // by wire name
	Enums    []*model.EnumType
	read     []*model.StructType // with their parts
}

func usesMath(s *model.StructType) bool {
	return slices.ContainsFunc(s.Fields, func(f *model.Field) bool { return strings.Contains(goRead(f), "math.") })
}

// goType writes a type as a package that imports abi does.
func goType(t *model.Type) string {
	switch t.Kind {
	case model.Struct, model.Enum:
		return "abi." + t.GoName
	case model.List:
		return "[]" + goType(t.Elem)
	case model.Map:
		return "map[string]" + goType(t.Elem)
	default:
		return t.GoName
	}
}

// goPresent writes the condition under which an optional field is written.
func goPresent(f *model.Field) string {
	switch {
	case f.Pointer:
		return "v." + f.GoName + " != nil"
	case f.Type.Kind == model.List || f.Type.Kind == model.Map:
		return "len(v." + f.GoName + ") > 0"
	}
	return "v." + f.GoName + ` != ""`
}

// goWrite writes the statements that encode a field with its key.
func goWrite(f *model.Field) string {
	value := "v." + f.GoName
	switch {
	case f.Type.Kind == model.Struct && !f.Pointer:
		value = "&" + value
	case f.Type.Kind != model.Struct && f.Pointer:
		value = "*" + value
	}
	return goWriteValue(f.Type, fmt.Sprintf("e.key(%q)", f.WireName), value)
}

// goWriteValue writes the call that encodes a value, to a struct by its address.
func goWriteValue(t *model.Type, e, value string) string {
	switch t.Kind {
	case model.Enum:
		return e + ".text(string(" + value + "))"
	case model.String:
		return e + ".text(" + value + ")"
	case model.Bool:
		return e + ".boolean(" + value + ")"
	case model.Int:
		if t.GoName != "int64" {
			value = "int64(" + value + ")"
		}
		return e + ".integer(" + value + ")"
	case model.Float:
		return e + ".float(" + value + ")"
	case model.Struct:
		return fmt.Sprintf("write%s(%s, %s)", t.GoName, e, value)
	case model.Map:
		write := "write" + t.Elem.GoName
		if t.Elem.Kind != model.Struct {
			write = fmt.Sprintf("func(e *encoder, v *%s) { %s }", goType(t.Elem), goWriteValue(t.Elem, "e", "*v"))
		}
		return fmt.Sprintf("writeMap(%s, %s, %s)", e, value, write)
	default:
		switch t.Elem.Kind { //nolint:exhaustive // the rest are texts
		case model.Struct:
			return fmt.Sprintf("writeList(%s, %s, write%s)", e, value, t.Elem.GoName)
		case model.Int:
			return fmt.Sprintf("writeIntegers(%s, %s)", e, value)
		}
		return fmt.Sprintf("writeTexts(%s, %s)", e, value)
	}
}

// goRead writes the statements that decode a field.
func goRead(f *model.Field) string {
	target := "v." + f.GoName
	switch {
	case f.Type.Kind == model.Struct && f.Pointer:
		return fmt.Sprintf("%s = new(%s)\nread%s(d, %s)", target, goType(f.Type), f.Type.GoName, target)
	case f.Type.Kind == model.Struct:
		return fmt.Sprintf("read%s(d, &%s)", f.Type.GoName, target)
	case f.Pointer:
		return fmt.Sprintf("%s = new(%s)\n*%s = %s", target, goType(f.Type), target, goReadValue(f.Type, false))
	}
	return target + " = " + goReadValue(f.Type, f.Optional)
}

// goReadValue writes the call that decodes a value that is no struct. optional lets an enumeration be empty.
func goReadValue(t *model.Type, optional bool) string {
	switch t.Kind {
	case model.Enum:
		return fmt.Sprintf("abi.%s(d.enum(valuesOf%s, %t))", t.GoName, t.GoName, optional)
	case model.String:
		return fmt.Sprintf("d.text(%t)", t.NonEmpty)
	case model.Bool:
		return "d.boolean()"
	case model.Int:
		least, most := goBounds(t)
		call := fmt.Sprintf("d.integer(%s, %s)", least, most)
		if t.GoName == "int" {
			call = "int(" + call + ")"
		}
		return call
	case model.Float:
		least, most := goBounds(t)
		return fmt.Sprintf("d.float(%s, %s)", least, most)
	default:
		function := map[model.Kind]string{model.List: "list", model.Map: "dict"}[t.Kind]
		read := "read" + t.Elem.GoName
		if t.Elem.Kind != model.Struct {
			read = fmt.Sprintf("func(d *decoder, v *%s) { *v = %s }", goType(t.Elem), goReadValue(t.Elem, false))
		}
		return fmt.Sprintf("%s(d, %s, %d, %s)", function, goCount(t), smallest(t.Elem), read)
	}
}

// goBounds writes the bounds of a number, those of its type where it has none of its own.
func goBounds(t *model.Type) (least, most string) {
	switch t.GoName {
	case "int":
		least, most = "math.MinInt", "math.MaxInt"
	case "int64":
		least, most = "math.MinInt64", "math.MaxInt64"
	default:
		least, most = "-math.MaxFloat64", "math.MaxFloat64"
	}
	return number(t.Min, least), number(t.Max, most)
}

func goCount(t *model.Type) string {
	var parts []string
	if t.NonEmpty {
		parts = append(parts, "nonempty: true")
	}
	least, most := t.Counts()
	if least > 0 {
		parts = append(parts, "least: "+strconv.Itoa(least))
	}
	if most > 0 {
		parts = append(parts, "most: "+strconv.Itoa(most))
	}
	return "count{" + strings.Join(parts, ", ") + "}"
}

// smallest is the least number of bytes that a valid value takes.
func smallest(t *model.Type) int {
	switch t.Kind {
	case model.Enum:
		n := math.MaxInt
		for _, v := range t.Enum.Values {
			n = min(n, 1+len(v.Value))
		}
		return n
	case model.Struct:
		return smallestStruct(t.Struct)
	default:
		return 1
	}
}

func smallestStruct(s *model.StructType) int {
	n := 1
	for _, f := range s.Fields {
		if f.Required() {
			n += 1 + len(f.WireName) + smallest(f.Type)
		}
	}
	return n
}

// messages are the types that travel or are kept by themselves: the codec exports functions for them. The others are parts of them.
var messages = strings.Fields(`
	ArtifactEntry AuditReport Case CompletionAnswer CompletionQuery ContestEntry ContestRequest ContestResponse CorrelateQuery CourtConfig
	CriterionOpinion CriterionResult EdgeRequest EdgeResponse Evidence ExperimentAnswer ExperimentQuery ExperimentResult JudgeRequest
	JudgeResponse JudicialOpinion LogLine Manifest NodeError NodeRequest NodeResponse OpinionEntry PrepareRequest PrepareResponse
	PriorCases Profile RecallQuery RemandFeedback Snapshot SourceAnswer SourceQuery Update`)

// laid says whether a struct is read by its layout where it stands in canonical form: maps and defaults are left to the decoder.
func laid(s *model.StructType) bool {
	return !slices.ContainsFunc(s.Fields, func(f *model.Field) bool { return slotKind(f) == "" })
}

// read are the messages that modules read often, which are those with layouts of theirs and of their parts.
var read = []string{"ContestRequest", "EdgeRequest", "NodeRequest", "PrepareRequest", "PriorCases", "SourceAnswer"}

// HasLayout says whether modules read a struct by its layout.
func (p codecPage) HasLayout(s *model.StructType) bool { return slices.Contains(p.read, s) && laid(s) }

// LayoutOf writes a pointer to the layout of a struct.
func (p codecPage) LayoutOf(s *model.StructType) string {
	if p.HasLayout(s) {
		return "&layoutOf" + s.GoName
	}
	return "nil"
}

// slotKind gives the kind of a field's slot, or nothing.
func slotKind(f *model.Field) string {
	t := f.Type
	switch {
	case f.HasDefault:
		return ""
	case f.Pointer && t.Kind != model.Struct:
		return map[model.Kind]string{model.String: "slotTextPointer", model.Float: "slotFloatPointer", model.Bool: "slotBoolPointer"}[t.Kind]
	case t.Kind == model.List && (t.Elem.GoName == "int64" || t.Elem.Kind == model.Struct && !laid(t.Elem.Struct)):
		return ""
	case t.Kind == model.List:
		return map[model.Kind]string{model.String: "slotTexts", model.Enum: "slotEnums", model.Int: "slotInts", model.Struct: "slotList"}[t.Elem.Kind]
	case t.Kind == model.Struct && !laid(t.Struct):
		return ""
	case t.Kind == model.Struct && f.Pointer:
		return "slotPointer"
	case t.GoName == "int64":
		return "slotInt64"
	}
	return map[model.Kind]string{model.String: "slotText", model.Enum: "slotEnum", model.Bool: "slotBool", model.Int: "slotInt", model.Float: "slotFloat", model.Struct: "slotStruct"}[t.Kind]
}

// goSlot writes the content of a slot's literal.
func goSlot(s *model.StructType, f *model.Field) string {
	parts := []string{keyWords(f.WireName), "kind: " + slotKind(f), fmt.Sprintf("offset: unsafe.Offsetof(abi.%s{}.%s)", s.GoName, f.GoName)}
	if f.Optional {
		parts = append(parts, "optional: true")
	}
	t := f.Type
	if t.Kind == model.List {
		parts = append(parts, "count: "+goCount(t))
		t = t.Elem
	}
	least, most := goBounds(t)
	switch {
	case t.Kind == model.String && t.NonEmpty:
		parts = append(parts, "nonempty: true")
	case t.Kind == model.Enum:
		parts = append(parts, "values: valuesOf"+t.GoName)
	case t.Kind == model.Int:
		parts = append(parts, "low: "+least, "high: "+most)
	case t.Kind == model.Float:
		parts = append(parts, "least: "+least, "most: "+most)
	case t.Kind == model.Struct:
		parts = append(parts, "layout: &layoutOf"+t.GoName)
	}
	return strings.Join(parts, ", ")
}

// keyWords writes a key with its header as words, the last of them shifted up.
func keyWords(name string) string {
	if len(name) > 31 {
		panic("gen: the key " + name + " is too long for a slot")
	}
	b := append([]byte{0xa0 | byte(len(name))}, name...)
	size, shift := len(b), (8-len(b)%8)%8*8
	var words []string
	for word := range slices.Chunk(b, 8) {
		var eight [8]byte
		copy(eight[8-len(word):], word)
		words = append(words, fmt.Sprintf("%#x", binary.LittleEndian.Uint64(eight[:])))
	}
	return fmt.Sprintf("key: [4]uint64{%s}, size: %d, shift: %d", strings.Join(words, ", "), size, shift)
}
