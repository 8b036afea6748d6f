package main

import (
	"slices"
	"sort"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// size says how much of a sample is there: only what must be, or everything.
type size int

const (
	minimal size = iota
	full
)

// onlyField names the one field that a sample of a type with alternatives holds, minimal and full.
var onlyField = map[string][2]string{
	"Artifact":     {"discovery", "indictment"},
	"NodeResponse": {"failure", "artifact"},
}

// leftOut are fields that rules exclude beside the others of a full sample.
var leftOut = map[string]bool{
	"Verdict.final_classification": true, "Param.text": true, "Param.flag": true,
	"ContestResponse.failure": true, "EdgeResponse.failure": true, "JudgeResponse.failure": true,
}

// special are values that the rules of a type ask for, minimal and full.
var special = map[string][2]mt.Node{
	"Case.labels":                      {labels(), labels()},
	"LightAnswer.classification":       {mt.StringNode("pb001"), mt.StringNode("pb001")},
	"Verdict.decision":                 {mt.StringNode("acquit"), mt.StringNode("remand")},
	"DefenseBrief.plea_deal":           {mt.BoolNode(false), mt.BoolNode(false)},
	"AuditReport.global_score":         {mt.FloatNode(0), mt.FloatNode(2)},
	"LabelWeight.weight":               {mt.FloatNode(1), mt.FloatNode(0.75)},
	"CourtConfig.activation_threshold": {mt.FloatNode(1), mt.FloatNode(0.85)},
}

func labels() mt.Node { return mt.ListNode(mt.StringNode("pb001"), mt.StringNode("ab001")) }

// sampleStruct gives a valid value. number keeps the elements of a list apart.
func sampleStruct(s *model.StructType, how size, number int) mt.Node {
	n := mt.MapNode()
	for _, f := range s.Fields {
		apart := number > 0 && s.GoName == "SourceStatement" && f.WireName == "says"
		if apart || holds(s, f, how) {
			n.Entries = append(n.Entries, mt.F(f.WireName, sampleField(s, f, how, number)))
		}
	}
	return n
}

// holds says whether a sample of this size has the field.
func holds(s *model.StructType, f *model.Field, how size) bool {
	if only, ok := onlyField[s.GoName]; ok {
		return f.WireName == only[how]
	}
	if s.GoName == "Param" && f.WireName == "number" {
		return true
	}
	return f.Required() || (how == full && !leftOut[s.GoName+"."+f.WireName])
}

func sampleField(s *model.StructType, f *model.Field, how size, number int) mt.Node {
	if v, ok := special[s.GoName+"."+f.WireName]; ok {
		return v[how]
	}
	if f.WireName == "supports" {
		return mt.StringNode("pb001")
	}
	if field := s.GoName + "." + f.WireName; number > 0 && field == "ElementLikelihood.element" { // listed once
		return mt.StringNode(f.Type.Enum.Values[number].Value)
	}
	if f.WireName == "abi" {
		return mt.StringNode("1.0")
	}
	return sampleType(f.Type, f.WireName, how, number)
}

func sampleType(t *model.Type, name string, how size, number int) mt.Node {
	switch t.Kind {
	case model.String:
		return mt.StringNode(sampleText(t, name, how, number))
	case model.Enum:
		values := t.Enum.Values
		return mt.StringNode(values[int(how)*(len(values)-1)].Value)
	case model.Bool:
		return mt.BoolNode(how == full)
	case model.Int:
		return mt.IntNode(int64(sampleNumber(t, how, 300)))
	case model.Float:
		return mt.FloatNode(sampleNumber(t, how, 0.75))
	case model.Struct:
		return sampleStruct(t.Struct, how, number)
	case model.List:
		return mt.ListNode(sampleItems(t, name, how)...)
	default:
		n := mt.KeyedNode()
		for i, item := range sampleItems(t, name, how) {
			n.Entries = append(n.Entries, mt.F(name+" "+strconv.Itoa(i), item))
		}
		return n
	}
}

func sampleText(t *model.Type, name string, how size, number int) string {
	switch {
	case number > 0:
		return name + strconv.Itoa(number)
	case how == full:
		return name + " é"
	case t.NonEmpty:
		return "x"
	default:
		return ""
	}
}

// sampleNumber gives the least for a minimal sample, and within the bounds something that does not fit the shortest form for a full one.
func sampleNumber(t *model.Type, how size, wish float64) float64 {
	v := 0.0
	if t.Min != nil {
		v = *t.Min
	}
	if how == full {
		v = wish
		if t.Max != nil {
			v = min(v, *t.Max)
		}
		if t.Min != nil {
			v = max(v, *t.Min)
		}
	}
	return v
}

// sampleItems gives as few elements as may be, or two: a full one and a minimal one.
func sampleItems(t *model.Type, name string, how size) []mt.Node {
	if how == full {
		return []mt.Node{sampleType(t.Elem, name, full, 0), sampleType(t.Elem, name, minimal, 1)}
	}
	count, _ := t.Counts()
	if t.NonEmpty { // and has no least count then
		count = 1
	}
	items := make([]mt.Node, count)
	for i := range items {
		items[i] = sampleType(t.Elem, name, minimal, i)
	}
	return items
}

// with gives the map with the field set, in its place or at the end.
func with(n mt.Node, name string, value mt.Node) mt.Node {
	n.Entries = slices.Clone(n.Entries)
	if i := slices.IndexFunc(n.Entries, func(e mt.Entry) bool { return e.Key.Text == name }); i >= 0 {
		n.Entries[i].Value = value
		return n
	}
	return appended(n, mt.F(name, value))
}

// without gives the map without the field.
func without(n mt.Node, name string) mt.Node {
	n.Entries = slices.DeleteFunc(slices.Clone(n.Entries), func(e mt.Entry) bool { return e.Key.Text == name })
	return n
}

// appended gives the map with one more entry at the end.
func appended(n mt.Node, e mt.Entry) mt.Node {
	n.Entries = append(slices.Clip(n.Entries), e)
	return n
}

// canonicalStruct gives the one form in which a valid message is written.
func canonicalStruct(s *model.StructType, n mt.Node) mt.Node {
	out := mt.MapNode()
	for _, f := range s.Fields {
		var v mt.Node
		at := slices.IndexFunc(n.Entries, func(e mt.Entry) bool { return e.Key.Text == f.WireName })
		there := at >= 0
		if there {
			v = n.Entries[at].Value
		}
		switch {
		case !there && f.HasDefault:
			v = mt.StringNode(f.Default)
		case !there, f.Optional && !f.Pointer && isZero(v):
			continue
		default:
			v = canonical(f.Type, v)
		}
		out.Entries = append(out.Entries, mt.F(f.WireName, v))
	}
	return out
}

func canonical(t *model.Type, n mt.Node) mt.Node {
	switch t.Kind {
	case model.Struct:
		return canonicalStruct(t.Struct, n)
	case model.List:
		out := mt.ListNode()
		for _, item := range n.Items {
			out.Items = append(out.Items, canonical(t.Elem, item))
		}
		return out
	case model.Map:
		out := mt.KeyedNode()
		for _, e := range n.Entries {
			out.Entries = append(out.Entries, mt.F(e.Key.Text, canonical(t.Elem, e.Value)))
		}
		sort.Slice(out.Entries, func(i, j int) bool { return out.Entries[i].Key.Text < out.Entries[j].Key.Text })
		return out
	case model.Float:
		v := floatOf(n)
		if v == 0 {
			v = 0 // -0 is written as 0
		}
		return mt.FloatNode(v)
	case model.Int:
		if n.Kind == mt.Uint {
			return mt.IntNode(int64(n.Uint))
		}
		return mt.IntNode(n.Int)
	case model.Bool:
		return n
	default:
		return mt.StringNode(n.Text)
	}
}

func floatOf(n mt.Node) float64 {
	switch n.Kind {
	case mt.Int:
		return float64(n.Int)
	case mt.Uint:
		return float64(n.Uint)
	default:
		return n.Float
	}
}

func isZero(n mt.Node) bool { return n.Text == "" && len(n.Items) == 0 && len(n.Entries) == 0 }
