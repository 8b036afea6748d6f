package main

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// schema is a JSON Schema, its keywords in the order in which they are written.
type schema struct {
	Schema      string             `json:"$schema,omitempty"`
	ID          string             `json:"$id,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Ref         string             `json:"$ref,omitempty"`
	Type        string             `json:"type,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Default     *string            `json:"default,omitempty"`
	Minimum     json.Number        `json:"minimum,omitempty"`
	Maximum     json.Number        `json:"maximum,omitempty"`
	MinLength   *int               `json:"minLength,omitempty"`
	MinItems    *int               `json:"minItems,omitempty"`
	MaxItems    *int               `json:"maxItems,omitempty"`
	MinProps    *int               `json:"minProperties,omitempty"`
	MaxProps    *int               `json:"maxProperties,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Properties  *properties        `json:"properties,omitempty"`
	Additional  *additional        `json:"additionalProperties,omitempty"`
	Defs        map[string]*schema `json:"$defs,omitempty"`
}

// properties keep the declared order of the fields.
type properties struct {
	names   []string
	schemas []*schema
}

// MarshalJSON implements json.Marshaler.
func (p *properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range p.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(p.schemas[i])
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// additional is false for structs and the schema of the values for maps.
type additional struct{ values *schema }

// MarshalJSON implements json.Marshaler.
func (a *additional) MarshalJSON() ([]byte, error) {
	if a.values == nil {
		return []byte("false"), nil
	}
	return marshal(a.values)
}

// marshal writes JSON in which <, > and & stand for themselves.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

const (
	draft = "https://json-schema.org/draft/2020-12/schema"
	// idPrefix names the schemas; nothing is fetched from there.
	idPrefix = "urn:shadowcourt:abi:" + abi.Version + ":"
)

// generate gives the content of each schema file by its name.
func generate(m *model.Model) (map[string][]byte, error) {
	files := make(map[string][]byte, len(m.Structs))
	for _, s := range m.Structs {
		b := builder{defs: map[string]*schema{}}
		top := b.structure(s)
		top.Schema, top.ID, top.Title, top.Defs = draft, idPrefix+s.WireName, s.WireName, b.defs
		compact, err := marshal(top)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		if err := json.Indent(&out, compact, "", "  "); err != nil {
			return nil, err
		}
		out.WriteByte('\n')
		files[s.WireName+".json"] = out.Bytes()
	}
	return files, nil
}

// builder gathers the types that a schema refers to.
type builder struct{ defs map[string]*schema }

func (b *builder) structure(s *model.StructType) *schema {
	out := &schema{Type: "object", Description: prose(s.Doc, s.GoName, s.WireName), Properties: &properties{}, Additional: &additional{}}
	for _, f := range s.Fields {
		out.Properties.names = append(out.Properties.names, f.WireName)
		out.Properties.schemas = append(out.Properties.schemas, b.field(f))
		if f.Required() {
			out.Required = append(out.Required, f.WireName)
		}
	}
	return out
}

func (b *builder) field(f *model.Field) *schema {
	out := b.of(f.Type)
	out.Description = prose(f.Doc, f.GoName, f.WireName)
	if f.HasDefault {
		out.Default = &f.Default
	}
	if f.Optional && !f.Pointer && f.Type.Kind == model.Enum {
		out.Enum = append([]string{""}, out.Enum...) // "" counts as absent
	}
	return out
}

func (b *builder) of(t *model.Type) *schema {
	one := 1
	switch t.Kind {
	case model.String:
		out := &schema{Type: "string"}
		if t.NonEmpty {
			out.MinLength = &one
		}
		return out
	case model.Enum:
		out := &schema{Type: "string"}
		for _, v := range t.Enum.Values {
			out.Enum = append(out.Enum, v.Value)
		}
		return out
	case model.Bool:
		return &schema{Type: "boolean"}
	case model.Int:
		return &schema{Type: "integer", Minimum: integerBound(t.Min, math.MinInt64), Maximum: integerBound(t.Max, math.MaxInt64)}
	case model.Float:
		return &schema{Type: "number", Minimum: bound(t.Min), Maximum: bound(t.Max)}
	case model.Struct:
		if name := t.Struct.WireName; b.defs[name] == nil {
			b.defs[name] = &schema{} // no type contains itself, but two may share one
			b.defs[name] = b.structure(t.Struct)
		}
		return &schema{Ref: "#/$defs/" + t.Struct.WireName}
	case model.List:
		out := &schema{Type: "array", Items: b.of(t.Elem), MinItems: t.MinCount, MaxItems: t.MaxCount}
		if t.NonEmpty {
			out.MinItems = &one
		}
		return out
	default:
		out := &schema{Type: "object", Additional: &additional{values: b.of(t.Elem)}, MinProps: t.MinCount, MaxProps: t.MaxCount}
		if t.NonEmpty {
			out.MinProps = &one
		}
		return out
	}
}

func bound(v *float64) json.Number {
	if v == nil {
		return ""
	}
	text, err := json.Marshal(*v)
	if err != nil {
		return ""
	}
	return json.Number(text)
}

// integerBound gives the bound, or that of the type when there is none.
func integerBound(v *float64, otherwise int64) json.Number {
	if v != nil {
		return bound(v)
	}
	text, err := json.Marshal(otherwise)
	if err != nil {
		return ""
	}
	return json.Number(text)
}

// prose joins the lines of a comment, which then begins with the name on the
// wire instead of the one in Go.
func prose(doc, goName, wireName string) string {
	text := strings.Join(strings.Fields(doc), " ")
	if first, rest, _ := strings.Cut(text, " "); strings.TrimRight(first, ":") == goName {
		return strings.TrimSpace(strings.Replace(first, goName, wireName, 1) + " " + rest)
	}
	return text
}
