package main

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

func TestVectorsAreUpToDate(t *testing.T) {
	t.Parallel()
	m, err := model.Load("")
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(m)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "testdata", "vectors")
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./abi/... (%v)", name, err)
		}
		if len(want) > 1_000_000 {
			t.Errorf("%s has %d bytes", name, len(want))
		}
	}
	there, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(there) != len(files) {
		t.Errorf("%d files are there, %d are generated", len(there), len(files))
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	message := mt.MapNode(
		mt.F("name", mt.StringNode("abc")),
		mt.F("list", mt.ListNode(mt.IntNode(200), mt.FloatNode(1))),
		mt.F("keyed", mt.KeyedNode(mt.F("k", mt.BoolNode(true)))),
	)
	if got := hex.EncodeToString(message.Bytes()); got != "83a46e616d65a3616263a46c69737492ccc8cb3ff0000000000000a56b6579656481a16bc3" {
		t.Fatal(got)
	}
	for end, want := range map[int]problem{
		0:  {"", abi.CodeTruncated},
		1:  {"", abi.CodeBadLength}, // three entries in no bytes
		6:  {"", abi.CodeBadLength}, // three entries in five bytes
		7:  {"name", abi.CodeBadLength},
		10: {"", abi.CodeTruncated},
		12: {"", abi.CodeBadLength},
		15: {"list", abi.CodeTruncated},
		17: {"list", abi.CodeBadLength},
		18: {"list[1]", abi.CodeTruncated},
		26: {"list[1]", abi.CodeTruncated},
		35: {"keyed", abi.CodeBadLength},
		36: {`keyed["k"]`, abi.CodeTruncated},
	} {
		if got := cut(message, end); got != want {
			t.Errorf("cut after %d: %v, want %v", end, got, want)
		}
	}
}
