package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// Enumerations are strings in AssemblyScript, with constants.

func tsField(f *model.Field) string {
	if f.WireName == "case" {
		return "case_"
	}
	name := camel(f.WireName)
	return strings.ToLower(name[:1]) + name[1:]
}

// tsHas is the member that says whether an optional number or flag is there, "" for other fields.
func tsHas(f *model.Field) string {
	if f.Pointer && (f.Type.Kind == model.Float || f.Type.Kind == model.Bool || f.Type.Kind == model.Int) {
		return "has" + camel(f.WireName)
	}
	return ""
}

// tsMember declares a field.
func tsMember(f *model.Field) string {
	name, t, has := tsField(f), f.Type, tsHas(f)
	switch {
	case has != "":
		return fmt.Sprintf("%s: bool = false;\n  %s: %s", has, name, tsZero(t))
	case f.Pointer:
		return name + ": " + tsTypeOf(t) + " | null = null"
	case f.HasDefault:
		return name + ": string = " + strconv.Quote(f.Default)
	}
	return name + ": " + tsZero(t)
}

// tsZero is a type with its empty value.
func tsZero(t *model.Type) string {
	name := tsTypeOf(t)
	zero, ok := map[model.Kind]string{model.String: `""`, model.Enum: `""`, model.Bool: "false", model.Int: "0", model.Float: "0", model.List: "[]"}[t.Kind]
	if !ok {
		zero = "new " + name + "()"
	}
	return name + " = " + zero
}

func tsTypeOf(t *model.Type) string {
	switch t.Kind {
	case model.List:
		return tsTypeOf(t.Elem) + "[]"
	case model.Struct:
		return t.GoName
	default:
		return map[model.Kind]string{
			model.String: "string", model.Enum: "string", model.Bool: "bool", model.Int: "i64", model.Float: "f64", model.Map: "Map<string, string>",
		}[t.Kind]
	}
}

func tsPresent(f *model.Field) string {
	name, has := "this."+tsField(f), tsHas(f)
	switch {
	case has != "":
		return "this." + has
	case f.Pointer:
		return name + " !== null"
	case f.Type.Kind == model.Map:
		return name + ".size > 0"
	}
	return name + ".length > 0"
}

// tsRead writes the statement that reads a field.
func tsRead(f *model.Field) string {
	set := ""
	if has := tsHas(f); has != "" {
		set = "this." + has + " = true; "
	}
	return set + "this." + tsField(f) + " = " + tsReadValue(f.Type, f.Optional)
}

// tsReadValue writes the call that reads a value. optional lets an enumeration be empty.
func tsReadValue(t *model.Type, optional bool) string {
	switch t.Kind {
	case model.String:
		return fmt.Sprintf("r.text(%t)", t.NonEmpty)
	case model.Enum:
		return fmt.Sprintf("r.name(%s.VALUES, %t)", t.GoName, optional)
	case model.Bool:
		return "r.boolean()"
	case model.Int:
		return "r.integer(" + tsBounds(t) + ")"
	case model.Float:
		return "r.float(" + tsBounds(t) + ")"
	case model.Map:
		return "r.pairs(" + tsCount(t) + ")"
	case model.Struct:
		return "r.message<" + t.GoName + ">()"
	default:
		return tsReadList(t)
	}
}

func tsReadList(t *model.Type) string {
	switch t.Elem.Kind {
	case model.Struct:
		return fmt.Sprintf("r.messages<%s>(%s)", t.Elem.GoName, tsCount(t))
	case model.Enum:
		return fmt.Sprintf("r.names(%s.VALUES, %s)", t.Elem.GoName, tsCount(t))
	case model.Int:
		return fmt.Sprintf("r.integers(%s, %s)", tsBounds(t.Elem), tsCount(t))
	default:
		return fmt.Sprintf("r.texts(%s)", tsCount(t))
	}
}

func tsBounds(t *model.Type) string {
	if t.Kind == model.Float {
		return number(t.Min, "-f64.MAX_VALUE") + ", " + number(t.Max, "f64.MAX_VALUE")
	}
	return number(t.Min, "i64.MIN_VALUE") + ", " + number(t.Max, "i64.MAX_VALUE")
}

// tsCount writes the least and the most of a count; -1 stands for not empty.
func tsCount(t *model.Type) string {
	least, n := t.Counts()
	most := "u32.MAX_VALUE"
	if t.NonEmpty { // and has no least count then
		least = -1
	}
	if n > 0 {
		most = strconv.Itoa(n)
	}
	return fmt.Sprintf("%d, %s", least, most)
}

// tsWrite writes the statements that write a field.
func tsWrite(f *model.Field) string {
	name := "this." + tsField(f)
	if f.Pointer && tsHas(f) == "" {
		name += "!"
	}
	put := fmt.Sprintf("w.text(%q); %s;", f.WireName, tsPut(f.Type, name))
	if f.Optional {
		return "if (" + tsPresent(f) + ") { " + put + " }"
	}
	return put
}

func tsPut(t *model.Type, value string) string {
	switch t.Kind {
	case model.Struct:
		return value + ".write(w)"
	case model.List:
		return fmt.Sprintf("w.list(%s.length); for (let i = 0; i < %s.length; i++) %s", value, value, tsPut(t.Elem, value+"[i]"))
	default:
		method := map[model.Kind]string{
			model.String: "text", model.Enum: "text", model.Bool: "boolean", model.Int: "integer", model.Float: "float", model.Map: "pairs",
		}[t.Kind]
		return "w." + method + "(" + value + ")"
	}
}
