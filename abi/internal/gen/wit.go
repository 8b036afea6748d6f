package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// wit adds shadowcourt.wit: the messages that a module can meet, for tools that read the component model's interface types.
func (files contents) wit(m *model.Model) error {
	p, err := gather(m)
	if err != nil {
		return err
	}
	files["shadowcourt.wit"], err = execute("shadowcourt.wit.tmpl", p)
	return err
}

// witKeywords can't be identifiers without % before them.
var witKeywords = strings.Fields(`as async bool borrow char constructor enum export f32 f64 flags from func future import include interface
list map option own package record resource result s16 s32 s64 s8 static stream string tuple type u16 u32 u64 u8 use variant with world`)

// witName writes a name in the words of WIT: small letters and digits between hyphens. Each word begins with a letter.
func witName(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	for i, w := range words {
		if w[0] <= '9' {
			words[i] = "n" + w
		}
	}
	name = strings.Join(words, "-")
	if slices.Contains(witKeywords, name) {
		return "%" + name
	}
	return name
}

// witType writes the type of a field. An optional list or map that is empty is absent, so that it needs no option.
func witType(f *model.Field) string {
	name := witTypeOf(f.Type)
	if f.Optional && f.Type.Kind != model.List && f.Type.Kind != model.Map {
		return "option<" + name + ">"
	}
	return name
}

func witTypeOf(t *model.Type) string {
	switch t.Kind {
	case model.Enum, model.Struct:
		return witName(model.WireName(t.GoName))
	case model.List:
		return "list<" + witTypeOf(t.Elem) + ">"
	case model.Map:
		return "list<tuple<string, " + witTypeOf(t.Elem) + ">>"
	case model.Bool:
		return "bool"
	case model.Int:
		return "s64"
	case model.Float:
		return "f64"
	case model.String:
	}
	return "string"
}

// witBounds says in words what the type of a field leaves open.
func witBounds(f *model.Field) string {
	t, parts := f.Type, []string(nil)
	add := func(there bool, format string, value any) {
		if there {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add(t.NonEmpty, "not empty%v", "")
	if t.MinCount != nil {
		add(true, "at least %d elements", *t.MinCount)
	}
	if t.MaxCount != nil {
		add(true, "at most %d elements", *t.MaxCount)
	}
	if t.Kind == model.List {
		t = t.Elem
	}
	add(t.Min != nil, "from %s", number(t.Min, ""))
	add(t.Max != nil, "to %s", number(t.Max, ""))
	add(f.HasDefault, "default %q", f.Default)
	return strings.Join(parts, ", ")
}
