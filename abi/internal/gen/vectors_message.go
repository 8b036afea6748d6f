package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

const root path = ""

// unknown is a field that no type has.
const unknown = "no_such_field"

// message adds what can be wrong with a message as a whole.
func (s *set) message() {
	good := sampleStruct(s.of, minimal, 0)
	s.notAMap()
	s.unknownFields(good)
	s.wrongKeys(good)
	s.trailing(good)
	s.cutShort(good)
	s.falseLengths(good)
	s.reserved(good)
	s.deep(good)
	s.several(good)
	for _, f := range s.of.Fields {
		switch at := root.field(f.WireName); f.Type.Kind { //nolint:exhaustive // the others hold one value
		case model.List:
			s.listOrder(good, f, at)
		case model.Map:
			s.mapOrder(good, f, at)
		}
	}
	s.oddKeys(good)
	if s.of.GoName == "Discovery" {
		s.tooMany(good)
	}
	if len(good.Bytes()) == 1 {
		good = with(good, s.of.Fields[0].WireName, sampleField(s.of, s.of.Fields[0], full, 0))
	}
	size := len(good.Bytes())
	s.add(vector{Name: "too_large by a byte", Hex: hexOf(good), Limit: size - 1, Problems: []problem{root.is(abi.CodeTooLarge)}})
	s.add(vector{Name: "just within the limit", Hex: hexOf(good), Limit: size, Valid: true, Canonical: hexOf(canonicalStruct(s.of, good))})
}

func (s *set) notAMap() {
	s.rejectBytes("truncated: no bytes at all", nil, root.is(abi.CodeTruncated))
	for _, v := range []struct {
		what  string
		value mt.Node
		code  abi.Code
	}{
		{"nil", mt.NilNode(), abi.CodeNil},
		{"ext", mt.ExtensionNode(1, "abcd"), abi.CodeExtension},
		{"list", mt.ListNode(), abi.CodeWrongType},
		{"string", mt.StringNode("x"), abi.CodeWrongType},
		{"integer", mt.IntNode(1), abi.CodeWrongType},
		{"bin", mt.BinaryNode("\x80"), abi.CodeWrongType},
	} {
		s.reject(string(v.code)+": the message is a "+v.what, v.value, root.is(v.code))
	}
}

func (s *set) unknownFields(good mt.Node) {
	at := root.field(unknown).is(abi.CodeUnknownField)
	last := with(good, unknown, mt.IntNode(1))
	first := last
	first.Entries = append([]mt.Entry{mt.F(unknown, mt.NilNode())}, good.Entries...)
	s.reject("unknown_field last", last, at)
	s.reject("unknown_field first", first, at)
	s.reject("unknown_field that holds a tree", with(good, unknown, mt.MapNode(
		mt.F("a", mt.ListNode(mt.FloatNode(1), mt.ExtensionNode(1, "a"), mt.StringNode("\xff"))),
		mt.Entry{Key: mt.NilNode(), Value: mt.BinaryNode("x")})), at)
	s.reject("unknown_field twice", appended(last, mt.F(unknown, mt.IntNode(2))), at, at)
	name := s.of.Fields[0].WireName
	for _, v := range [][2]string{
		{"in capitals", strings.ToUpper(name)},
		{"by its Go name", s.of.Fields[0].GoName},
		{"with a space after", name + " "},
		{"without a name", ""},
	} {
		// What is no name of a field stands as a key, quoted.
		s.reject("unknown_field "+v[0], with(good, v[1], mt.IntNode(1)), root.key(v[1]).is(abi.CodeUnknownField))
	}
}

func (s *set) wrongKeys(good mt.Node) {
	for _, v := range []struct {
		what string
		key  mt.Node
		code abi.Code
	}{
		{"integer", mt.IntNode(1), abi.CodeWrongType},
		{"nil", mt.NilNode(), abi.CodeWrongType},
		{"bin", mt.BinaryNode(s.of.Fields[0].WireName), abi.CodeWrongType},
		{"ext", mt.ExtensionNode(1, "a"), abi.CodeWrongType},
		{"list", mt.ListNode(mt.IntNode(1)), abi.CodeWrongType},
		{"map", mt.MapNode(mt.F("a", mt.IntNode(1))), abi.CodeWrongType},
		{"string of no UTF-8", mt.StringNode("\xff\xfe"), abi.CodeInvalidUTF8},
	} {
		message := appended(good, mt.Entry{Key: v.key, Value: mt.StringNode("x")})
		s.reject(string(v.code)+": a key that is a "+v.what, message, root.is(v.code))
	}
}

func (s *set) trailing(good mt.Node) {
	at := root.is(abi.CodeTrailingBytes)
	s.rejectBytes("trailing_bytes: nil", append(good.Bytes(), 0xc0), at)
	s.rejectBytes("trailing_bytes: the message again", append(good.Bytes(), good.Bytes()...), at)
	s.rejectBytes("trailing_bytes: half a string", append(good.Bytes(), 0xd9), at)
	s.rejectBytes("trailing_bytes: the reserved byte", append(good.Bytes(), 0xc1), at)
	bad := with(good, unknown, mt.IntNode(1)).Bytes()
	s.rejectBytes("trailing_bytes after another problem", append(bad, 0), root.field(unknown).is(abi.CodeUnknownField), at)
}

// cutShort cuts the full sample at offsets all over it, the last byte among them.
func (s *set) cutShort(good mt.Node) {
	message := everyNode(sampleStruct(s.of, full, 0), longStrings)
	if message.HeaderBytes() == len(message.Bytes()) {
		message = good
	}
	b := message.Bytes()
	const cuts = 12
	seen := map[int]bool{0: true}
	for i := 1; i <= cuts; i++ {
		end := i * (len(b) - 1) / cuts
		if !seen[end] {
			seen[end] = true
			found := cut(message, end)
			s.rejectBytes(string(found.Code)+": cut after "+strconv.Itoa(end)+" bytes", b[:end], found)
		}
	}
	s.cutHeads()
}

// heads are the first bytes of values of a kind whose rest is missing.
var heads = map[model.Kind]string{
	model.String: "\xd9", model.Enum: "\xda\x00", model.Bool: "", model.Int: "\xcd\x01",
	model.Float: "\xcb\x00", model.List: "\xdc\x00", model.Map: "\xde\x00", model.Struct: "\xdf\x00\x00",
}

// cutHeads ends the message within the head of each field's value, and before it.
func (s *set) cutHeads() {
	for _, f := range s.of.Fields {
		message, at := mt.MapNode(mt.F(f.WireName, mt.RawNode(""))), root.field(f.WireName).is(abi.CodeTruncated)
		if head := heads[f.Type.Kind]; head != "" {
			s.reject("truncated: within the head of "+f.WireName, with(message, f.WireName, mt.RawNode(head)), at)
			continue
		}
		// One byte is too few for a map of an entry, unless the key is there.
		s.reject("truncated: no "+f.WireName+" after its key", message, at)
	}
	s.cutNumbers()
	name := s.of.Fields[0].WireName
	s.reject("truncated: no key", mt.MapNode(mt.F(name, mt.RawNode("\xc0"))).Claiming(2),
		root.field(name).is(abi.CodeNil), root.is(abi.CodeTruncated))
}

// cutNumbers ends the message within numbers of several widths, asked for and skipped.
func (s *set) cutNumbers() {
	for _, code := range []byte{0xca, 0xcb, 0xcc, 0xcf, 0xd1, 0xd3} {
		value := mt.RawNode(string([]byte{code}))
		at := root.field(unknown)
		s.reject("truncated: within an unknown number "+strconv.FormatInt(int64(code), 16), mt.MapNode(mt.F(unknown, value)),
			at.is(abi.CodeUnknownField), at.is(abi.CodeTruncated))
		for _, f := range s.of.Fields {
			if f.Type.Kind == model.Float || f.Type.Kind == model.Int && code >= 0xcc {
				s.reject("truncated: within "+f.WireName+", a number "+strconv.FormatInt(int64(code), 16), mt.MapNode(mt.F(f.WireName, value)),
					root.field(f.WireName).is(abi.CodeTruncated))
			}
		}
	}
}

// longStrings gives strings heads of one byte more, so that cuts fall into them.
func longStrings(n mt.Node) mt.Node {
	n.Wide = n.Kind == mt.String && len(n.Text)%2 == 1
	return n
}

func (s *set) falseLengths(good mt.Node) {
	const huge = 0xffffffff
	s.reject("bad_length: a map of 2^32-1 entries", good.Claiming(huge), root.is(abi.CodeBadLength))
	s.reject("bad_length: a map of 65535 entries", good.Claiming(0xffff), root.is(abi.CodeBadLength))
	s.reject("bad_length: a key of 2^32-1 bytes", appended(good, mt.Entry{Key: mt.StringNode("x").Claiming(huge), Value: mt.NilNode()}), root.is(abi.CodeBadLength))
	inside := root.field(unknown)
	for _, v := range []struct {
		what  string
		value mt.Node
	}{
		{"string of 31 bytes", mt.StringNode("x").Claiming(31)},
		{"string of 2^32-1 bytes", mt.StringNode("x").Claiming(huge)},
		{"bin of 2^32-1 bytes", mt.BinaryNode("x").Claiming(huge)},
		{"list of 2^32-1 elements", mt.ListNode().Claiming(huge)},
		{"map of 2^32-1 entries", mt.MapNode().Claiming(huge)},
		{"map of 15 entries", mt.MapNode(mt.F("a", mt.IntNode(1))).Claiming(15)},
	} {
		s.reject("bad_length: an unknown "+v.what, with(good, unknown, v.value), inside.is(abi.CodeUnknownField), inside.is(abi.CodeBadLength))
	}
	text := mt.StringNode("x").Claiming(huge)
	broken := map[model.Kind]mt.Node{
		model.String: text, model.Enum: text, model.List: mt.ListNode().Claiming(huge), model.Map: mt.MapNode().Claiming(huge), model.Struct: mt.MapNode().Claiming(huge),
	}
	for _, f := range s.of.Fields {
		if value, ok := broken[f.Type.Kind]; ok {
			s.reject("bad_length: "+f.WireName, lastIs(good, f, value), root.field(f.WireName).is(abi.CodeBadLength))
		}
	}
}

// lastIs gives the message with the field moved to its end, where a broken value breaks nothing else.
func lastIs(good mt.Node, f *model.Field, value mt.Node) mt.Node {
	return appended(without(good, f.WireName), mt.F(f.WireName, value))
}

func (s *set) reserved(good mt.Node) {
	raw := mt.RawNode("\xc1")
	s.reject("reserved_byte: the message", raw, root.is(abi.CodeReservedByte))
	s.reject("reserved_byte: a key", appended(good, mt.Entry{Key: raw, Value: mt.IntNode(1)}), root.is(abi.CodeReservedByte))
	at := root.field(unknown)
	s.reject("reserved_byte: in a skipped value", with(good, unknown, mt.ListNode(mt.IntNode(1), raw)), at.is(abi.CodeUnknownField), at.is(abi.CodeReservedByte))
	for _, f := range s.of.Fields {
		s.reject("reserved_byte: "+f.WireName, lastIs(good, f, raw), root.field(f.WireName).is(abi.CodeReservedByte))
	}
}

func (s *set) deep(good mt.Node) {
	at := root.field(unknown)
	lists := func(n int) mt.Node {
		v := mt.IntNode(1)
		for range n {
			v = mt.ListNode(v)
		}
		return v
	}
	maps := mt.IntNode(1)
	for range abi.MaxDepth {
		maps = mt.MapNode(mt.F("a", maps))
	}
	s.reject("unknown_field as deep as may be", with(good, unknown, lists(abi.MaxDepth-1)), at.is(abi.CodeUnknownField))
	s.reject("too_deep by a list", with(good, unknown, lists(abi.MaxDepth)), at.is(abi.CodeUnknownField), at.is(abi.CodeTooDeep))
	s.reject("too_deep by a map", with(good, unknown, maps), at.is(abi.CodeUnknownField), at.is(abi.CodeTooDeep))
	s.reject("too_deep by 300 lists", with(good, unknown, lists(300)), at.is(abi.CodeUnknownField), at.is(abi.CodeTooDeep))
}

// several adds messages with many problems, which are all reported in the
// order in which they stand, those that are missing at the end of their map.
func (s *set) several(good mt.Node) {
	var nils, missing []problem
	all := mt.MapNode()
	for _, f := range s.of.Fields {
		all.Entries = append(all.Entries, mt.F(f.WireName, mt.NilNode()))
		nils = append(nils, root.field(f.WireName).is(abi.CodeNil))
		if f.Required() {
			missing = append(missing, root.field(f.WireName).is(abi.CodeMissingField))
		}
	}
	s.reject("several: every field nil", all, nils...)
	if len(missing) > 0 {
		if s.of.GoName == "Param" {
			missing = append(missing, root.is(abi.CodeExactlyOne))
		}
		s.reject("several: every required field missing", mt.MapNode(), missing...)
		s.reject("several: an unknown field alone", mt.MapNode(mt.F(unknown, mt.IntNode(1))),
			append([]problem{root.field(unknown).is(abi.CodeUnknownField)}, missing...)...)
	}
	backwards := reversed(all)
	backwards.Entries = append([]mt.Entry{mt.F(unknown, mt.BoolNode(true))}, backwards.Entries...)
	backwards.Entries = append(backwards.Entries, mt.F(s.of.Fields[0].WireName, mt.IntNode(1)))
	problems := []problem{root.field(unknown).is(abi.CodeUnknownField)}
	for _, one := range slices.Backward(nils) {
		problems = append(problems, one)
	}
	problems = append(problems, root.field(s.of.Fields[0].WireName).is(abi.CodeDuplicateKey))
	s.reject("several: unknown, every field nil from the last to the first, one twice", backwards, problems...)
	s.rejectBytes("several: a problem, then the end", append(with(good, unknown, mt.IntNode(1)).Claiming(uint32(len(good.Entries)+2)).Bytes(), 0xa1),
		root.field(unknown).is(abi.CodeUnknownField), root.is(abi.CodeBadLength))
}

// tooMany shows that after abi.MaxProblems the rest is only counted.
func (s *set) tooMany(good mt.Node) {
	for _, over := range []int{0, 1, 50} {
		list := mt.ListNode()
		var listed []problem
		for i := range abi.MaxProblems + over {
			list.Items = append(list.Items, mt.NilNode())
			if i < abi.MaxProblems {
				listed = append(listed, path("missing").index(i).is(abi.CodeNil))
			}
		}
		s.add(vector{
			Name: "several: " + strconv.Itoa(abi.MaxProblems+over) + " problems", Hex: hexOf(with(good, "missing", list)),
			Problems: listed, Omitted: over,
		})
	}
}

// listOrder adds messages that show in which order problems of one list stand.
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
		Name: "several: " + f.WireName + " too many, and all nil", Hex: hexOf(with(good, f.WireName, nils)),
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
