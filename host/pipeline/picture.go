package pipeline

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Picture says what to draw besides the graph.
type Picture struct {
	// Path is drawn on the graph: moves numbered in their order, the rest dimmed. Empty draws the graph alone. Moves
	// that the graph does not have are left out.
	Path []Move
	// Embedded leaves out the SVG's own colours of text and lines, which then follow the CSS color of the page.
	Embedded bool
}

// overlay is a path, looked up by what is drawn.
type overlay struct {
	on    bool
	edges map[string][]int // numbers of the moves over an edge, by its ID
	falls map[string][]int // numbers of the moves that fell through, by the node left
	seen  map[string]int   // visits by node, and 1 for the end reached
}

func newOverlay(g *Graph, path []Move) overlay {
	o := overlay{on: len(path) > 0, edges: make(map[string][]int), falls: make(map[string][]int)}
	o.seen = make(map[string]int)
	if !o.on {
		return o
	}
	o.seen[g.def.Start] = 1
	number := 0
	for _, m := range path {
		o.seen[m.To]++
		if m.Edge == "" && m.From == m.To {
			continue
		}
		number++
		if m.Edge != "" {
			o.edges[m.Edge] = append(o.edges[m.Edge], number)
		} else {
			o.falls[m.From] = append(o.falls[m.From], number)
		}
	}
	return o
}

func numbers(all []int) string {
	words := make([]string, len(all))
	for i, n := range all {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}

// falls reports whether a traversal can fall through from a node to the next.
func (g *Graph) falls(i int) bool {
	if i+1 >= len(g.def.Nodes) {
		return false
	}
	for _, edges := range [][]*Edge{g.any, g.own[g.def.Nodes[i].Name]} {
		for _, e := range edges {
			if e.Unconditional() {
				return false
			}
		}
	}
	return true
}

// usedEnds gives the ends to which some edge leads, in the order of Ends.
func (g *Graph) usedEnds() []string {
	used := make(map[string]bool)
	for i := range g.def.Edges {
		used[g.def.Edges[i].To] = true
	}
	var ends []string
	for _, end := range Ends() {
		if used[end] {
			ends = append(ends, end)
		}
	}
	return ends
}

// elementColour gives a middle tone that is readable on light and on dark.
func elementColour(e Element) string {
	switch e {
	case Fire:
		return "#e5484d"
	case Earth:
		return "#ad7f3c"
	case Water:
		return "#3e8bf0"
	case Air:
		return "#7d93ad"
	case Diamond:
		return "#12a594"
	case Lightning:
		return "#9a5cd0"
	default:
		return "#8b8b8b"
	}
}

const pathColour = "#d97706"

// visible sanitizes a text of the file before it is escaped for a format: line breaks, other control characters and
// characters that reorder or hide text are spelled out.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteByte(' ')
		case r == unicode.ReplacementChar, unicode.IsControl(r), unicode.Is(unicode.Cf, r),
			r == '\u2028', r == '\u2029', r == 0xfffe, r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// shorten is clip for text that is drawn.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func personaNames(d *Definition, n *Node) string {
	names := make([]string, len(n.Personas))
	for i, id := range n.Personas {
		names[i] = id
		if p, ok := d.Persona(id); ok {
			names[i] = p.Name
		}
	}
	if n.Parallel {
		return strings.Join(names, " + ")
	}
	return strings.Join(names, ", ")
}

func edgeLabel(e *Edge) string {
	if e.Name == "" {
		return e.ID
	}
	return e.ID + " " + e.Name
}
