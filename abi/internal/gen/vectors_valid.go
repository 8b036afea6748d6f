package main

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// valid adds messages that must be read, each with its canonical bytes.
func (s *set) valid() {
	least, most := sampleStruct(s.of, minimal, 0), sampleStruct(s.of, full, 0)
	s.accept("minimal", least)
	s.accept("full", most)
	s.accept("keys in another order", everyNode(most, reversed))
	s.accept("the longest headers, integers as int 64", everyNode(most, mt.Node.AsWide))
	s.accept("integers as uint 64", everyNode(most, unsigned))
	for _, f := range s.of.Fields {
		s.validField(least, f)
	}
	s.validByRules()
}

// validField adds what is particular to a field: its bounds, its other encodings, what counts as absent.
func (s *set) validField(base mt.Node, f *model.Field) {
	name := f.WireName
	if only, ok := onlyField[s.of.GoName]; ok {
		if base = without(base, only[0]); name != only[0] && name != only[1] {
			s.accept("only "+name, with(base, name, sampleField(s.of, f, minimal, 0)))
		}
		return
	}
	if f.Optional && !f.Pointer {
		s.accept(name+" empty counts as absent", with(base, name, emptyOf(f.Type)))
	}
	if name == "global_score" {
		return // what it may be depends on the results: validByRules
	}
	if ruled := special[s.of.GoName+"."+name][minimal]; leftOut[s.of.GoName+"."+name] || (ruled.Kind != 0 && ruled.Kind != mt.Float) {
		return // only some values are within the rules: validByRules has them
	}
	switch f.Type.Kind {
	case model.Int:
		for _, v := range intsAt(f.Type) {
			s.accept(name+" "+strconv.FormatInt(v, 10), with(base, name, mt.IntNode(v)))
		}
	case model.Float:
		s.validFloat(base, f)
	case model.String:
		if f.WireName != "supports" {
			s.validText(base, f)
		}
	case model.Enum:
		for _, v := range f.Type.Enum.Values {
			if s.of.GoName != "Verdict" {
				s.accept(name+" "+v.Value, with(base, name, mt.StringNode(v.Value)))
			}
		}
	case model.Bool:
		s.accept(name+" true", with(base, name, mt.BoolNode(true)))
	case model.Map:
		s.validMap(base, f)
	default: // lists and structs have vectors of their own
	}
}

func (s *set) validFloat(base mt.Node, f *model.Field) {
	name := f.WireName
	low, high := sampleNumber(f.Type, minimal, 0), sampleNumber(f.Type, full, math.Inf(1))
	if f.Type.Max == nil {
		high = 1e300
	} else {
		s.accept(name+" at its most, an integer", with(base, name, mt.IntNode(int64(high))))
	}
	s.accept(name+" at its least", with(base, name, mt.FloatNode(low)))
	s.accept(name+" at its most", with(base, name, mt.FloatNode(high)))
	s.accept(name+" at its least, an integer", with(base, name, mt.IntNode(int64(low))))
	s.accept(name+" float 32", with(base, name, mt.Float32Node(float32(max(0.5, low+0.5)))))
	if low <= 0 {
		s.accept(name+" -0", with(base, name, mt.FloatNode(math.Copysign(0, -1))))
		s.accept(name+" float 32 -0", with(base, name, mt.Float32Node(float32(math.Copysign(0, -1)))))
		s.accept(name+" the smallest subnormal", with(base, name, mt.FloatNode(math.SmallestNonzeroFloat64)))
	}
	if f.Type.Max == nil {
		s.accept(name+" an integer beyond 2^53", with(base, name, mt.IntNode(1<<53+1)))
	}
}

func (s *set) validText(base mt.Node, f *model.Field) {
	name := f.WireName
	s.accept(name+" of all lengths of UTF-8, with NUL", with(base, name, mt.StringNode("a\x00é漢\U0001F71A\uFFFD")))
	for _, n := range []int{31, 32, 255, 256} {
		if first := slices.IndexFunc(s.of.Fields, func(o *model.Field) bool { return o.Type.Kind == model.String }); f != s.of.Fields[first] {
			break // it holds for all texts of the type
		}
		s.accept(name+" of "+strconv.Itoa(n)+" bytes", with(base, name, mt.StringNode(strings.Repeat("x", n))))
	}
	if f.Pointer || f.HasDefault {
		s.accept(name+" empty", with(base, name, mt.StringNode("")))
	}
}

func (s *set) validMap(base mt.Node, f *model.Field) {
	item := func(i int) mt.Node { return sampleType(f.Type.Elem, f.WireName, minimal, i) }
	s.accept(f.WireName+" with keys out of order", with(base, f.WireName, mt.KeyedNode(
		mt.F("é", item(0)), mt.F("b", item(1)), mt.F("aa", item(2)), mt.F("", item(3)), mt.F("Z", item(4)), mt.F("a", item(5)))))
	if f.Type.MaxCount != nil {
		s.accept(f.WireName+" with as many entries as may be", with(base, f.WireName, manyEntries(f, *f.Type.MaxCount)))
	}
}

func manyEntries(f *model.Field, n int) mt.Node {
	out := mt.KeyedNode()
	for i := range n {
		out.Entries = append(out.Entries, mt.F(strconv.Itoa(1000+i), sampleType(f.Type.Elem, "", minimal, 0)))
	}
	return out
}

// intsAt gives the bounds of an integer and values on both sides of each length that msgpack knows.
func intsAt(t *model.Type) []int64 {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if t.Min != nil {
		low = int64(*t.Min)
	}
	if t.Max != nil {
		high = int64(*t.Max)
	}
	var out []int64
	for _, v := range []int64{low, 127, 128, 255, 256, 65535, 65536, 1<<32 - 1, 1 << 32, high} {
		if v >= low && v <= high && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func emptyOf(t *model.Type) mt.Node {
	switch t.Kind {
	case model.List:
		return mt.ListNode()
	case model.Map:
		return mt.KeyedNode()
	default:
		return mt.StringNode("")
	}
}

// everyNode gives a copy of the tree with each value changed, the inner ones first.
func everyNode(n mt.Node, change func(mt.Node) mt.Node) mt.Node {
	items := make([]mt.Node, len(n.Items))
	for i, item := range n.Items {
		items[i] = everyNode(item, change)
	}
	entries := make([]mt.Entry, len(n.Entries))
	for i, e := range n.Entries {
		entries[i] = mt.Entry{Key: change(e.Key), Value: everyNode(e.Value, change)}
	}
	n.Items, n.Entries = items, entries
	return change(n)
}

func reversed(n mt.Node) mt.Node {
	n.Entries = slices.Clone(n.Entries)
	slices.Reverse(n.Entries)
	return n
}

func unsigned(n mt.Node) mt.Node {
	if n.Kind == mt.Int && n.Int >= 0 {
		return mt.UintNode(uint64(n.Int)).AsWide()
	}
	return n
}
