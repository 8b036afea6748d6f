package main

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

const (
	draft = "https://json-schema.org/draft/2020-12/schema"
	// idPrefix names the schemas; nothing is fetched from there.
	idPrefix = "urn:shadowcourt:abi:" + abi.Version + ":"
)

// schemas adds the JSON Schemas: one file for each type, complete in itself.
func (files contents) schemas(m *model.Model) error {
	for _, s := range m.Structs {
		defs := map[string]object{}
		top := object{{"$schema", draft}, {"$id", idPrefix + s.WireName}, {"title", s.WireName}}
		top = append(top, structSchema(s, defs)...)
		if len(defs) > 0 {
			top = append(top, member{"$defs", defs})
		}
		compact, err := top.MarshalJSON()
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := json.Indent(&out, compact, "", "  "); err != nil {
			return err
		}
		out.WriteByte('\n')
		files["schema/json/"+s.WireName+".json"] = out.Bytes()
	}
	return nil
}

// object is a JSON object in its order.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON implements json.Marshaler. In what it writes <, > and & stand for themselves.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i, m := range o {
		b.WriteByte("{,"[min(i, 1)])
		if err := e.Encode(m.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(m.value); err != nil {
			return nil, err
		}
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// described is a description that is not empty, and nothing otherwise.
func described(doc, goName, wireName string) object {
	if !strings.HasPrefix(doc, goName+",") { // of several fields together
		doc = renamed(doc, goName, wireName)
	}
	text := strings.Join(strings.Fields(doc), " ")
	if text == "" {
		return nil
	}
	return object{{"description", text}}
}

// structSchema is the schema of a struct. Those of the types that it refers to go to defs.
func structSchema(s *model.StructType, defs map[string]object) object {
	var required []string
	var properties object
	for _, f := range s.Fields {
		properties = append(properties, member{f.WireName, fieldSchema(f, defs)})
		if f.Required() {
			required = append(required, f.WireName)
		}
	}
	out := append(described(s.Doc, s.GoName, s.WireName), member{"type", "object"})
	if len(required) > 0 {
		out = append(out, member{"required", required})
	}
	return append(out, member{"properties", properties}, member{"additionalProperties", false})
}

func fieldSchema(f *model.Field, defs map[string]object) object {
	out := described(f.Doc, f.GoName, f.WireName)
	if out == nil && f.Type.Kind == model.Enum {
		out = described(f.Type.Enum.Doc, f.Type.Enum.GoName, model.WireName(f.Type.Enum.GoName))
	}
	out = append(out, typeSchema(f.Type, f.Optional && !f.Pointer, defs)...)
	if f.HasDefault {
		out = append(out, member{"default", f.Default})
	}
	return out
}

// typeSchema is the schema of a type; the empty text counts as absent for an optional enumeration.
func typeSchema(t *model.Type, optional bool, defs map[string]object) (out object) {
	add := func(key string, there bool, value any) {
		if there {
			out = append(out, member{key, value})
		}
	}
	switch t.Kind {
	case model.String:
		add("type", true, "string")
		add("minLength", t.NonEmpty, 1)
	case model.Enum:
		var values []string
		if optional {
			values = append(values, "")
		}
		for _, v := range t.Enum.Values {
			values = append(values, v.Value)
		}
		add("type", true, "string")
		add("enum", true, values)
	case model.Bool:
		add("type", true, "boolean")
	case model.Int:
		out = object{{"type", "integer"}, {"minimum", any(int64(math.MinInt64))}, {"maximum", any(int64(math.MaxInt64))}}
		if t.Min != nil {
			out[1].value = *t.Min
		}
		if t.Max != nil {
			out[2].value = *t.Max
		}
	case model.Float:
		add("type", true, "number")
		add("minimum", t.Min != nil, t.Min)
		add("maximum", t.Max != nil, t.Max)
	case model.Struct:
		if name := t.Struct.WireName; defs[name] == nil {
			defs[name] = structSchema(t.Struct, defs) // no type contains itself
		}
		add("$ref", true, "#/$defs/"+t.Struct.WireName)
	case model.List:
		add("type", true, "array")
		add("minItems", t.NonEmpty, 1)
		add("minItems", t.MinCount != nil, t.MinCount)
		add("maxItems", t.MaxCount != nil, t.MaxCount)
		add("items", true, typeSchema(t.Elem, false, defs))
	case model.Map:
		add("type", true, "object")
		add("minProperties", t.NonEmpty, 1)
		add("minProperties", t.MinCount != nil, t.MinCount)
		add("maxProperties", t.MaxCount != nil, t.MaxCount)
		add("additionalProperties", true, typeSchema(t.Elem, false, defs))
	}
	return out
}
