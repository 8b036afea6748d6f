package pipeline

import (
	"fmt"
	"strings"
)

// labelGap is between the ids of a label. Its spaces do not break, since those at the edge of an SVG tspan may be dropped.
const labelGap = "\u00a0·\u00a0"

// textWidth estimates the width of a text in pixels; wide scripts count double.
func textWidth(s string, size int) int {
	tenths := 0
	for _, r := range s {
		switch {
		case r >= 0x1100:
			tenths += 10
		case r >= 'A' && r <= 'Z' || r == 'm' || r == 'w' || r == '_' || r >= '0' && r <= '9':
			tenths += 7
		case strings.ContainsRune("iljtf.,:;|!' ", r):
			tenths += 4
		default:
			tenths += 6
		}
	}
	return tenths * size / 10
}

// fit sanitizes a text and cuts it to a width in pixels.
func fit(s string, width, size int) string {
	s = visible(s)
	if textWidth(s, size) <= width {
		return s
	}
	r := []rune(s)
	for len(r) > 0 && textWidth(string(r), size)+size > width {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

// svgText sanitizes a text and escapes it for XML.
func svgText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(visible(s))
}

func edgeIDs(a *arc) []string {
	ids := make([]string, len(a.edges))
	for i, e := range a.edges {
		ids[i] = visible(e.ID)
	}
	return ids
}

// arcLabel is the label of an arc as drawn: its edges' ids, cut.
func arcLabel(a *arc) string { return fit(strings.Join(edgeIDs(a), labelGap), 180, 12) }

// arcTitle is what hovering over an arc shows: a line for each edge.
func arcTitle(a *arc) string {
	lines := make([]string, len(a.edges))
	for i, e := range a.edges {
		lines[i] = edgeLabel(e)
		if e.Condition != "" {
			lines[i] += ": " + e.Condition
		}
	}
	return strings.Join(lines, "; ")
}

func nodeTitle(d *Definition, n *Node) string {
	title := fmt.Sprintf("%s (%s)", n.Name, n.Family)
	if n.Element != "" {
		title += ", " + string(n.Element)
	}
	if who := personaNames(d, n); who != "" {
		title += ": " + who
	}
	if len(n.Masks) > 0 {
		title += "; masks " + join(n.Masks)
	}
	return title
}
