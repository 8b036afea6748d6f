package msgtree_test

import (
	"encoding/hex"
	"math"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

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

func TestLongHeadersAreReadBack(t *testing.T) {
	t.Parallel()
	for _, n := range []int{15, 16, 31, 32, 255, 256, 65535, 65536} {
		items := make([]mt.Node, n)
		text := make([]byte, n)
		for i := range items {
			items[i], text[i] = mt.IntNode(1), 'x'
		}
		var list []int
		if err := msgpack.Unmarshal(mt.ListNode(items...).Bytes(), &list); err != nil || len(list) != n {
			t.Errorf("list of %d: %d, %v", n, len(list), err)
		}
		var s string
		if err := msgpack.Unmarshal(mt.StringNode(string(text)).Bytes(), &s); err != nil || s != string(text) {
			t.Errorf("string of %d: %v", n, err)
		}
	}
}
