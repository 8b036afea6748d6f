package pipeline

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Mermaid draws the graph as a Mermaid flowchart. A path, if there is one, is drawn on it, its moves numbered in their order; moves that the
// graph does not have are left out. Texts of the file are escaped and never become syntax.
func Mermaid(g *Graph, path []Move) string {
	m := &mermaid{g: g, over: newOverlay(g, path), ids: make(map[string]string)}
	m.line("flowchart LR")
	m.nodes()
	for _, end := range g.usedEnds() {
		m.ids[end] = "e" + end
		m.line("  %s([%s])", m.ids[end], mermaidText(end))
		if m.over.seen[end] > 0 {
			m.visited = append(m.visited, m.ids[end])
		}
	}
	if len(g.any) > 0 {
		m.ids[Any] = "any"
		m.line("  any{{%s}}", mermaidText("any node"))
	}
	m.links()
	m.styles()
	return m.b.String()
}

type mermaid struct {
	g         *Graph
	over      overlay
	ids       map[string]string // of nodes, ends and _any
	visited   []string          // ids that the path visits
	linkCount int
	linkStyle []string // for links of the path
	b         strings.Builder
}

func (m *mermaid) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

func (m *mermaid) nodes() {
	zoned := make(map[string][]int)
	for i := range m.g.def.Nodes {
		name := m.g.def.Nodes[i].Name
		m.ids[name] = fmt.Sprintf("n%d", i)
		zone := ""
		if z, ok := m.g.def.Zone(name); ok {
			zone = z.Name
		}
		zoned[zone] = append(zoned[zone], i)
		if m.over.seen[name] > 0 {
			m.visited = append(m.visited, m.ids[name])
		}
	}
	for i := range m.g.def.Zones {
		z := &m.g.def.Zones[i]
		if len(zoned[z.Name]) == 0 {
			continue
		}
		m.line("  subgraph z%d[%s]", i, mermaidText(z.Name))
		for _, n := range zoned[z.Name] {
			m.node("    ", n)
		}
		m.line("  end")
	}
	for _, n := range zoned[""] {
		m.node("  ", n)
	}
}

func (m *mermaid) node(indent string, i int) {
	n := &m.g.def.Nodes[i]
	text := mermaidText(n.Name)
	if who := personaNames(m.g.def, n); who != "" {
		text = strings.TrimSuffix(text, `"`) + "<br/>" + strings.TrimPrefix(mermaidText(who), `"`)
	}
	m.line("%s%s[%s]", indent, m.ids[n.Name], text)
}

func (m *mermaid) links() {
	for i := range m.g.def.Nodes {
		if !m.g.falls(i) {
			continue
		}
		from := m.g.def.Nodes[i].Name
		m.link(m.ids[from], "-.->", m.ids[m.g.def.Nodes[i+1].Name], "", m.over.falls[from])
	}
	for i := range m.g.def.Edges {
		e := &m.g.def.Edges[i]
		m.link(m.ids[e.From], "-->", m.ids[e.To], edgeLabel(e), m.over.edges[e.ID])
	}
}

func (m *mermaid) link(from, arrow, to, label string, taken []int) {
	if len(taken) > 0 {
		label = stepLabel(taken, label)
		m.linkStyle = append(m.linkStyle, strconv.Itoa(m.linkCount))
	}
	m.linkCount++
	if label == "" {
		m.line("  %s %s %s", from, arrow, to)
		return
	}
	m.line("  %s %s|%s| %s", from, arrow, mermaidText(label), to)
}

func (m *mermaid) styles() {
	for _, e := range Elements() {
		var ids []string
		for i := range m.g.def.Nodes {
			if m.g.def.Nodes[i].Element == e {
				ids = append(ids, m.ids[m.g.def.Nodes[i].Name])
			}
		}
		if len(ids) > 0 {
			m.line("  classDef %s stroke:%s,stroke-width:2px", e, elementColour(e))
			m.line("  class %s %s", strings.Join(ids, ","), e)
		}
	}
	if len(m.visited) > 0 {
		m.line("  classDef visited stroke:%s,stroke-width:4px", pathColour)
		m.line("  class %s visited", strings.Join(m.visited, ","))
	}
	if len(m.linkStyle) > 0 {
		m.line("  linkStyle %s stroke:%s,stroke-width:3px", strings.Join(m.linkStyle, ","), pathColour)
	}
}

// mermaidText quotes a text; everything that could be syntax, markup or Markdown becomes a numeric entity. A dash, dot or
// bracket before a space could make a Markdown list.
func mermaidText(s string) string {
	text := []rune(visible(s))
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range text {
		last := i+1 == len(text) || text[i+1] == ' '
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" ,:(/", r), strings.ContainsRune("-.+)", r) && !last:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// overlay is a path, looked up by what is drawn.
type overlay struct {
	edges map[string][]int // numbers of the moves over an edge, by its ID
	falls map[string][]int // numbers of the moves that fell through, by the node left
	seen  map[string]int   // visits by node, and 1 for the end reached
}

func newOverlay(g *Graph, path []Move) overlay {
	o := overlay{edges: make(map[string][]int), falls: make(map[string][]int), seen: make(map[string]int)}
	if len(path) == 0 {
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
func elementColour(e abi.Element) string {
	return cmp.Or(map[abi.Element]string{
		abi.Fire: "#e5484d", abi.Earth: "#ad7f3c", abi.Water: "#3e8bf0", abi.Air: "#7d93ad", abi.Diamond: "#12a594", abi.Lightning: "#9a5cd0",
	}[e], "#8b8b8b")
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

// stepLabel puts the numbers of a path's steps before a label.
func stepLabel(taken []int, label string) string {
	if len(taken) == 0 {
		return label
	}
	return strings.TrimSuffix(numbers(taken)+": "+label, ": ")
}
