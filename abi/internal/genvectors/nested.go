package main

import (
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

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
	return slices.Clip(out)
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

// wrongItems gives lists and maps whose second element is wrong, and maps
// with wrong keys.
func wrongItems(t *model.Type) []wrong {
	var out []wrong
	enough := 2
	if t.MinCount != nil {
		enough = max(enough, *t.MinCount)
	}
	for _, inner := range wrongElements(t.Elem) {
		list := collection(t, enough)
		w := wrong{what: "in the second element, " + inner.what, code: inner.code}
		if t.Kind == model.List {
			list.Items[1] = inner.value
			w.steps = append(w.steps, func(p path) path { return p.index(1) })
		} else {
			list.Entries[1] = mt.F(`k"1`, inner.value)
			w.steps = append(w.steps, func(p path) path { return p.key(`k"1`) })
		}
		w.value, w.steps = list, append(w.steps, inner.steps...)
		out = append(out, w)
	}
	if t.Kind == model.Map {
		out = append(out, wrongKeys(t)...)
	}
	return out
}

// wrongElements gives all wrong values of a scalar, and of a struct those
// that its own vectors do not show.
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
		{
			what: "a key twice", code: abi.CodeDuplicateKey, value: mt.KeyedNode(first, mt.F("k1", item(1)), mt.F("k0", item(2))),
			steps: []func(path) path{func(p path) path { return p.key("k0") }},
		},
		inKey("integer key", mt.IntNode(1), abi.CodeWrongType),
		inKey("nil key", mt.NilNode(), abi.CodeWrongType),
		inKey("bin key", mt.BinaryNode("k1"), abi.CodeWrongType),
		inKey("list key", mt.ListNode(), abi.CodeWrongType),
		inKey("bad key", mt.StringNode("k\xff"), abi.CodeInvalidUTF8),
	}
}

// wrongInside gives a struct with one problem inside: an unknown field, a
// missing one, one twice, a wrong value of each field.
func wrongInside(s *model.StructType, good mt.Node) []wrong {
	step := func(name string) []func(path) path {
		return []func(path) path{func(p path) path { return p.field(name) }}
	}
	out := []wrong{
		{what: "an unknown field inside", value: with(good, "no_such_field", mt.IntNode(1)), code: abi.CodeUnknownField, steps: step("no_such_field")},
		{what: "an integer key inside", value: appended(good, mt.Entry{Key: mt.IntNode(1), Value: mt.IntNode(1)}), code: abi.CodeWrongType},
	}
	for _, f := range s.Fields {
		if f.Required() {
			out = append(out, wrong{what: "no " + f.WireName + " inside", value: without(good, f.WireName), code: abi.CodeMissingField, steps: step(f.WireName)})
		}
		out = append(out, wrong{what: "nil for " + f.WireName + " inside", value: with(good, f.WireName, mt.NilNode()), code: abi.CodeNil, steps: step(f.WireName)})
		if f.Type.Kind == model.String {
			out = append(out, wrong{what: "bad UTF-8 in " + f.WireName, value: with(good, f.WireName, mt.StringNode("\x80")), code: abi.CodeInvalidUTF8, steps: step(f.WireName)})
		}
		if len(good.Entries) > 0 && f == s.Fields[0] {
			twice := with(good, f.WireName, sampleField(s, f, minimal, 0))
			twice.Entries = append(twice.Entries, mt.F(f.WireName, mt.IntNode(1)))
			out = append(out, wrong{what: f.WireName + " twice inside", value: twice, code: abi.CodeDuplicateKey, steps: step(f.WireName)})
		}
	}
	return out
}

// appended gives the map with one more entry at the end.
func appended(n mt.Node, e mt.Entry) mt.Node {
	n.Entries = append(slices.Clip(n.Entries), e)
	return n
}
