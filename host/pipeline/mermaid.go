package pipeline

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Mermaid draws the graph as a Mermaid flowchart. Texts of the file are escaped and never become syntax.
func Mermaid(g *Graph, p Picture) string {
	m := &mermaid{g: g, over: newOverlay(g, p.Path), ids: make(map[string]string)}
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
