package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

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

// rsOption says whether a field is an Option.
func rsOption(f *model.Field) bool { return f.Pointer || f.Optional && f.Type.Kind == model.Enum }

func rsType(f *model.Field) string {
	if rsOption(f) {
		return "Option<" + rsTypeOf(f.Type) + ">"
	}
	return rsTypeOf(f.Type)
}

func rsTypeOf(t *model.Type) string {
	switch t.Kind {
	case model.List:
		return "Vec<" + rsTypeOf(t.Elem) + ">"
	case model.Enum, model.Struct:
		return t.GoName
	default:
		return map[model.Kind]string{model.String: "String", model.Bool: "bool", model.Int: "i64", model.Float: "f64", model.Map: "BTreeMap<String, String>"}[t.Kind]
	}
}

// rsPresent writes the condition under which an optional field is written.
func rsPresent(f *model.Field) string {
	if rsOption(f) {
		return "self." + rsField(f) + ".is_some()"
	}
	return "!self." + rsField(f) + ".is_empty()"
}

// rsRead writes the expression that reads a field.
func rsRead(f *model.Field) string {
	switch {
	case f.Pointer:
		return "Some(" + rsReadValue(f.Type) + "?)"
	case rsOption(f):
		return "r.optional_name()?"
	}
	return rsReadValue(f.Type) + "?"
}

func rsReadValue(t *model.Type) string {
	switch t.Kind {
	case model.String:
		return fmt.Sprintf("r.text(%t)", t.NonEmpty)
	case model.Bool:
		return "r.boolean()"
	case model.Int:
		return fmt.Sprintf("r.integer(%s, %s)", number(t.Min, "i64::MIN"), number(t.Max, "i64::MAX"))
	case model.Float:
		return fmt.Sprintf("r.float(%s, %s)", rsFloat(t.Min, "f64::MIN"), rsFloat(t.Max, "f64::MAX"))
	case model.List:
		return fmt.Sprintf("r.list(%s, |r| %s)", rsCount(t), rsReadValue(t.Elem))
	case model.Map:
		return fmt.Sprintf("r.pairs(%s)", rsCount(t))
	case model.Enum:
		return "r.name()"
	default:
		return "r.message()"
	}
}

// rsFloat writes a bound as a literal of a float, which has a point.
func rsFloat(n *float64, none string) string {
	text := number(n, none)
	if n != nil && !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func rsCount(t *model.Type) string {
	least, n := t.Counts()
	most := "usize::MAX"
	if n > 0 {
		most = strconv.Itoa(n)
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
	if rsOption(f) {
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
	case model.Map:
		return "w.pairs(" + borrowed + ")"
	case model.List:
		return fmt.Sprintf("w.list(%s, |w, v| %s)", borrowed, rsPut(t.Elem, "v", true))
	default:
		return value + ".write(w)"
	}
}
