package pipeline

import (
	"fmt"
	"strings"
)

// SVG draws the graph as a picture without scripts, links or outside resources, to be saved as a file or put into an
// HTML page: the nodes in a row in file order, edges that go forward above it, those that go back below, ends on the
// right, and dotted lines where a traversal falls through. Texts of the file are escaped.
func SVG(g *Graph, p Picture) string {
	l := newLayout(g)
	s := &svg{layout: l, over: newOverlay(g, p.Path)}
	s.open(p.Embedded)
	s.zones()
	s.anyBar()
	s.falls()
	for i := range l.arcs {
		s.arc(&l.arcs[i])
	}
	for i := range l.boxes {
		s.node(i)
	}
	s.ends()
	s.legend()
	s.raw("</svg>\n")
	return s.b.String()
}

type svg struct {
	*layout
	over overlay
	b    strings.Builder
}

func (s *svg) raw(format string, args ...any) { fmt.Fprintf(&s.b, format, args...) }

const svgStyle = `<style>.shadowcourt-graph{color:#1f2328}@media(prefers-color-scheme:dark){.shadowcourt-graph{color:#e6edf3}}</style>
`

func (s *svg) open(embedded bool) {
	s.raw(`<svg xmlns="http://www.w3.org/2000/svg" class="shadowcourt-graph" viewBox="0 0 %d %d" width="%d" height="%d"`,
		s.width, s.height, s.width, s.height)
	s.raw(` role="img" font-family="ui-sans-serif,system-ui,'Segoe UI',Helvetica,Arial,sans-serif" font-size="12">` + "\n")
	s.raw("<title>%s</title>\n", svgText(s.g.def.Pipeline))
	if s.g.def.Description != "" {
		s.raw("<desc>%s</desc>\n", svgText(s.g.def.Description))
	}
	if !embedded {
		s.b.WriteString(svgStyle)
	}
}

func (s *svg) zones() {
	for _, z := range s.bands {
		colour := elementColour(z.zone.Element)
		s.raw(`<rect x="%d" y="%d" width="%d" height="%d" rx="12" fill="%s" fill-opacity=".08" stroke="%s" stroke-opacity=".35"/>`+"\n",
			z.x, s.bandTop, z.w, s.bandBottom-s.bandTop, colour, colour)
		label := z.zone.Name
		if z.zone.Stickiness > 0 {
			label += fmt.Sprintf(" · stickiness %d", z.zone.Stickiness)
		}
		s.raw(`<text x="%d" y="%d" font-size="10" letter-spacing=".4" fill="%s">%s</text>`+"\n",
			z.x+10, s.bandBottom-8, colour, svgText(fit(label, z.w-20, 10)))
	}
}

// stroke gives the attributes of a line that the path took, or did not.
func (s *svg) stroke(taken bool) string {
	switch {
	case taken:
		return fmt.Sprintf(`stroke="%s" stroke-width="3"`, pathColour)
	case s.over.on:
		return `stroke="currentColor" stroke-width="1.3" stroke-opacity=".22"`
	default:
		return `stroke="currentColor" stroke-width="1.5" stroke-opacity=".6"`
	}
}

func (s *svg) fill(taken bool) string {
	switch {
	case taken:
		return fmt.Sprintf(`fill="%s"`, pathColour)
	case s.over.on:
		return `fill="currentColor" fill-opacity=".3"`
	default:
		return `fill="currentColor" fill-opacity=".7"`
	}
}

// head draws an arrow head with its tip at x, y.
func (s *svg) head(x, y int, dir direction, taken bool) {
	var d string
	switch dir {
	case toRight:
		d = "l-8 -4v8z"
	case toLeft:
		d = "l8 -4v8z"
	case down:
		d = "l-4 -8h8z"
	case up:
		d = "l-4 8h8z"
	}
	s.raw(`<path d="M%d %d%s" %s/>`, x, y, d, s.fill(taken))
}

func (s *svg) falls() {
	for i := range s.boxes {
		if !s.g.falls(i) {
			continue
		}
		a, b := s.boxes[i], s.boxes[i+1]
		y := s.rowTop + nodeHeight/2
		taken := s.over.falls[a.node.Name]
		s.raw(`<g><title>%s</title>`, svgText(fmt.Sprintf("no edge fires: %s continues with %s", a.node.Name, b.node.Name)))
		s.raw(`<path d="M%d %dH%d" fill="none" stroke-dasharray="2 4" stroke-linecap="round" %s/>`,
			a.x+a.w+2, y, b.x-8, s.stroke(len(taken) > 0))
		s.head(b.x-1, y, toRight, len(taken) > 0)
		s.badge((a.x+a.w+b.x)/2-4, y, taken)
		s.raw("</g>\n")
	}
}

// badge draws the numbers of the steps, centred.
func (s *svg) badge(x, y int, taken []int) {
	if len(taken) == 0 {
		return
	}
	text := shorten(numbers(taken), 12)
	w := badgeWidth(taken)
	s.raw(`<rect x="%d" y="%d" width="%d" height="18" rx="9" fill="%s"/>`, x-w/2, y-9, w, pathColour)
	s.raw(`<text x="%d" y="%d" font-size="11" font-weight="700" text-anchor="middle" fill="#fff">%s</text>`, x, y+4, text)
}

func badgeWidth(taken []int) int {
	if len(taken) == 0 {
		return 0
	}
	return max(18, textWidth(shorten(numbers(taken), 12), 11)+10)
}

func (s *svg) arc(a *arc) {
	taken := s.takenArc(a)
	s.raw(`<g><title>%s</title>`, svgText(arcTitle(a)))
	dash := ""
	if a.edges[0].Loop {
		dash = ` stroke-dasharray="6 4"`
	}
	s.raw(`<path d="%s" fill="none"%s %s/>`, a.path, dash, s.stroke(len(taken) > 0))
	s.head(a.tipX, a.tipY, a.tip, len(taken) > 0)
	w := textWidth(arcLabel(a), 12)
	left := a.labelX - w/2
	if a.labelEnd {
		left = a.labelX - w
	}
	s.badge(left-badgeWidth(taken)/2-4, a.labelY-4, taken)
	s.raw(`<text x="%d" y="%d">`, left, a.labelY)
	s.arcLabel(a)
	s.raw("</text></g>\n")
}

// arcLabel writes the edge ids, those that the path took in its colour.
func (s *svg) arcLabel(a *arc) {
	if shown := arcLabel(a); shown != strings.Join(edgeIDs(a), labelGap) {
		s.raw(`<tspan %s>%s</tspan>`, s.fill(len(s.takenArc(a)) > 0), svgText(shown))
		return
	}
	for i, e := range a.edges {
		if i > 0 {
			s.raw(`<tspan %s>%s</tspan>`, s.fill(false), labelGap)
		}
		taken := len(s.over.edges[e.ID]) > 0
		weight := ""
		if taken {
			weight = ` font-weight="700"`
		}
		s.raw(`<tspan %s%s>%s</tspan>`, s.fill(taken), weight, svgText(visible(e.ID)))
	}
}

func (s *svg) takenArc(a *arc) []int {
	var all []int
	for _, e := range a.edges {
		all = append(all, s.over.edges[e.ID]...)
	}
	return all
}

func (s *svg) node(i int) {
	box := s.boxes[i]
	n := box.node
	colour := elementColour(n.Element)
	visits := s.over.seen[n.Name]
	opacity := ""
	if s.over.on && visits == 0 {
		opacity = ` opacity=".45"`
	}
	s.raw(`<g%s><title>%s</title>`, opacity, svgText(nodeTitle(s.g.def, n)))
	width := "1.5"
	if visits > 0 {
		width = "3"
	}
	s.raw(`<rect x="%d" y="%d" width="%d" height="%d" rx="8" fill="%s" fill-opacity=".16" stroke="%s" stroke-width="%s"/>`,
		box.x, s.rowTop, box.w, nodeHeight, colour, colour, width)
	middle, base := box.x+box.w/2, s.rowTop+nodeHeight/2
	s.raw(`<text x="%d" y="%d" font-size="14" font-weight="600" text-anchor="middle" fill="currentColor">%s</text>`,
		middle, base-3, svgText(fit(n.Name, box.w-16, 14)))
	s.raw(`<text x="%d" y="%d" font-size="10.5" text-anchor="middle" fill="currentColor" fill-opacity=".75">%s</text>`,
		middle, base+15, svgText(fit(personaNames(s.g.def, n), box.w-16, 10)))
	if n.Name == s.g.def.Start {
		s.raw(`<circle cx="%d" cy="%d" r="4" fill="%s"/>`, box.x+10, s.rowTop+10, colour)
	}
	if visits > 1 {
		s.raw(`<text x="%d" y="%d" font-size="11" font-weight="700" text-anchor="end" fill="%s">×%d</text>`,
			box.x+box.w-6, s.rowTop+14, pathColour, visits)
	}
	s.raw("</g>\n")
}

func (s *svg) ends() {
	for _, e := range s.endBoxes {
		taken := s.over.seen[e.name] > 0
		body := `fill="currentColor" fill-opacity=".07" ` + s.stroke(taken)
		text := s.fill(taken)
		if taken {
			body, text = fmt.Sprintf(`fill="%s" stroke="%s"`, pathColour, pathColour), `fill="#fff" font-weight="700"`
		}
		s.raw(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d" %s/>`, s.endX, e.y-endHeight/2, endWidth, endHeight, endHeight/2, body)
		s.raw(`<text x="%d" y="%d" text-anchor="middle" %s>%s</text>`+"\n", s.endX+endWidth/2, e.y+4, text, e.name)
	}
}

// anyBar draws the bracket under the row from which the edges of any node leave.
func (s *svg) anyBar() {
	if len(s.g.any) == 0 {
		return
	}
	first, last := s.boxes[0], s.boxes[len(s.boxes)-1]
	s.raw(`<path d="M%d %dv6q0 6 6 6H%dq6 0 6 -6v-6" fill="none" %s/>`,
		first.x, s.anyY-12, last.x+last.w-6, s.stroke(false))
	s.raw(`<text x="%d" y="%d" font-size="10" fill="currentColor" fill-opacity=".6">any node</text>`+"\n", first.x+8, s.anyY+13)
}

func (s *svg) legend() {
	s.raw(`<text x="%d" y="%d" font-size="10" fill="currentColor" fill-opacity=".55">%s</text>`+"\n", margin, s.height-10, legendText)
}

const legendText = "dotted: no edge fires, the traversal continues with the next node"
