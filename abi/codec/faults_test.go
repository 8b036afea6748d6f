package codec_test

import (
	"math"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// place leads to a value of a message, or to one that a fault adds.
type place = abi.Path

// read is a value that a rule looks at: whether it is there, or with all that it holds.
type read struct {
	at   place
	deep bool
}

// fault is one thing that can be made wrong with a message.
type fault struct {
	want abi.Problem // path and code of the problem that it causes alone
	// writes are the places that it changes. Another fault may be at none of them, inside or around.
	writes []place
	// reads are what a rule needs to find it, beside writes.
	reads []read
	apply func(root *mt.Node)
}

// apart says whether neither fault touches what the other one changes or needs.
func apart(a, b *fault) bool {
	return !a.disturbs(b) && !b.disturbs(a)
}

func (f *fault) disturbs(other *fault) bool {
	for _, w := range f.writes {
		if slices.ContainsFunc(other.writes, func(o place) bool { return within(w, o) || within(o, w) }) {
			return true
		}
		if slices.ContainsFunc(other.reads, func(r read) bool { return within(r.at, w) || (r.deep && within(w, r.at)) }) {
			return true
		}
	}
	return false
}

// within says whether p is at the place outer or inside it.
func within(p, outer place) bool {
	return len(p) >= len(outer) && slices.Equal(p[:len(outer)], outer)
}

func down(p place, steps ...abi.PathElement) place { return append(slices.Clip(p), steps...) }

// find gives the node at a place that is there.
func find(n *mt.Node, p place) *mt.Node {
	for _, step := range p {
		if i, ok := step.IsIndex(); ok {
			n = &n.Items[i]
			continue
		}
		i := entryOf(n, step.Name())
		n = &n.Entries[i].Value
	}
	return n
}

func entryOf(n *mt.Node, name string) int {
	return slices.IndexFunc(n.Entries, func(e mt.Entry) bool { return e.Key.Kind == mt.String && e.Key.Text == name })
}

// member gives the value of a field, and whether it is there.
func member(n *mt.Node, name string) (*mt.Node, bool) {
	i := entryOf(n, name)
	if i < 0 {
		return nil, false
	}
	return &n.Entries[i].Value, true
}

// put sets an entry of the map at a place, or adds it.
func put(p place, name string, v mt.Node) func(*mt.Node) {
	return func(root *mt.Node) {
		n := find(root, p)
		if i := entryOf(n, name); i >= 0 {
			n.Entries[i].Value = v
			return
		}
		n.Entries = append(n.Entries, mt.F(name, v))
	}
}

func remove(p place, name string) func(*mt.Node) {
	return func(root *mt.Node) {
		n := find(root, p)
		i := entryOf(n, name)
		n.Entries = slices.Delete(n.Entries, i, i+1)
	}
}

func addEntry(p place, e mt.Entry) func(*mt.Node) {
	return func(root *mt.Node) {
		n := find(root, p)
		n.Entries = append(n.Entries, e)
	}
}

func replace(p place, v mt.Node) func(*mt.Node) {
	return func(root *mt.Node) { *find(root, p) = v }
}

// faults lists what can be made wrong with a valid message of a type.
type faults struct {
	model *model.Model
	root  mt.Node
	plain []*fault // of the encoding and of single values
	ruled []*fault // of rules
}

func faultsOf(m *model.Model, s *model.StructType, root mt.Node) *faults {
	f := &faults{model: m, root: root}
	f.value(&model.Type{Kind: model.Struct, GoName: s.GoName, Struct: s}, nil, &f.root)
	return f
}

func (f *faults) add(at place, code abi.Code, apply func(*mt.Node), writes ...place) {
	f.plain = append(f.plain, &fault{want: abi.Problem{Path: at, Code: code}, writes: writes, apply: apply})
}

func (f *faults) becomes(at place, code abi.Code, v mt.Node) { f.add(at, code, replace(at, v), at) }

// others is a value of another kind for each.
var others = map[model.Kind]mt.Node{
	model.String: mt.IntNode(1), model.Enum: mt.ListNode(), model.Bool: mt.IntNode(1), model.Int: mt.FloatNode(1), model.Float: mt.StringNode("1"),
	model.List: mt.StringNode("x"), model.Map: mt.ListNode(), model.Struct: mt.ListNode(mt.MapNode()),
}

func (f *faults) value(t *model.Type, at place, n *mt.Node) {
	f.becomes(at, abi.CodeNil, mt.NilNode())
	f.becomes(at, abi.CodeExtension, mt.ExtensionNode(1, "abcd"))
	f.becomes(at, abi.CodeWrongType, others[t.Kind])
	switch t.Kind {
	case model.String, model.Enum:
		f.becomes(at, abi.CodeInvalidUTF8, mt.StringNode("a\xff"))
		f.becomes(at, abi.CodeBinary, mt.BinaryNode("x"))
		if t.Kind == model.Enum {
			f.becomes(at, abi.CodeInvalidValue, mt.StringNode("nonsense"))
		}
		if t.NonEmpty {
			f.becomes(at, abi.CodeEmpty, mt.StringNode(""))
		}
	case model.Int:
		f.becomes(at, abi.CodeOutOfRange, mt.UintNode(math.MaxUint64))
		f.bounds(t, at, func(v float64) mt.Node { return mt.IntNode(int64(v)) })
	case model.Float:
		f.becomes(at, abi.CodeNotFinite, mt.FloatNode(math.NaN()))
		f.bounds(t, at, mt.FloatNode)
	case model.List:
		f.count(t, at, n)
		for i := range n.Items {
			f.value(t.Elem, down(at, abi.Index(i)), &n.Items[i])
		}
	case model.Map:
		f.count(t, at, n)
		f.keys(at)
		for i := range n.Entries {
			key := n.Entries[i].Key.Text
			if len(key) > 64 { // a path has only the beginning of it
				continue
			}
			inside := down(at, abi.Key(key))
			f.add(inside, abi.CodeDuplicateKey, addEntry(at, n.Entries[i]), inside)
			f.value(t.Elem, inside, &n.Entries[i].Value)
		}
	case model.Struct:
		f.object(t.Struct, at, n)
	case model.Bool:
	}
}

func (f *faults) bounds(t *model.Type, at place, node func(float64) mt.Node) {
	if t.Min != nil {
		f.becomes(at, abi.CodeOutOfRange, node(*t.Min-1))
	}
	if t.Max != nil {
		f.becomes(at, abi.CodeOutOfRange, node(*t.Max+1))
	}
}

func (f *faults) count(t *model.Type, at place, n *mt.Node) {
	if t.NonEmpty {
		empty := *n
		empty.Items, empty.Entries = nil, nil
		f.becomes(at, abi.CodeEmpty, empty)
	}
	if t.MaxCount == nil || t.Long() || len(n.Items)+len(n.Entries) == 0 {
		return
	}
	more := *t.MaxCount + 1 - len(n.Items) - len(n.Entries)
	f.add(at, abi.CodeBadCount, func(root *mt.Node) {
		list := find(root, at)
		for i := range more {
			if t.Kind == model.List {
				list.Items = append(list.Items, n.Items[0])
			} else {
				list.Entries = append(list.Entries, mt.F("more"+strconv.Itoa(i), n.Entries[0].Value))
			}
		}
	}, down(at, abi.Index(*t.MaxCount)))
}

// keys adds keys that are none, of which the problem is the map's.
func (f *faults) keys(at place) {
	added := func(i int) place { return down(at, abi.Index(i)) }
	f.add(at, abi.CodeWrongType, addEntry(at, mt.Entry{Key: mt.IntNode(7), Value: mt.StringNode("x")}), added(-1))
	f.add(at, abi.CodeInvalidUTF8, addEntry(at, mt.Entry{Key: mt.StringNode("\xfe"), Value: mt.ListNode()}), added(-2))
}

func (f *faults) object(s *model.StructType, at place, n *mt.Node) {
	f.keys(at)
	unknown := down(at, abi.Field("no_such_field"))
	f.add(unknown, abi.CodeUnknownField, addEntry(at, mt.F("no_such_field", mt.MapNode(mt.F("a", mt.NilNode())))), unknown)
	for _, field := range s.Fields {
		inside := down(at, abi.Field(field.WireName))
		v, there := member(n, field.WireName)
		if !there {
			f.add(inside, abi.CodeNil, put(at, field.WireName, mt.NilNode()), inside)
			continue
		}
		if field.Required() {
			f.add(inside, abi.CodeMissingField, remove(at, field.WireName), inside)
		}
		f.add(inside, abi.CodeDuplicateKey, addEntry(at, mt.F(field.WireName, *v)), inside)
		f.value(field.Type, inside, v)
	}
	if s.HasRules {
		f.rules(s, at, n)
	}
}
