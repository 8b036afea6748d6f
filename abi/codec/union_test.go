package codec_test

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// combinations is how many sets of faults are tried of each value: a few in the gate, SHADOWCOURT_FAULTS in `make faults`.
func combinations(t *testing.T) int {
	t.Helper()
	n := 60
	if text := os.Getenv("SHADOWCOURT_FAULTS"); text != "" {
		n = must.Get(strconv.Atoi(text))(t, "SHADOWCOURT_FAULTS")
	}
	return n
}

// For every type of the contract, faults at different places of a value are reported as each is alone: none is hidden, moved or
// invented, in any order of the keys. The vectors show how rules go with them.
func TestAccept_FX3_ProblemsOfIndependentFaultsAreTheUnion(t *testing.T) {
	t.Parallel()
	n := combinations(t)
	for i, message := range codec.Messages {
		t.Run(message.Name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(13, uint64(i)))
			for _, valid := range samples(t, message.Name, 4) {
				root := must.Get(mt.Parse(valid))(t)
				u := &union{message: message, root: root, random: random}
				u.value(t, nil, &root)
				if len(u.faults) < 10 {
					t.Fatalf("only %d faults of %x", len(u.faults), valid)
				}
				for range n {
					u.combine(t)
				}
			}
		})
	}
}

// fault is one change of a message that causes one problem, and not by a rule.
type fault struct {
	at    abi.Path
	want  string
	apply func(root *mt.Node)
}

// union compares what several faults cause with what each causes alone.
type union struct {
	message codec.Message
	root    mt.Node
	random  *rand.Rand
	faults  []fault
}

// value collects the faults of a value and of all that it holds: the changes of which the decoder reports one problem.
func (u *union) value(t *testing.T, at abi.Path, n *mt.Node) {
	t.Helper()
	for _, other := range []mt.Node{
		mt.NilNode(), mt.ExtensionNode(1, "abcd"), mt.BinaryNode("x"), mt.BoolNode(true), mt.StringNode("a\xff"), mt.StringNode(""),
		mt.UintNode(math.MaxUint64), mt.IntNode(-1), mt.FloatNode(math.NaN()), mt.FloatNode(1e6), mt.ListNode(mt.MapNode()), mt.KeyedNode(),
	} {
		u.add(t, at, at, func(root *mt.Node) { *find(root, at) = other })
	}
	for i := range n.Items {
		u.value(t, down(at, abi.Index(i)), &n.Items[i])
	}
	entry := func(e mt.Entry, path, place abi.Path) {
		u.add(t, path, place, func(root *mt.Node) {
			n := find(root, at)
			n.Entries = append(n.Entries, e)
		})
	}
	if n.Kind == mt.Map {
		entry(mt.Entry{Key: mt.IntNode(7), Value: mt.StringNode("x")}, at, down(at, abi.Index(-1)))
		entry(mt.Entry{Key: mt.StringNode("\xfe"), Value: mt.ListNode()}, at, down(at, abi.Index(-2)))
		unknown := down(at, abi.Field("no_such_field"))
		entry(mt.F("no_such_field", mt.MapNode(mt.F("a", mt.NilNode()))), unknown, unknown)
	}
	for i := range n.Entries {
		e := n.Entries[i]
		inside := down(at, abi.Field(e.Key.Text))
		entry(e, inside, inside)
		u.add(t, inside, inside, func(root *mt.Node) {
			n := find(root, at)
			n.Entries = slices.DeleteFunc(n.Entries, func(other mt.Entry) bool { return other.Key.Text == e.Key.Text })
		})
		u.value(t, inside, &n.Entries[i].Value)
	}
}

// add keeps a change of a place if it alone causes one problem with a path, and no rule finds it.
func (u *union) add(t *testing.T, path, place abi.Path, apply func(*mt.Node)) {
	t.Helper()
	f := fault{at: place, apply: apply}
	found := u.problems(t, []fault{f})
	if len(found) == 1 && strings.HasSuffix(plainPath(found[0]), " "+plainPath(path.String())) && !slices.Contains(ruled, codeOf(found[0])) {
		f.want = found[0]
		u.faults = append(u.faults, f)
	}
}

// ruled are the codes of SPEC.md §9.1: a rule looks at other places, too.
var ruled = []abi.Code{
	abi.CodeExactlyOne, abi.CodeDuplicateLabel, abi.CodeDuplicateName, abi.CodeDuplicateID, abi.CodeNotALabel, abi.CodeClassification,
	abi.CodeRemandFeedback, abi.CodeConcedesAndFights, abi.CodeThresholds, abi.CodeProbability, abi.CodeGlobalScore,
}

func codeOf(problem string) abi.Code {
	code, _, _ := strings.Cut(problem, " ")
	return abi.Code(code)
}

// plainPath writes keys of maps as fields.
func plainPath(path string) string { return strings.NewReplacer(`["`, ".", `"]`, "").Replace(path) }

func (u *union) combine(t *testing.T) {
	t.Helper()
	var chosen []fault
	for tries := 0; len(chosen) < 2+u.random.IntN(3) && tries < 50; tries++ {
		f := u.faults[u.random.IntN(len(u.faults))]
		if !slices.ContainsFunc(chosen, func(c fault) bool { return within(c.at, f.at) || within(f.at, c.at) }) {
			chosen = append(chosen, f)
		}
	}
	var want []string
	for _, f := range chosen {
		want = append(want, f.want)
	}
	slices.Sort(want)
	if got := u.problems(t, chosen); !slices.Equal(got, want) {
		t.Fatalf("faults together:\n%s\neach alone:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// problems of the message with the faults, its keys in any order.
func (u *union) problems(t *testing.T, chosen []fault) []string {
	t.Helper()
	root := copyOf(u.root)
	for _, f := range chosen {
		f.apply(&root)
	}
	root = copyOf(root) // what faults add is part of the valid message
	u.shuffle(&root)
	_, rejected := decode(t, u.message, root.Bytes())
	if rejected == nil {
		return nil
	}
	var out []string
	for _, p := range rejected.Problems {
		out = append(out, string(p.Code)+" "+p.Path.String())
	}
	slices.Sort(out)
	return out
}

func (u *union) shuffle(n *mt.Node) {
	for i := range n.Items {
		u.shuffle(&n.Items[i])
	}
	u.random.Shuffle(len(n.Entries), func(i, j int) { n.Entries[i], n.Entries[j] = n.Entries[j], n.Entries[i] })
	for i := range n.Entries {
		u.shuffle(&n.Entries[i].Value)
	}
}

// within says whether p is at the place outer or inside it.
func within(p, outer abi.Path) bool {
	return len(p) >= len(outer) && slices.Equal(p[:len(outer)], outer)
}

func down(p abi.Path, step abi.PathElement) abi.Path { return append(slices.Clip(p), step) }

// find gives the node at a place that is there.
func find(n *mt.Node, p abi.Path) *mt.Node {
	for _, step := range p {
		if i, ok := step.IsIndex(); ok {
			n = &n.Items[i]
			continue
		}
		n = &n.Entries[slices.IndexFunc(n.Entries, func(e mt.Entry) bool { return e.Key.Text == step.Name() })].Value
	}
	return n
}

func copyOf(n mt.Node) mt.Node {
	n.Items, n.Entries = slices.Clone(n.Items), slices.Clone(n.Entries)
	for i := range n.Items {
		n.Items[i] = copyOf(n.Items[i])
	}
	for i := range n.Entries {
		n.Entries[i].Value = copyOf(n.Entries[i].Value)
	}
	return n
}
