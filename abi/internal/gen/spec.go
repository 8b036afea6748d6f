package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// spec adds SPEC.md with the tables and the examples in bytes that stand between <!-- begin NAME --> and <!-- end NAME -->.
func (files contents) spec(text string) error {
	for name, example := range map[string]string{
		"manifest": manifestExample(), "evidence": evidenceExample(), "edges": edgesExample(), "node": nodeExample(), "module": moduleExample(),
		"bytes": encodingTable(), "limits": limitsTable(),
	} {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return errors.New("SPEC.md has no place for the example " + name)
		}
		text = before + begin + example + end + after
	}
	files["SPEC.md"] = []byte(text)
	return nil
}

// annotated gives a message as bytes with a comment for each value.
func annotated(n mt.Node) string {
	var b strings.Builder
	b.WriteString("```text\n")
	dump(&b, n, 0, "")
	b.WriteString("```\n")
	return b.String()
}

func dump(b *strings.Builder, n mt.Node, depth int, before string) {
	head := func(of string, count int, one, more string) {
		if count == 1 {
			more = one
		}
		line(b, n.Bytes()[:n.HeaderBytes()], depth, fmt.Sprintf("%s%s of %d %s", before, of, count, more))
	}
	switch n.Kind {
	case mt.Map:
		head("map", len(n.Entries), "entry", "entries")
		for _, e := range n.Entries {
			line(b, e.Key.Bytes(), depth+1, strconv.Quote(e.Key.Text))
			dump(b, e.Value, depth+1, "")
		}
	case mt.List:
		head("list", len(n.Items), "element", "elements")
		for _, item := range n.Items {
			dump(b, item, depth+1, "")
		}
	case mt.String:
		line(b, n.Bytes(), depth, before+strconv.Quote(n.Text))
	case mt.Float:
		line(b, n.Bytes(), depth, before+"float "+strconv.FormatFloat(n.Float, 'g', -1, 64))
	case mt.Bool:
		line(b, n.Bytes(), depth, before+strconv.FormatBool(n.Bool))
	default:
		line(b, n.Bytes(), depth, before+"integer "+strconv.FormatInt(n.Int, 10))
	}
}

// lineBytes is how many bytes stand in a line before the comment.
const lineBytes = 16

func line(b *strings.Builder, data []byte, depth int, comment string) {
	for at := 0; at < len(data); at += lineBytes {
		text := fmt.Sprintf("% x", data[at:min(at+lineBytes, len(data))])
		if at == 0 {
			text = fmt.Sprintf("%-*s  ; %s%s", 3*lineBytes-1, text, strings.Repeat("  ", depth), comment)
		}
		b.WriteString(text + "\n")
	}
}
