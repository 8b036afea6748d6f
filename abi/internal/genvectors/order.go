package main

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// order adds messages that show in which order problems of one value stand,
// and how the paths of odd keys are written.
func (s *set) order(good mt.Node) {
	for _, f := range s.of.Fields {
		at := root.field(f.WireName)
		switch f.Type.Kind {
		case model.List:
			s.listOrder(good, f, at)
		case model.Map:
			s.mapOrder(good, f, at)
		default:
		}
	}
	s.oddKeys(good)
}

func (s *set) listOrder(good mt.Node, f *model.Field, at path) {
	if least := f.Type.MinCount; least != nil {
		s.reject("several: "+f.WireName+" too few, and one nil", with(good, f.WireName, mt.ListNode(mt.NilNode())),
			at.is(abi.CodeBadCount), at.index(0).is(abi.CodeNil))
	}
	if f.Type.Long() {
		s.overfull(good, f, at)
	}
	if f.Type.Elem.Kind != model.Struct {
		return
	}
	// Each element of the wrong kind, then with two problems of its own.
	inner := f.Type.Elem.Struct
	bad := with(sampleStruct(inner, minimal, 2), unknown, mt.IntNode(1))
	two := []problem{at.index(1).field(unknown).is(abi.CodeUnknownField)}
	if first := inner.Fields[0]; first.Required() {
		bad = without(bad, first.WireName)
		two = append(two, at.index(1).field(first.WireName).is(abi.CodeMissingField))
	}
	problems := append([]problem{at.index(0).is(abi.CodeWrongType)}, two...)
	s.reject("several: in two elements of "+f.WireName, with(good, f.WireName, mt.ListNode(mt.IntNode(1), bad)), problems...)
}

// overfull fills a long list with one nil more than it may hold: valid elements would make a large message.
func (s *set) overfull(good mt.Node, f *model.Field, at path) {
	most := *f.Type.MaxCount
	nils := mt.ListNode(slices.Repeat([]mt.Node{mt.NilNode()}, most+1)...)
	problems := []problem{at.is(abi.CodeBadCount)}
	for i := range abi.MaxProblems - 1 {
		problems = append(problems, at.index(i).is(abi.CodeNil))
	}
	s.add(vector{
		Name: "several: " + f.WireName + " too many, and all nil", Hex: hex.EncodeToString(with(good, f.WireName, nils).Bytes()),
		Problems: problems, Omitted: most + 1 - len(problems) + 1,
	})
}

func (s *set) mapOrder(good mt.Node, f *model.Field, at path) {
	s.reject("several: a nil in "+f.WireName+", then its key again", with(good, f.WireName, mt.KeyedNode(
		mt.F("k", mt.NilNode()), mt.F("k", mt.NilNode()))),
		at.key("k").is(abi.CodeNil), at.key("k").is(abi.CodeDuplicateKey))
	if most := f.Type.MaxCount; most != nil {
		many := manyEntries(f, *most+1)
		many.Entries[0].Value = mt.NilNode()
		s.reject("several: "+f.WireName+" too many, and one nil", with(good, f.WireName, many),
			at.is(abi.CodeBadCount), at.key(many.Entries[0].Key.Text).is(abi.CodeNil))
	}
}

// oddKeys shows unknown keys that are escaped or cut in paths.
func (s *set) oddKeys(good mt.Node) {
	const shown = 64
	odd := "a\"b\\c\nd\x00e\x7ff\u200bg\u00e9"
	s.reject("unknown_field of characters that are escaped", with(good, odd, mt.IntNode(1)), root.key(odd).is(abi.CodeUnknownField))
	long := strings.Repeat("x", shown)
	s.reject("unknown_field of 64 bytes", with(good, long, mt.IntNode(1)), root.field(long).is(abi.CodeUnknownField))
	s.reject("unknown_field of 65 bytes", with(good, long+"x", mt.IntNode(1)), root.key(long+"...").is(abi.CodeUnknownField))
	wide := long[:shown-1]
	s.reject("unknown_field with a character across byte 64", with(good, wide+"éx", mt.IntNode(1)), root.key(wide+"...").is(abi.CodeUnknownField))
}
