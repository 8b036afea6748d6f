package main

import (
	"sort"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// canonicalStruct gives the one form in which a valid message is written.
func canonicalStruct(s *model.StructType, n mt.Node) mt.Node {
	out := mt.MapNode()
	for _, f := range s.Fields {
		v, there := entry(n, f.WireName)
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
		v := number(n)
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

func number(n mt.Node) float64 {
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

func entry(n mt.Node, name string) (mt.Node, bool) {
	for _, e := range n.Entries {
		if e.Key.Text == name {
			return e.Value, true
		}
	}
	return mt.Node{}, false
}
