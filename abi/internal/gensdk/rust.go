package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// inRust are the template functions of the Rust SDK.
func inRust() template.FuncMap {
	return template.FuncMap{
		"rsType": rsType, "rsField": rsField, "rsPresent": rsPresent, "rsRead": rsRead, "rsWrite": rsWrite, "camel": camel,
		"hasDefaults": hasDefaults,
	}
}

func hasDefaults(s *model.StructType) bool {
	for _, f := range s.Fields {
		if f.HasDefault {
			return true
		}
	}
	return false
}

func rsField(f *model.Field) string {
	if f.WireName == "match" {
		return "r#match"
	}
	return f.WireName
}

// camel turns snake case into a name of Rust's and TypeScript's types.
func camel(snake string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(snake, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func rsType(f *model.Field) string {
	name := rsTypeOf(f.Type)
	if f.Pointer || (f.Optional && f.Type.Kind == model.Enum) {
		return "Option<" + name + ">"
	}
	return name
}

func rsTypeOf(t *model.Type) string {
	switch t.Kind {
	case model.String:
		return "String"
	case model.Bool:
		return "bool"
	case model.Int:
		return "i64"
	case model.Float:
		return "f64"
	case model.List:
		return "Vec<" + rsTypeOf(t.Elem) + ">"
	case model.Map:
		return "BTreeMap<String, String>"
	case model.Enum:
		return t.Enum.GoName
	case model.Struct:
		return t.Struct.GoName
	}
	panic("gensdk: no Rust type for " + t.GoName)
}

// rsPresent writes the condition under which an optional field is written.
func rsPresent(f *model.Field) string {
	if f.Pointer || f.Type.Kind == model.Enum {
		return "self." + rsField(f) + ".is_some()"
	}
	return "!self." + rsField(f) + ".is_empty()"
}

// rsRead writes the expression that reads a field.
func rsRead(f *model.Field) string {
	t := f.Type
	switch {
	case f.Optional && !f.Pointer && t.Kind == model.Enum:
		return "r.optional_name()?"
	case f.Pointer:
		return "Some(" + rsValue(t) + "?)"
	}
	return rsValue(t) + "?"
}

func rsValue(t *model.Type) string {
	switch t.Kind {
	case model.String:
		return fmt.Sprintf("r.text(%t)", t.NonEmpty)
	case model.Bool:
		return "r.boolean()"
	case model.Int:
		return fmt.Sprintf("r.integer(%s, %s)", rsBound(t.Min, "i64::MIN", false), rsBound(t.Max, "i64::MAX", false))
	case model.Float:
		return fmt.Sprintf("r.float(%s, %s)", rsBound(t.Min, "f64::MIN", true), rsBound(t.Max, "f64::MAX", true))
	case model.List:
		return fmt.Sprintf("r.list(%s, |r| %s)", rsCount(t), rsValue(t.Elem))
	case model.Map:
		return fmt.Sprintf("r.pairs(%s)", rsCount(t))
	case model.Enum:
		return "r.name()"
	case model.Struct:
		return "r.message()"
	}
	panic("gensdk: no Rust reader for " + t.GoName)
}

func rsBound(n *float64, open string, float bool) string {
	if n == nil {
		return open
	}
	text := strconv.FormatFloat(*n, 'f', -1, 64)
	if float && !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func rsCount(t *model.Type) string {
	least, most := 0, "usize::MAX"
	if t.MinCount != nil {
		least = *t.MinCount
	}
	if t.MaxCount != nil {
		most = strconv.Itoa(*t.MaxCount)
	}
	switch {
	case t.NonEmpty:
		return fmt.Sprintf("Count::nonempty(%s)", most)
	case t.MinCount == nil && t.MaxCount == nil:
		return "Count::ANY"
	}
	return fmt.Sprintf("Count::between(%d, %s)", least, most)
}

// rsWrite writes the statement that writes a field.
func rsWrite(f *model.Field) string {
	field := "self." + rsField(f)
	if f.Pointer || (f.Optional && f.Type.Kind == model.Enum) {
		return fmt.Sprintf("if let Some(v) = &%s {\n            w.text(%q);\n            %s;\n        }", field, f.WireName, rsPut(f.Type, "v", true))
	}
	put := fmt.Sprintf("w.text(%q);\n        %s;", f.WireName, rsPut(f.Type, field, false))
	if f.Optional {
		return "if " + rsPresent(f) + " {\n            " + strings.ReplaceAll(put, "\n", "\n    ") + "\n        }"
	}
	return put
}

func rsPut(t *model.Type, value string, reference bool) string {
	plain, borrowed := value, "&"+value
	if reference {
		plain, borrowed = "*"+value, value
	}
	switch t.Kind {
	case model.String:
		return "w.text(" + borrowed + ")"
	case model.Bool:
		return "w.boolean(" + plain + ")"
	case model.Int:
		return "w.integer(" + plain + ")"
	case model.Float:
		return "w.float(" + plain + ")"
	case model.Enum:
		return "w.text(" + value + ".as_str())"
	case model.Struct:
		return value + ".write(w)"
	case model.Map:
		return "w.pairs(" + borrowed + ")"
	case model.List:
		return fmt.Sprintf("w.list(%s, |w, v| %s)", borrowed, rsPut(t.Elem, "v", true))
	}
	panic("gensdk: no Rust writer for " + t.GoName)
}
