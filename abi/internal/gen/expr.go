package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

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

func hasOptional(s *model.StructType) bool {
	for _, f := range s.Fields {
		if f.Optional {
			return true
		}
	}
	return false
}

// always counts the fields that are always written.
func always(s *model.StructType) int {
	n := 0
	for _, f := range s.Fields {
		if !f.Optional {
			n++
		}
	}
	return n
}

// required writes the bits of the fields that must be there.
func required(s *model.StructType) string {
	var bits uint64
	for i, f := range s.Fields {
		if f.Required() {
			bits |= 1 << i
		}
	}
	return fmt.Sprintf("0b%b", bits)
}

// present writes the condition under which an optional field is written.
func present(f *model.Field) string {
	switch {
	case f.Pointer:
		return "v." + f.GoName + " != nil"
	case f.Type.Kind == model.List || f.Type.Kind == model.Map:
		return "len(v." + f.GoName + ") > 0"
	}
	return "v." + f.GoName + ` != ""`
}

// writeField writes the statements that encode a field.
func writeField(f *model.Field) string {
	value := "v." + f.GoName
	if f.Pointer && f.Type.Kind == model.Struct {
		return "write" + f.Type.GoName + "(e, " + value + ")"
	}
	if f.Pointer {
		value = "*" + value
	}
	return writeValue(f.Type, value, 0)
}

func writeValue(t *model.Type, value string, depth int) string {
	switch t.Kind {
	case model.Struct:
		return "write" + t.GoName + "(e, &" + value + ")"
	case model.Enum:
		return "e.text(string(" + value + "))"
	case model.String:
		return "e.text(" + value + ")"
	case model.Bool:
		return "e.boolean(" + value + ")"
	case model.Int:
		if t.GoName == "int64" {
			return "e.integer(" + value + ")"
		}
		return "e.integer(int64(" + value + "))"
	case model.Float:
		return "e.float(" + value + ")"
	case model.List:
		i := "ijkl"[depth : depth+1]
		return fmt.Sprintf("e.listLen(len(%s))\nfor %s := range %s {\n%s\n}", value, i, value, writeValue(t.Elem, value+"["+i+"]", depth+1))
	case model.Map:
		key, elem := "key"+suffix(depth), "value"+suffix(depth)
		return fmt.Sprintf("e.mapLen(len(%s))\nfor _, %s := range sortedKeys(%s) {\n%s := %s[%s]\ne.text(%s)\n%s\n}",
			value, key, value, elem, value, key, key, writeValue(t.Elem, elem, depth+1))
	}
	panic("gen: no writer for " + t.GoName)
}

func suffix(depth int) string {
	if depth == 0 {
		return ""
	}
	return strconv.Itoa(depth + 1)
}

// readField writes the statements that decode a field.
func readField(f *model.Field) string {
	target := "v." + f.GoName
	switch {
	case f.Type.Kind == model.Struct && f.Pointer:
		return fmt.Sprintf("%s = new(%s)\nread%s(d, %s)", target, goType(f.Type), f.Type.GoName, target)
	case f.Type.Kind == model.Struct:
		return fmt.Sprintf("read%s(d, &%s)", f.Type.GoName, target)
	case f.Pointer:
		return fmt.Sprintf("%s = new(%s)\n*%s = %s", target, goType(f.Type), target, readExpr(f.Type, false))
	}
	return target + " = " + readExpr(f.Type, f.Optional)
}

// readExpr writes the call that decodes a value that is no struct. optional
// lets an enumeration be empty.
func readExpr(t *model.Type, optional bool) string {
	switch t.Kind {
	case model.Enum:
		return fmt.Sprintf("abi.%s(d.enum(valuesOf%s, %t))", t.GoName, t.GoName, optional)
	case model.String:
		return fmt.Sprintf("d.text(%t)", t.NonEmpty)
	case model.Bool:
		return "d.boolean()"
	case model.Int:
		least, most := "math.MinInt64", "math.MaxInt64"
		if t.GoName == "int" {
			least, most = "math.MinInt", "math.MaxInt"
		}
		call := fmt.Sprintf("d.integer(%s, %s)", number(t.Min, least), number(t.Max, most))
		if t.GoName == "int" {
			call = "int(" + call + ")"
		}
		return call
	case model.Float:
		return fmt.Sprintf("d.float(%s, %s)", number(t.Min, "-math.MaxFloat64"), number(t.Max, "math.MaxFloat64"))
	case model.List:
		return fmt.Sprintf("list(d, %s, %d, %s)", countOf(t), smallest(t.Elem), reader(t.Elem))
	case model.Map:
		return fmt.Sprintf("dict(d, %s, %d, %s)", countOf(t), smallest(t.Elem), reader(t.Elem))
	default:
		panic("gen: no reader for " + t.GoName)
	}
}

// reader writes a function that decodes an element in place.
func reader(t *model.Type) string {
	if t.Kind == model.Struct {
		return "read" + t.GoName
	}
	return fmt.Sprintf("func(d *decoder, v *%s) { *v = %s }", goType(t), readExpr(t, false))
}

func number(n *float64, none string) string {
	if n == nil {
		return none
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

func countOf(t *model.Type) string {
	var parts []string
	if t.NonEmpty {
		parts = append(parts, "nonempty: true")
	}
	if t.MinCount != nil {
		parts = append(parts, "least: "+strconv.Itoa(*t.MinCount))
	}
	if t.MaxCount != nil {
		parts = append(parts, "most: "+strconv.Itoa(*t.MaxCount))
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
		n := 1
		for _, f := range t.Struct.Fields {
			if f.Required() {
				n += 1 + len(f.WireName) + smallest(f.Type)
			}
		}
		return n
	default:
		return 1
	}
}
