package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// encodingTable shows each rule of the canonical form.
func encodingTable() string {
	var b strings.Builder
	b.WriteString("| value | canonical bytes |\n| --- | --- |\n")
	for _, row := range []struct {
		what string
		node mt.Node
	}{
		{"integer 0", mt.IntNode(0)},
		{"integer 127", mt.IntNode(127)},
		{"integer 128", mt.IntNode(128)},
		{"integer 256", mt.IntNode(256)},
		{"integer 65536", mt.IntNode(65536)},
		{"integer 4294967296", mt.IntNode(1 << 32)},
		{"integer 9223372036854775807", mt.IntNode(math.MaxInt64)},
		{"integer -1", mt.IntNode(-1)},
		{"integer -33", mt.IntNode(-33)},
		{"integer -129", mt.IntNode(-129)},
		{"float 0, and -0", mt.FloatNode(0)},
		{"float 1, also where a sender gave the integer 1", mt.FloatNode(1)},
		{"float 0.5, also where a sender gave a float 32", mt.FloatNode(0.5)},
		{"float 0.95", mt.FloatNode(0.95)},
		{"false, true", mt.RawNode("\xc2\xc3")},
		{`string ""`, mt.StringNode("")},
		{`string "é"`, mt.StringNode("é")},
		{"string of 32 bytes: head", mt.RawNode("\xd9\x20")},
		{"string of 256 bytes: head", mt.RawNode("\xda\x01\x00")},
		{"string of 65536 bytes: head", mt.RawNode("\xdb\x00\x01\x00\x00")},
		{"empty list", mt.ListNode()},
		{"list of 16 elements: head", mt.RawNode("\xdc\x00\x10")},
		{"list of 65536 elements: head", mt.RawNode("\xdd\x00\x01\x00\x00")},
		{"map of 16 entries: head", mt.RawNode("\xde\x00\x10")},
		{`map {"b": 1, "aa": 2}: sorted bytewise`, mt.KeyedNode(mt.F("aa", mt.IntNode(2)), mt.F("b", mt.IntNode(1)))},
	} {
		fmt.Fprintf(&b, "| %s | `% x` |\n", row.what, row.node.Bytes())
	}
	return b.String()
}

// limitsTable has the defaults.
func limitsTable() string {
	var b strings.Builder
	b.WriteString("| limit | default | constant of package `abi` |\n| --- | --- | --- |\n")
	for _, l := range []struct {
		what  string
		value int
		unit  string
		name  string
	}{
		{"memory of an instance: linear memory, and blocks and variables of the Extism binding", abi.DefaultMemoryBytes, "bytes", "DefaultMemoryBytes"},
		{"wall clock of a call, instantiation included", abi.DefaultWallClockNanos / 1_000_000_000, "seconds", "DefaultWallClockNanos"},
		{"fuel of a call", abi.DefaultFuel, "units", "DefaultFuel"},
		{"fuel of loading: start section, `_initialize` and warm-up calls together", abi.DefaultStartFuel, "units", "DefaultStartFuel"},
		{"response of a call", abi.DefaultOutputBytes, "bytes", "DefaultOutputBytes"},
		{"request of a call", abi.DefaultInputBytes, "bytes", "DefaultInputBytes"},
		{"one document of a case; longer ones are cut head and tail, with a mark", abi.DefaultDocumentBytes, "bytes", "DefaultDocumentBytes"},
		{"all documents of a case together", abi.DefaultCaseDocumentBytes, "bytes", "DefaultCaseDocumentBytes"},
		{"module file", abi.DefaultModuleBytes, "bytes", "DefaultModuleBytes"},
		{"entries of all tables, declared or grown to", abi.DefaultTableEntries, "entries", "DefaultTableEntries"},
		{"compiling a module", abi.DefaultCompileNanos / 1_000_000_000, "seconds", "DefaultCompileNanos"},
		{"work of compiling a module, estimated from its structure", abi.DefaultCompileSteps, "steps", "DefaultCompileSteps"},
		{"memory for compiling a module, estimated from its structure", abi.DefaultCompileBytes, "bytes", "DefaultCompileBytes"},
		{"nesting of maps and lists in a message, the message itself being 1", abi.MaxDepth, "levels", "MaxDepth"},
		{"elements of a list that follows the evidence of a case, in what a module sends", abi.MaxEvidence, "elements", "MaxEvidence"},
		{"problems of a message that are listed; the rest is counted", abi.MaxProblems, "problems", "MaxProblems"},
	} {
		fmt.Fprintf(&b, "| %s | %s %s | `%s` |\n", l.what, grouped(l.value), l.unit, l.name)
	}
	return b.String()
}

// grouped writes a number with commas between thousands.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func evidenceExample() string {
	return annotated(mt.MapNode(
		mt.F("source_ref", mt.StringNode("log:L83")),
		mt.F("content", mt.StringNode("panic: nil map")),
		mt.F("relevance_confidence", mt.FloatNode(0.9)),
		mt.F("element", mt.StringNode("water")),
	))
}

func texts(list ...string) mt.Node {
	n := mt.ListNode()
	for _, s := range list {
		n.Items = append(n.Items, mt.StringNode(s))
	}
	return n
}

// manifestNode is the manifest of a module that serves the edge calls alone.
func manifestNode() mt.Node {
	return mt.MapNode(
		mt.F("name", mt.StringNode("my-clerk")),
		mt.F("version", mt.StringNode("0.1.0")),
		mt.F("abi", mt.StringNode(abi.Version)),
		mt.F("calls", texts(string(abi.CallEdges))),
		mt.F("families", texts()),
		mt.F("edges", texts("HD1")),
		mt.F("criteria", texts()),
		mt.F("capabilities", texts()),
	)
}

func manifestExample() string {
	payload := manifestNode().Bytes()
	name := abi.ManifestSection
	size := leb128(len(counted([]byte(name))) + len(payload))
	var b strings.Builder
	b.WriteString("```text\n")
	line(&b, []byte{0}, 0, "section id 0: custom")
	line(&b, size, 0, "size of the section, LEB128")
	line(&b, counted([]byte(name)), 0, strconv.Quote(name)+", its length before it")
	dump(&b, manifestNode(), 0, "the manifest: ")
	b.WriteString("```\n")
	return b.String()
}

// edgesExample is one call of the clerk: one edge of the node, one of `_any`.
func edgesExample() string {
	question := func(id string, anywhere bool, params ...mt.Entry) mt.Node {
		return mt.MapNode(append([]mt.Entry{
			mt.F("id", mt.StringNode(id)), mt.F("evaluator", mt.StringNode(id)), mt.F("any", mt.BoolNode(anywhere)),
		}, params...)...)
	}
	least := mt.F("params", mt.ListNode(mt.MapNode(mt.F("name", mt.StringNode("min_confidence")), mt.F("number", mt.FloatNode(0.95)))))
	request := mt.MapNode(
		mt.F("node", mt.StringNode("indict")),
		mt.F("family", mt.StringNode("indict")),
		mt.F("questions", mt.ListNode(question("HD10", true), question("HD1", false, least))),
		mt.F("limits", mt.MapNode(mt.F("ttl_exceeded", mt.BoolNode(false)), mt.F("handoffs", mt.IntNode(1)), mt.F("max_handoffs", mt.IntNode(24)))),
		mt.F("artifact", mt.MapNode(mt.F("indictment", mt.MapNode(
			mt.F("charged_defect_type", mt.StringNode("pb001")),
			mt.F("prosecution_narrative", mt.StringNode("")),
			mt.F("evidence", mt.ListNode()),
			mt.F("confidence", mt.FloatNode(0.97)))))),
		mt.F("remands", mt.IntNode(0)),
		mt.F("max_remands", mt.IntNode(0)),
		mt.F("loops_left", mt.IntNode(0)),
	)
	answer := func(id string, fires bool, why string) mt.Node {
		return mt.MapNode(mt.F("id", mt.StringNode(id)), mt.F("fires", mt.BoolNode(fires)), mt.F("why", mt.StringNode(why)))
	}
	response := mt.MapNode(mt.F("answers", mt.ListNode(answer("HD10", false, "in time"), answer("HD1", true, "0.97 >= 0.95"))))
	return fmt.Sprintf("The request, %d bytes:\n\n%s\nThe response, %d bytes:\n\n%s", len(request.Bytes()), annotated(request), len(response.Bytes()), annotated(response))
}

// nodeExample is the shortest failure of a node call.
func nodeExample() string { return annotated(failureNode()) }
