package pipeline

import (
	"fmt"
	"strings"
)

// DOT draws the graph in Graphviz's language. Texts of the file are escaped and never become syntax.
func DOT(g *Graph, p Picture) string {
	d := &dot{g: g, over: newOverlay(g, p.Path), ids: make(map[string]string)}
	d.line("digraph pipeline {")
	d.line("  rankdir=LR;")
	d.line("  label=%s;", dotText(g.def.Pipeline))
	d.line(`  node [shape=box, style=rounded, fontname="sans-serif"];`)
	d.line(`  edge [fontname="sans-serif", fontsize=10];`)
	d.nodes()
	for _, end := range g.usedEnds() {
		d.ids[end] = "end" + end
		d.line("  %s [shape=oval, label=%s%s];", d.ids[end], dotText(end), d.highlight(d.over.seen[end] > 0))
	}
	if len(g.any) > 0 {
		d.ids[Any] = "any"
		d.line("  any [shape=hexagon, label=%s];", dotText("any node"))
	}
	d.links()
	d.line("}")
	return d.b.String()
}

type dot struct {
	g    *Graph
	over overlay
	ids  map[string]string // of nodes, ends and _any
	b    strings.Builder
}

func (d *dot) line(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

func (d *dot) nodes() {
	for i := range d.g.def.Nodes {
		n := &d.g.def.Nodes[i]
		d.ids[n.Name] = fmt.Sprintf("n%d", i)
		label := dotText(n.Name)
		if who := personaNames(d.g.def, n); who != "" {
			label = strings.TrimSuffix(label, `"`) + `\n` + strings.TrimPrefix(dotText(who), `"`)
		}
		style := fmt.Sprintf(", color=%q", elementColour(n.Element))
		if d.over.seen[n.Name] > 0 {
			style = d.highlight(true)
		}
		d.line("  n%d [label=%s%s];", i, label, style)
	}
	for i := range d.g.def.Zones {
		z := &d.g.def.Zones[i]
		d.line("  subgraph cluster_z%d {", i)
		d.line("    label=%s; color=%q; style=rounded;", dotText(z.Name), elementColour(z.Element))
		for _, name := range z.Nodes {
			if first, ok := d.g.def.Zone(name); ok && first == z {
				d.line("    %s;", d.ids[name])
			}
		}
		d.line("  }")
	}
}

func (d *dot) links() {
	for i := range d.g.def.Nodes {
		if !d.g.falls(i) {
			continue
		}
		taken := d.over.falls[d.g.def.Nodes[i].Name]
		d.line("  n%d -> n%d [style=dotted, label=%s%s];", i, i+1, dotText(stepLabel(taken, "")), d.highlight(len(taken) > 0))
	}
	for i := range d.g.def.Edges {
		e := &d.g.def.Edges[i]
		taken := d.over.edges[e.ID]
		style := d.highlight(len(taken) > 0)
		if e.Loop {
			style += ", style=dashed"
		}
		d.line("  %s -> %s [label=%s%s];", d.ids[e.From], d.ids[e.To], dotText(stepLabel(taken, edgeLabel(e))), style)
	}
}

func (d *dot) highlight(on bool) string {
	if !on {
		return ""
	}
	return fmt.Sprintf(", color=%q, penwidth=3", pathColour)
}

// stepLabel puts the numbers of a path's steps before a label.
func stepLabel(taken []int, label string) string {
	if len(taken) == 0 {
		return label
	}
	return strings.TrimSuffix(numbers(taken)+": "+label, ": ")
}

// dotText quotes a text. Backslashes are doubled, so that the label escapes of DOT stay text; HTML entities, which DOT
// reads in labels, lose their ampersand's meaning.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`).Replace(visible(s)) + `"`
}
