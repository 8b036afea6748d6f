package msgtree_test

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

func TestBytesOfEachKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		node mt.Node
		want string
	}{
		{mt.NilNode(), "c0"},
		{mt.BoolNode(true), "c3"},
		{mt.IntNode(127), "7f"},
		{mt.IntNode(200), "ccc8"},
		{mt.IntNode(300), "cd012c"},
		{mt.IntNode(70000), "ce00011170"},
		{mt.IntNode(1 << 32), "cf0000000100000000"},
		{mt.IntNode(-1), "ff"},
		{mt.IntNode(-33), "d0df"},
		{mt.IntNode(-200), "d1ff38"},
		{mt.IntNode(-70000), "d2fffeee90"},
		{mt.IntNode(3).AsWide(), "d30000000000000003"},
		{mt.UintNode(math.MaxUint64), "cfffffffffffffffff"},
		{mt.FloatNode(1), "cb3ff0000000000000"},
		{mt.Float32Node(0.5), "ca3f000000"},
		{mt.StringNode("ab"), "a26162"},
		{mt.StringNode("ab").AsWide(), "db000000026162"},
		{mt.StringNode("a").Claiming(9), "a961"},
		{mt.BinaryNode("a"), "c40161"},
		{mt.ExtensionNode(-1, "abcd"), "d6ff61626364"},
		{mt.ExtensionNode(5, "abc"), "c70305616263"},
		{mt.ListNode(mt.IntNode(1)), "9101"},
		{mt.MapNode(mt.F("a", mt.RawNode("\xc1"))), "81a161c1"},
	} {
		if got := hex.EncodeToString(c.node.Bytes()); got != c.want {
			t.Errorf("%+v is %s, want %s", c.node, got, c.want)
		}
	}
}

func TestParseReadsWhatIsWritten(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536} {
		items := make([]mt.Node, n)
		for i := range items {
			items[i] = mt.IntNode(-1 - int64(i))
		}
		text := strings.Repeat("x", n)
		for _, node := range []mt.Node{
			mt.ListNode(items...), mt.StringNode(text), mt.BinaryNode(text),
			mt.MapNode(mt.F("a", mt.ListNode(items...)), mt.F("b", mt.FloatNode(float64(n)))),
			mt.UintNode(uint64(n)), mt.IntNode(int64(-n)).AsWide(), mt.StringNode(text).AsWide(), mt.ListNode(items...).AsWide(),
		} {
			read, err := mt.Parse(node.Bytes())
			if err != nil {
				t.Fatalf("%d: %v", n, err)
			}
			node.Wide = false
			if string(read.Bytes()) != string(node.Bytes()) {
				t.Errorf("%d: kind %d is read as another", n, node.Kind)
			}
		}
	}
}

func TestParseRejects(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "\xc1", "\x92\x01", "\xdb\xff\xff\xff\xff", "\xdd\xff\xff\xff\xff", "\xdf\xff\xff\xff\xff\x01", "\x01\x01", "\xcb\x00", "\xd9"} {
		if n, err := mt.Parse([]byte(data)); err == nil {
			t.Errorf("%x is read as %+v", data, n)
		}
	}
}
