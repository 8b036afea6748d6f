package main

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// step is some bytes of a module with what they are.
type step struct {
	bytes []byte
	what  string
}

// responseAt is where the example module keeps its only response.
const responseAt = 16

func failureNode() mt.Node {
	return mt.MapNode(mt.F("failure", mt.MapNode(
		mt.F("code", mt.StringNode("no_words")), mt.F("message", mt.StringNode("the log is empty")))))
}

// personaManifest is the manifest of the example module.
func personaManifest() mt.Node {
	return mt.MapNode(
		mt.F("name", mt.StringNode("silent")), mt.F("version", mt.StringNode("1")), mt.F("abi", mt.StringNode(abi.Version)),
		mt.F("calls", texts(string(abi.CallNode))), mt.F("families", texts(string(abi.FamilyIndict))),
		mt.F("edges", texts()), mt.F("criteria", texts()), mt.F("capabilities", texts()))
}

// moduleSteps is a whole module: a persona that answers every node call with
// the same failure.
func moduleSteps() []step {
	response := failureNode().Bytes()
	answer := append(append([]byte{0x00, 0x42}, sleb128(responseAt<<32|int64(len(response)))...), 0x0b)
	manifest := append(counted([]byte(abi.ManifestSection)), personaManifest().Bytes()...)
	steps := []step{{[]byte("\x00asm\x01\x00\x00\x00"), "magic and version"}}
	section := func(id byte, what string, parts ...step) {
		var size int
		for _, p := range parts {
			size += len(p.bytes)
		}
		steps = append(steps, step{append([]byte{id}, leb128(size)...), "section " + what})
		for _, p := range parts {
			steps = append(steps, step{p.bytes, "  " + p.what})
		}
	}
	section(1, "type",
		step{[]byte{2}, "two types"},
		step{[]byte{0x60, 1, 0x7f, 1, 0x7f}, "0: (i32) -> i32"},
		step{[]byte{0x60, 2, 0x7f, 0x7f, 1, 0x7e}, "1: (i32, i32) -> i64"})
	section(3, "function", step{[]byte{2, 0, 1}, "function 0 of type 0, function 1 of type 1"})
	section(5, "memory", step{[]byte{1, 0, 1}, "one memory, a page of 64 KiB at least"})
	section(7, "export",
		step{[]byte{3}, "three exports"},
		step{append(counted([]byte(abi.ExportMemory)), 2, 0), strconv.Quote(abi.ExportMemory) + ": memory 0"},
		step{append(counted([]byte(abi.ExportAlloc)), 0, 0), strconv.Quote(abi.ExportAlloc) + ": function 0"},
		step{append(counted([]byte(abi.ExportNode)), 0, 1), strconv.Quote(abi.ExportNode) + ": function 1"})
	section(10, "code",
		step{[]byte{2}, "two bodies"},
		step{counted(allocBody()), "function 0: grow by the pages needed; the request goes behind what was there; 0 if it can't"},
		step{counted(answer), "function 1: i64.const " + strconv.Itoa(responseAt) + "<<32 | " + strconv.Itoa(len(response))})
	section(11, "data", step{
		append([]byte{1, 0, 0x41, responseAt, 0x0b}, counted(response)...),
		"at " + strconv.Itoa(responseAt) + ": the response of §2.18",
	})
	section(0, "custom", step{manifest, strconv.Quote(abi.ManifestSection) + " and the manifest"})
	return steps
}

// allocBody is, in the text format, with a local $old:
//
//	(local.set $old (memory.grow (i32.shr_u (i32.add (local.get $size) (i32.const 65535)) (i32.const 16))))
//	(select (i32.const 0) (i32.shl (local.get $old) (i32.const 16)) (i32.eq (local.get $old) (i32.const -1)))
func allocBody() []byte {
	return []byte{
		0x01, 0x01, 0x7f,
		0x20, 0x00, 0x41, 0xff, 0xff, 0x03, 0x6a, 0x41, 0x10, 0x76, 0x40, 0x00, 0x21, 0x01,
		0x41, 0x00, 0x20, 0x01, 0x41, 0x10, 0x74, 0x20, 0x01, 0x41, 0x7f, 0x46, 0x1b, 0x0b,
	}
}

func moduleExample() string {
	var b strings.Builder
	b.WriteString("```text\n")
	for _, s := range moduleSteps() {
		line(&b, s.bytes, 0, s.what)
	}
	b.WriteString("```\n")
	return b.String()
}

func leb128(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

// counted is bytes with their number before them.
func counted(b []byte) []byte { return append(leb128(len(b)), b...) }

func sleb128(n int64) []byte {
	var out []byte
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if (n == 0 && c&0x40 == 0) || (n == -1 && c&0x40 != 0) {
			return append(out, c)
		}
		out = append(out, c|0x80)
	}
}
