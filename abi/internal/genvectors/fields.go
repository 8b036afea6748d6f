package main

import (
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// fields adds for each field every way in which its value can be wrong.
func (s *set) fields() {
	base := sampleStruct(s.of, minimal, 0)
	if only, ok := onlyField[s.of.GoName]; ok {
		base = without(base, only[0])
	}
	for _, f := range s.of.Fields {
		base := base
		if s.of.GoName == "Verdict" && f.WireName == "remand_feedback" {
			base = with(base, "decision", mt.StringNode("remand"))
		}
		if s.of.GoName == "AuditReport" && f.WireName == "results" {
			base = with(base, "global_score", mt.FloatNode(1))
		}
		at := path("").field(f.WireName)
		if f.Required() {
			s.reject("missing_field "+f.WireName, without(base, f.WireName), at.is(abi.CodeMissingField))
		}
		twice := with(base, f.WireName, sampleField(s.of, f, minimal, 0))
		twice.Entries = append(twice.Entries, mt.F(f.WireName, sampleField(s.of, f, full, 0)))
		s.reject("duplicate_key "+f.WireName, twice, at.is(abi.CodeDuplicateKey))
		for _, w := range wrongValues(f.Type, f.Required() || f.Pointer || f.HasDefault) {
			s.reject(w.name(f.WireName), with(base, f.WireName, w.value), w.at(at).is(w.code))
		}
	}
}

// wrong is one wrong value, with where in it the problem lies.
type wrong struct {
	what  string
	value mt.Node
	code  abi.Code
	steps []func(path) path
}

func (w wrong) name(field string) string { return string(w.code) + " " + field + ": " + w.what }

func (w wrong) at(p path) path {
	for _, step := range w.steps {
		p = step(p)
	}
	return p
}

// wrongValues gives wrong values of a type. strict: an empty value does not
// count as absent.
func wrongValues(t *model.Type, strict bool) []wrong {
	out := []wrong{
		{what: "nil", value: mt.NilNode(), code: abi.CodeNil},
		{what: "fixext 4 timestamp", value: mt.ExtensionNode(-1, "\x00\x00\x00\x01"), code: abi.CodeExtension},
		{what: "ext 8 of 3 bytes", value: mt.ExtensionNode(7, "abc"), code: abi.CodeExtension},
	}
	for _, other := range otherKinds {
		if !slices.Contains(other.kinds, t.Kind) {
			out = append(out, wrong{what: other.what, value: other.value, code: abi.CodeWrongType})
		}
	}
	switch t.Kind {
	case model.String, model.Enum:
		out = append(out, wrongTexts(t, strict)...)
	case model.Int:
		out = append(out, wrongInts(t)...)
	case model.Float:
		out = append(out, wrongFloats(t)...)
	case model.List, model.Map:
		out = append(out, wrongCounts(t)...)
		out = append(out, wrongItems(t)...)
	case model.Struct:
		out = append(out, wrongInside(t.Struct, sampleStruct(t.Struct, minimal, 0))...)
	default: // a Bool is wrong in no other way
	}
	return out
}

// otherKinds are values with the kinds of the model that take them.
var otherKinds = []struct {
	what  string
	value mt.Node
	kinds []model.Kind
}{
	{"true", mt.BoolNode(true), []model.Kind{model.Bool}},
	{"integer 1", mt.IntNode(1), []model.Kind{model.Int, model.Float}},
	{"integer 0 as int 64", mt.IntNode(0).AsWide(), []model.Kind{model.Int, model.Float}},
	{"float 1.0", mt.FloatNode(1), []model.Kind{model.Float}},
	{"float 32 0.5", mt.Float32Node(0.5), []model.Kind{model.Float}},
	{`string "1"`, mt.StringNode("1"), []model.Kind{model.String, model.Enum}},
	{`string "true"`, mt.StringNode("true"), []model.Kind{model.String, model.Enum}},
	{"list", mt.ListNode(mt.IntNode(1)), []model.Kind{model.List}},
	{"empty list", mt.ListNode(), []model.Kind{model.List}},
	{"map", mt.MapNode(mt.F("a", mt.IntNode(1))), []model.Kind{model.Map, model.Struct}},
	{"empty map", mt.MapNode(), []model.Kind{model.Map, model.Struct}},
	{"bin", mt.BinaryNode("1"), []model.Kind{model.String, model.Enum}},
}

func wrongTexts(t *model.Type, strict bool) []wrong {
	out := []wrong{
		{what: "bin 8", value: mt.BinaryNode("x"), code: abi.CodeBinary},
		{what: "empty bin 32", value: mt.BinaryNode("").AsWide(), code: abi.CodeBinary},
		{what: "a byte that no UTF-8 has", value: mt.StringNode("a\xffb"), code: abi.CodeInvalidUTF8},
		{what: "an overlong form", value: mt.StringNode("\xc0\xaf"), code: abi.CodeInvalidUTF8},
		{what: "a surrogate", value: mt.StringNode("\xed\xa0\x80"), code: abi.CodeInvalidUTF8},
		{what: "beyond U+10FFFF", value: mt.StringNode("\xf4\x90\x80\x80"), code: abi.CodeInvalidUTF8},
		{what: "a character cut short", value: mt.StringNode("\xe2\x82"), code: abi.CodeInvalidUTF8},
	}
	if t.Kind == model.Enum {
		first := t.Enum.Values[0].Value
		out = append(out,
			wrong{what: "another word", value: mt.StringNode("nonsense"), code: abi.CodeInvalidValue},
			wrong{what: "capitals", value: mt.StringNode(strings.ToUpper(first)), code: abi.CodeInvalidValue},
			wrong{what: "a space after", value: mt.StringNode(first + " "), code: abi.CodeInvalidValue})
		if strict {
			out = append(out, wrong{what: "empty", value: mt.StringNode(""), code: abi.CodeInvalidValue})
		}
	}
	if t.NonEmpty {
		out = append(out, wrong{what: `""`, value: mt.StringNode(""), code: abi.CodeEmpty})
	}
	return out
}

func wrongInts(t *model.Type) []wrong {
	out := []wrong{
		{what: "uint 64 2^63", value: mt.UintNode(1 << 63), code: abi.CodeOutOfRange},
		{what: "uint 64 2^64-1", value: mt.UintNode(math.MaxUint64), code: abi.CodeOutOfRange},
	}
	if t.Min != nil {
		out = append(out,
			wrong{what: "one below", value: mt.IntNode(int64(*t.Min) - 1), code: abi.CodeOutOfRange},
			wrong{what: "-2^63", value: mt.IntNode(math.MinInt64), code: abi.CodeOutOfRange})
	}
	if t.Max != nil {
		out = append(out,
			wrong{what: "one above", value: mt.IntNode(int64(*t.Max) + 1), code: abi.CodeOutOfRange},
			wrong{what: "2^63-1", value: mt.IntNode(math.MaxInt64), code: abi.CodeOutOfRange})
	}
	return out
}

func wrongFloats(t *model.Type) []wrong {
	out := []wrong{
		{what: "NaN", value: mt.FloatNode(math.NaN()), code: abi.CodeNotFinite},
		{what: "+Inf", value: mt.FloatNode(math.Inf(1)), code: abi.CodeNotFinite},
		{what: "-Inf", value: mt.FloatNode(math.Inf(-1)), code: abi.CodeNotFinite},
		{what: "NaN with a payload", value: mt.RawNode("\xcb\xff\xf4\x00\x00\x00\x00\x00\x01"), code: abi.CodeNotFinite},
		{what: "float 32 NaN", value: mt.Float32Node(float32(math.NaN())), code: abi.CodeNotFinite},
		{what: "float 32 +Inf", value: mt.Float32Node(float32(math.Inf(1))), code: abi.CodeNotFinite},
		{what: "float 32 -Inf", value: mt.Float32Node(float32(math.Inf(-1))), code: abi.CodeNotFinite},
	}
	if t.Min != nil {
		out = append(out,
			wrong{what: "just below", value: mt.FloatNode(math.Nextafter(*t.Min, math.Inf(-1))), code: abi.CodeOutOfRange},
			wrong{what: "integer below", value: mt.IntNode(int64(*t.Min) - 1), code: abi.CodeOutOfRange})
	}
	if t.Max != nil {
		out = append(out,
			wrong{what: "just above", value: mt.FloatNode(math.Nextafter(*t.Max, math.Inf(1))), code: abi.CodeOutOfRange},
			wrong{what: "far above", value: mt.FloatNode(*t.Max + 0.5), code: abi.CodeOutOfRange},
			wrong{what: "integer above", value: mt.IntNode(int64(*t.Max) + 1), code: abi.CodeOutOfRange},
			wrong{what: "float 32 above", value: mt.Float32Node(float32(*t.Max) * 2), code: abi.CodeOutOfRange})
	}
	return out
}
