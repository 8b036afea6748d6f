// Package model reads the types of package abi, with their `abi` tags, into a plain description from which codecs, schemas, vectors and
// tables are made.
//
// Reading is strict: a type that a message cannot hold (any, an interface, bytes, an untagged struct, ...) and a tag option that nobody
// knows are errors, so that no generated part can silently skip a field or a rule.
package model

import (
	"fmt"
	"slices"
)

// Kind says what a value is on the wire.
type Kind uint8

// The kinds.
const (
	String Kind = iota + 1
	Enum
	Bool
	Int
	Float
	List
	Map
	Struct
)

// Model holds everything that package abi puts on the wire.
type Model struct {
	// Structs stand in order of file name, then of declaration.
	Structs []*StructType
	// Enums are those that some message uses, in order of file name, then of declaration.
	Enums []*EnumType
}

// Struct finds a struct by Go name or by wire name; nil when there is none.
func (m *Model) Struct(name string) *StructType {
	for _, s := range m.Structs {
		if s.GoName == name || s.WireName == name {
			return s
		}
	}
	return nil
}

// Reach gives the structs of these names and all that they hold, each behind those that it holds.
func (m *Model) Reach(names ...string) (list []*StructType, err error) {
	var visit func(s *StructType)
	visit = func(s *StructType) {
		if slices.Contains(list, s) {
			return
		}
		for _, f := range s.Fields {
			t := f.Type
			for t.Elem != nil {
				t = t.Elem
			}
			if t.Struct != nil {
				visit(t.Struct)
			}
		}
		list = append(list, s)
	}
	for _, name := range names {
		s := m.Struct(name)
		if s == nil {
			return nil, fmt.Errorf("there is no %s", name)
		}
		visit(s)
	}
	return list, nil
}

// StructType is a map with fixed keys on the wire.
type StructType struct {
	GoName string
	// WireName is GoName in snake case: what tools, schemas and vectors call it.
	WireName string
	// Doc is the doc comment, without a trailing newline.
	Doc string
	// File is the base name of the source file.
	File string
	// HasRules: *GoName has a method Rules(*abi.Collector).
	HasRules bool
	// Fields stand in declared order, which is the canonical order.
	Fields []*Field
}

// Always counts the fields that are always written.
func (s *StructType) Always() int {
	n := 0
	for _, f := range s.Fields {
		if !f.Optional {
			n++
		}
	}
	return n
}

// RequiredBits has a bit for each field that must be there, the first one lowest.
func (s *StructType) RequiredBits() (bits uint64) {
	for i, f := range s.Fields {
		if f.Required() {
			bits |= 1 << i
		}
	}
	return bits
}

// HasDefaults says whether some absent field has a value.
func (s *StructType) HasDefaults() bool {
	return slices.ContainsFunc(s.Fields, func(f *Field) bool { return f.HasDefault })
}

// Field is one key of a struct.
type Field struct {
	GoName   string
	WireName string
	Doc      string
	Type     *Type
	// Optional: the key may be absent, and is absent from the canonical form when the value is zero: "", an empty list or map, a nil pointer.
	Optional bool
	// Pointer: the Go field is a pointer to Type, nil when absent. Every pointer is Optional.
	Pointer bool
	// Default, when HasDefault, is the value of an absent key; the key is always written. Only strings have defaults.
	Default    string
	HasDefault bool
}

// Required says whether the decoder insists on the key.
func (f *Field) Required() bool { return !f.Optional && !f.HasDefault }

// Type is the type of a field, of a list's elements or of a map's values.
type Type struct {
	Kind Kind
	// GoName is the Go type as package abi writes it, without a pointer: "string", "int64", "Element", "Indictment", "[]Evidence".
	GoName string
	// Elem is the element of a List, the value of a Map (keys are strings).
	Elem *Type
	// Struct of a Struct.
	Struct *StructType
	// Enum of an Enum.
	Enum *EnumType
	// Min and Max are the inclusive bounds of an Int or a Float; nil when there is none.
	Min, Max *float64
	// MinCount and MaxCount are the inclusive bounds of the length of a List or Map; nil when there is none.
	MinCount, MaxCount *int
	// NonEmpty: a String, List or Map that may not be empty.
	NonEmpty bool
}

// Counts gives the bounds of the length of a List or Map, 0 where there is none.
func (t *Type) Counts() (least, most int) {
	if t.MinCount != nil {
		least = *t.MinCount
	}
	if t.MaxCount != nil {
		most = *t.MaxCount
	}
	return least, most
}

// Long says whether a list may have so many elements that tests and vectors do not fill it with valid ones.
func (t *Type) Long() bool { return t.Kind == List && t.MaxCount != nil && *t.MaxCount > 256 }

// EnumType is a string that is one of a few.
type EnumType struct {
	GoName string
	Doc    string
	Values []EnumValue
}

// EnumValue is one of them.
type EnumValue struct {
	GoName string
	Value  string
}

// WireName gives a Go name in snake case: NodeRequest is node_request, LimitRequest is limit_request, a run of capitals counts as one word.
func WireName(goName string) string {
	var b []byte
	upper := func(i int) bool { return i < len(goName) && goName[i] >= 'A' && goName[i] <= 'Z' }
	for i := range len(goName) {
		c := goName[i]
		if upper(i) {
			if i > 0 && (!upper(i-1) || (i+1 < len(goName) && !upper(i+1))) {
				b = append(b, '_')
			}
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}
