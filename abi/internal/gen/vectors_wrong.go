package main

import (
	"math"
	"slices"
	"strconv"
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
		at := path(f.WireName)
		if f.Required() {
			s.reject("missing_field "+f.WireName, without(base, f.WireName), at.is(abi.CodeMissingField))
		}
		twice := appended(with(base, f.WireName, sampleField(s.of, f, minimal, 0)), mt.F(f.WireName, sampleField(s.of, f, full, 0)))
		s.reject("duplicate_key "+f.WireName, twice, at.is(abi.CodeDuplicateKey))
		for _, w := range wrongValues(f.Type, f.Required() || f.Pointer || f.HasDefault) {
			s.reject(string(w.code)+" "+f.WireName+": "+w.what, with(base, f.WireName, w.value), at.then(w.at).is(w.code))
		}
	}
}

// wrong is one wrong value, with where in it the problem lies.
type wrong struct {
	what  string
	value mt.Node
	code  abi.Code
	at    path
}

// wrongValues gives wrong values of a type. strict: an empty value does not count as absent.
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

// wrongCounts gives lists and maps with too few or too many elements.
func wrongCounts(t *model.Type) []wrong {
	var out []wrong
	add := func(what string, n int, code abi.Code) {
		out = append(out, wrong{what: what, value: collection(t, n), code: code})
	}
	if t.NonEmpty {
		add("empty", 0, abi.CodeEmpty)
	}
	if t.MinCount != nil {
		add(strconv.Itoa(*t.MinCount-1)+" elements", *t.MinCount-1, abi.CodeBadCount)
		add("no elements", 0, abi.CodeBadCount)
	}
	if t.MaxCount != nil && !t.Long() {
		add(strconv.Itoa(*t.MaxCount+1)+" elements", *t.MaxCount+1, abi.CodeBadCount)
	}
	return out
}

// collection gives a list or map of n valid elements.
func collection(t *model.Type, n int) mt.Node {
	out := mt.ListNode()
	if t.Kind == model.Map {
		out = mt.KeyedNode()
	}
	for i := range n {
		item := sampleType(t.Elem, "n", minimal, i+1)
		if t.Kind == model.List {
			out.Items = append(out.Items, item)
		} else {
			out.Entries = append(out.Entries, mt.F("k"+strconv.Itoa(i), item))
		}
	}
	return out
}

// wrongItems gives lists and maps whose second element is wrong, and maps with wrong keys.
func wrongItems(t *model.Type) []wrong {
	var out []wrong
	enough, _ := t.Counts()
	enough = max(enough, 2)
	for _, inner := range wrongElements(t.Elem) {
		list, at := collection(t, enough), root.index(1)
		if t.Kind == model.List {
			list.Items[1] = inner.value
		} else {
			list.Entries[1], at = mt.F(`k"1`, inner.value), root.key(`k"1`)
		}
		out = append(out, wrong{what: "in the second element, " + inner.what, code: inner.code, value: list, at: at.then(inner.at)})
	}
	if t.Kind == model.Map {
		out = append(out, wrongKeys(t)...)
	}
	return out
}

// wrongElements gives all wrong values of a scalar, and of a struct those that its own vectors do not show.
func wrongElements(t *model.Type) []wrong {
	if t.Kind == model.Struct {
		return append([]wrong{
			{what: "nil", value: mt.NilNode(), code: abi.CodeNil},
			{what: "list", value: mt.ListNode(), code: abi.CodeWrongType},
			{what: "ext", value: mt.ExtensionNode(1, "a"), code: abi.CodeExtension},
		}, wrongInside(t.Struct, sampleStruct(t.Struct, minimal, 2))...)
	}
	return wrongValues(t, true)
}

func wrongKeys(t *model.Type) []wrong {
	item := func(i int) mt.Node { return sampleType(t.Elem, "n", minimal, i) }
	first := mt.F("k0", item(0))
	inKey := func(what string, key mt.Node, code abi.Code) wrong {
		return wrong{what: what, code: code, value: mt.KeyedNode(first, mt.Entry{Key: key, Value: item(1)})}
	}
	return []wrong{
		{what: "a key twice", code: abi.CodeDuplicateKey, at: root.key("k0"), value: mt.KeyedNode(first, mt.F("k1", item(1)), mt.F("k0", item(2)))},
		inKey("integer key", mt.IntNode(1), abi.CodeWrongType),
		inKey("nil key", mt.NilNode(), abi.CodeWrongType),
		inKey("bin key", mt.BinaryNode("k1"), abi.CodeWrongType),
		inKey("list key", mt.ListNode(), abi.CodeWrongType),
		inKey("bad key", mt.StringNode("k\xff"), abi.CodeInvalidUTF8),
	}
}

// wrongInside gives a struct with one problem inside: an unknown field, a missing one, one twice, a wrong value of each field.
func wrongInside(s *model.StructType, good mt.Node) []wrong {
	var out []wrong
	add := func(what string, value mt.Node, code abi.Code, at string) {
		out = append(out, wrong{what, value, code, path(at)})
	}
	add("an unknown field inside", with(good, unknown, mt.IntNode(1)), abi.CodeUnknownField, unknown)
	add("an integer key inside", appended(good, mt.Entry{Key: mt.IntNode(1), Value: mt.IntNode(1)}), abi.CodeWrongType, "")
	for i, f := range s.Fields {
		name := f.WireName
		if f.Required() {
			add("no "+name+" inside", without(good, name), abi.CodeMissingField, name)
		}
		add("nil for "+name+" inside", with(good, name, mt.NilNode()), abi.CodeNil, name)
		if f.Type.Kind == model.String {
			add("bad UTF-8 in "+name, with(good, name, mt.StringNode("\x80")), abi.CodeInvalidUTF8, name)
		}
		if i == 0 && len(good.Entries) > 0 {
			twice := appended(with(good, name, sampleField(s, f, minimal, 0)), mt.F(name, mt.IntNode(1)))
			add(name+" twice inside", twice, abi.CodeDuplicateKey, name)
		}
	}
	return out
}
