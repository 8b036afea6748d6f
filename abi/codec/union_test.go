package codec_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// combinations is how many sets of faults are tried of each value: a few in
// the gate, SHADOWCOURT_FAULTS in `make faults`.
func combinations(t *testing.T) int {
	t.Helper()
	n := 60
	if text := os.Getenv("SHADOWCOURT_FAULTS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal("SHADOWCOURT_FAULTS: ", err)
		}
	}
	return n
}

// For every type of the contract, faults at different places of a value are
// reported as each is alone: none is hidden, moved or invented, in any order
// of the keys.
func TestAccept_FX3_ProblemsOfIndependentFaultsAreTheUnion(t *testing.T) {
	t.Parallel()
	m, n := loadModel(t), combinations(t)
	for _, s := range m.Structs {
		if s.HasRules && breaks[s.GoName] == nil {
			t.Errorf("%s has rules: say in breaks how each is broken", s.WireName)
		}
	}
	if t.Failed() {
		return
	}
	for i, message := range codec.Messages {
		t.Run(message.Name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(13, uint64(i)))
			for seed := range 4 {
				root, err := mt.Parse(sample(m, message, seed))
				if err != nil {
					t.Fatal(err)
				}
				u := &union{message: message, faults: faultsOf(m, m.Struct(message.Name), root), random: random, known: map[*fault][]string{}}
				for range n {
					u.combine(t)
				}
			}
		})
	}
}

// union compares what several faults cause with what each causes alone.
type union struct {
	*faults
	message codec.Message
	random  *rand.Rand
	known   map[*fault][]string
}

func (u *union) combine(t *testing.T) {
	t.Helper()
	chosen := []*fault{u.any()}
	for tries := 0; len(chosen) < 2+u.random.IntN(3) && tries < 50; tries++ {
		if f := u.any(); !slices.ContainsFunc(chosen, func(c *fault) bool { return !apart(c, f) }) {
			chosen = append(chosen, f)
		}
	}
	var want []string
	for _, f := range chosen {
		want = append(want, u.alone(t, f)...)
	}
	slices.Sort(want)
	message := u.spoilt(chosen)
	if got := u.problems(t, message); !slices.Equal(got, want) {
		t.Fatalf("faults together:\n%s\neach alone:\n%s\nmessage %x", strings.Join(got, "\n"), strings.Join(want, "\n"), message)
	}
}

// any chooses a fault, one of a rule as often as another.
func (u *union) any() *fault {
	from := u.plain
	if len(u.ruled) > 0 && u.random.IntN(2) == 0 {
		from = u.ruled
	}
	return from[u.random.IntN(len(from))]
}

// alone gives the problems of one fault: the one that it is made for.
func (u *union) alone(t *testing.T, f *fault) []string {
	t.Helper()
	if u.known[f] == nil {
		message := u.spoilt([]*fault{f})
		u.known[f] = u.problems(t, message)
		if want := []string{codeAt(f.want)}; !slices.Equal(u.known[f], want) {
			t.Fatalf("one fault:\n%s\nwant\n%s\nmessage %x", strings.Join(u.known[f], "\n"), want[0], message)
		}
	}
	return u.known[f]
}

// spoilt gives the message with the faults, its keys in any order.
func (u *union) spoilt(chosen []*fault) []byte {
	root := copyOf(u.root)
	for _, f := range chosen {
		f.apply(&root)
	}
	root = copyOf(root) // what faults add is part of the valid message
	u.shuffle(&root)
	return root.Bytes()
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

func (u *union) problems(t *testing.T, message []byte) []string {
	t.Helper()
	_, rejected := decode(t, u.message, message)
	if rejected == nil {
		return nil
	}
	var out []string
	for _, p := range rejected.Problems {
		out = append(out, codeAt(p))
	}
	slices.Sort(out)
	return out
}

func codeAt(p abi.Problem) string { return string(p.Code) + " " + p.Path.String() }

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
