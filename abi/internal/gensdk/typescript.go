package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// inTypeScript are the template functions of the AssemblyScript SDK.
// Enumerations are strings there, with constants.
func inTypeScript() template.FuncMap {
	return template.FuncMap{"tsField": tsField, "tsMember": tsMember, "tsPresent": tsPresent, "tsRead": tsRead, "tsWrite": tsWrite}
}

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
	name, t := tsField(f), f.Type
	if has := tsHas(f); has != "" {
		return fmt.Sprintf("%s: bool = false;\n  %s: %s", has, name, tsZero(t))
	}
	switch {
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
	switch t.Kind {
	case model.String, model.Enum:
		return name + ` = ""`
	case model.Bool:
		return name + " = false"
	case model.Int, model.Float:
		return name + " = 0"
	case model.List:
		return name + " = []"
	default:
		return name + " = new " + name + "()"
	}
}

func tsTypeOf(t *model.Type) string {
	switch t.Kind {
	case model.String, model.Enum:
		return "string"
	case model.Bool:
		return "bool"
	case model.Int:
		return "i64"
	case model.Float:
		return "f64"
	case model.List:
		return tsTypeOf(t.Elem) + "[]"
	case model.Map:
		return "Map<string, string>"
	case model.Struct:
		return t.Struct.GoName
	}
	panic("gensdk: no TypeScript type for " + t.GoName)
}

func tsPresent(f *model.Field) string {
	name := "this." + tsField(f)
	switch {
	case tsHas(f) != "":
		return "this." + tsHas(f)
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
	t := f.Type
	var read string
	switch t.Kind {
	case model.List:
		switch t.Elem.Kind {
		case model.Struct:
			read = fmt.Sprintf("r.messages<%s>(%s)", t.Elem.Struct.GoName, tsCount(t))
		case model.Enum:
			read = fmt.Sprintf("r.names(%s.VALUES, %s)", t.Elem.Enum.GoName, tsCount(t))
		case model.Int:
			read = fmt.Sprintf("r.integers(%s, %s)", tsBounds(t.Elem), tsCount(t))
		default:
			read = fmt.Sprintf("r.texts(%s)", tsCount(t))
		}
	case model.Enum:
		read = fmt.Sprintf("r.name(%s.VALUES, %t)", t.Enum.GoName, f.Optional)
	default:
		read = tsScalar(t)
	}
	return set + "this." + tsField(f) + " = " + read
}

func tsScalar(t *model.Type) string {
	switch t.Kind {
	case model.String:
		return fmt.Sprintf("r.text(%t)", t.NonEmpty)
	case model.Bool:
		return "r.boolean()"
	case model.Int:
		return "r.integer(" + tsBounds(t) + ")"
	case model.Float:
		return "r.float(" + tsBounds(t) + ")"
	case model.Map:
		return "r.pairs(" + tsCount(t) + ")"
	case model.Struct:
		return "r.message<" + t.Struct.GoName + ">()"
	case model.Enum, model.List: // not scalars, see tsRead
	}
	panic("gensdk: no TypeScript reader for " + t.GoName)
}

func tsBounds(t *model.Type) string {
	open := [2]string{"i64.MIN_VALUE", "i64.MAX_VALUE"}
	if t.Kind == model.Float {
		open = [2]string{"-f64.MAX_VALUE", "f64.MAX_VALUE"}
	}
	for i, n := range []*float64{t.Min, t.Max} {
		if n != nil {
			open[i] = strconv.FormatFloat(*n, 'f', -1, 64)
		}
	}
	return open[0] + ", " + open[1]
}

// tsCount writes the least and the most of a count; -1 stands for not empty.
func tsCount(t *model.Type) string {
	least, most := 0, "u32.MAX_VALUE"
	if t.NonEmpty {
		least = -1
	}
	if t.MinCount != nil {
		least = *t.MinCount
	}
	if t.MaxCount != nil {
		most = strconv.Itoa(*t.MaxCount)
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
	case model.String, model.Enum:
		return "w.text(" + value + ")"
	case model.Bool:
		return "w.boolean(" + value + ")"
	case model.Int:
		return "w.integer(" + value + ")"
	case model.Float:
		return "w.float(" + value + ")"
	case model.Map:
		return "w.pairs(" + value + ")"
	case model.Struct:
		return value + ".write(w)"
	case model.List:
		return fmt.Sprintf("w.list(%s.length); for (let i = 0; i < %s.length; i++) %s", value, value, tsPut(t.Elem, value+"[i]"))
	}
	panic("gensdk: no TypeScript writer for " + t.GoName)
}
