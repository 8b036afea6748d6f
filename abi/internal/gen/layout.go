package main

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// laid says whether a struct is read by its layout where it stands in
// canonical form: maps and defaults are left to the decoder.
func laid(s *model.StructType) bool {
	for _, f := range s.Fields {
		if kindOf(f) == "" {
			return false
		}
	}
	return true
}

func layoutOf(s *model.StructType) string {
	if laid(s) {
		return "&layoutOf" + s.GoName
	}
	return "nil"
}

// kindOf gives the kind of a field's slot, or nothing.
func kindOf(f *model.Field) string {
	t := f.Type
	switch {
	case f.HasDefault:
		return ""
	case f.Pointer && t.Kind != model.Struct:
		return map[model.Kind]string{model.String: "slotTextPointer", model.Float: "slotFloatPointer", model.Bool: "slotBoolPointer"}[t.Kind]
	case t.Kind == model.List && t.Elem.Kind == model.Int && t.Elem.GoName != "int":
		return ""
	case t.Kind == model.List && t.Elem.Kind == model.Struct && !laid(t.Elem.Struct):
		return ""
	case t.Kind == model.List:
		return map[model.Kind]string{model.String: "slotTexts", model.Enum: "slotEnums", model.Int: "slotInts", model.Struct: "slotList"}[t.Elem.Kind]
	case t.Kind == model.Struct && !laid(t.Struct):
		return ""
	case t.Kind == model.Struct && f.Pointer:
		return "slotPointer"
	case t.Kind == model.Int && t.GoName == "int64":
		return "slotInt64"
	}
	return map[model.Kind]string{model.String: "slotText", model.Enum: "slotEnum", model.Bool: "slotBool", model.Int: "slotInt", model.Float: "slotFloat", model.Struct: "slotStruct"}[t.Kind]
}

// writeSlot writes the content of a slot's literal.
func writeSlot(s *model.StructType, f *model.Field) string {
	key, size, shift := keyWords(f.WireName)
	parts := []string{
		"key: " + key, fmt.Sprintf("size: %d", size), fmt.Sprintf("shift: %d", shift), "kind: " + kindOf(f),
		fmt.Sprintf("offset: unsafe.Offsetof(abi.%s{}.%s)", s.GoName, f.GoName),
	}
	if f.Optional {
		parts = append(parts, "optional: true")
	}
	t := f.Type
	if t.Kind == model.List {
		parts = append(parts, "count: "+countOf(t))
		t = t.Elem
	}
	switch t.Kind {
	case model.String:
		if t.NonEmpty {
			parts = append(parts, "nonempty: true")
		}
	case model.Enum:
		parts = append(parts, "values: valuesOf"+t.GoName)
	case model.Int:
		least, most := "math.MinInt64", "math.MaxInt64"
		if t.GoName == "int" {
			least, most = "math.MinInt", "math.MaxInt"
		}
		parts = append(parts, "low: "+number(t.Min, least), "high: "+number(t.Max, most))
	case model.Float:
		parts = append(parts, "least: "+number(t.Min, "-math.MaxFloat64"), "most: "+number(t.Max, "math.MaxFloat64"))
	case model.Struct:
		parts = append(parts, "layout: &layoutOf"+t.GoName)
	case model.Bool, model.List, model.Map:
	}
	return strings.Join(parts, ", ")
}

// keyWords writes a key with its header as words, the last of them shifted up.
func keyWords(name string) (words string, size, shift int) {
	if len(name) > 31 {
		panic("gen: the key " + name + " is too long for a slot")
	}
	b := append([]byte{0xa0 | byte(len(name))}, name...)
	size = len(b)
	var list []string
	for len(b) > 8 {
		list = append(list, fmt.Sprintf("%#x", binary.LittleEndian.Uint64(b)))
		b = b[8:]
	}
	shift = 64 - 8*len(b)
	var last [8]byte
	copy(last[:], b)
	list = append(list, fmt.Sprintf("%#x", binary.LittleEndian.Uint64(last[:])<<shift))
	return "[4]uint64{" + strings.Join(list, ", ") + "}", size, shift
}

func smallestStruct(s *model.StructType) int {
	return smallest(&model.Type{Kind: model.Struct, Struct: s})
}
