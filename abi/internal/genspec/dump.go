package main

import (
	"fmt"
	"strconv"
	"strings"

	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// annotated gives a message as bytes with a comment for each value.
func annotated(n mt.Node) string {
	var b strings.Builder
	b.WriteString("```text\n")
	dump(&b, n, 0, "")
	b.WriteString("```\n")
	return b.String()
}

func dump(b *strings.Builder, n mt.Node, depth int, before string) {
	switch n.Kind {
	case mt.Map:
		line(b, head(n), depth, before+count(len(n.Entries), "entry", "entries", "map"))
		for _, e := range n.Entries {
			line(b, e.Key.Bytes(), depth+1, strconv.Quote(e.Key.Text))
			dump(b, e.Value, depth+1, "")
		}
	case mt.List:
		line(b, head(n), depth, before+count(len(n.Items), "element", "elements", "list"))
		for _, item := range n.Items {
			dump(b, item, depth+1, "")
		}
	default:
		line(b, n.Bytes(), depth, before+meaning(n))
	}
}

func head(n mt.Node) []byte { return n.Bytes()[:n.HeaderBytes()] }

func count(n int, one, more, of string) string {
	if n == 1 {
		more = one
	}
	return fmt.Sprintf("%s of %d %s", of, n, more)
}

func meaning(n mt.Node) string {
	switch n.Kind {
	case mt.String:
		return strconv.Quote(n.Text)
	case mt.Float:
		return "float " + strconv.FormatFloat(n.Float, 'g', -1, 64)
	case mt.Bool:
		return strconv.FormatBool(n.Bool)
	default:
		return "integer " + strconv.FormatInt(n.Int, 10)
	}
}

// lineBytes is how many bytes stand in a line before the comment.
const lineBytes = 16

func line(b *strings.Builder, data []byte, depth int, comment string) {
	for first := true; len(data) > 0; first = false {
		n := min(lineBytes, len(data))
		text := spaced(data[:n])
		data = data[n:]
		if !first {
			fmt.Fprintf(b, "%s\n", text)
			continue
		}
		fmt.Fprintf(b, "%-*s  ; %s%s\n", 3*lineBytes-1, text, strings.Repeat("  ", depth), comment)
	}
}
