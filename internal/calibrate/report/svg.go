package report

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
)

// drawing is an SVG under construction. Coordinates are those of the picture; all text is escaped.
type drawing struct {
	b strings.Builder
}

func newDrawing(height float64, label string) *drawing {
	d := &drawing{}
	fmt.Fprintf(&d.b, `<svg viewBox="0 0 %s %s" role="img" aria-label="%s">`, coordinate(pictureWidth), coordinate(height), template.HTMLEscapeString(label))
	return d
}

// line draws from point to point: x, y, x, y, ...
func (d *drawing) line(class string, at ...float64) {
	var points strings.Builder
	for i := 0; i+1 < len(at); i += 2 {
		points.WriteString(coordinate(at[i]) + "," + coordinate(at[i+1]) + " ")
	}
	fmt.Fprintf(&d.b, `<polyline class="%s" points="%s"/>`, class, strings.TrimSpace(points.String()))
}

// dot draws a circle that tells what it is when pointed at.
func (d *drawing) dot(class string, x, y, radius float64, title string) {
	fmt.Fprintf(&d.b, `<circle class="%s" cx="%s" cy="%s" r="%s"><title>%s</title></circle>`,
		class, coordinate(x), coordinate(y), coordinate(radius), template.HTMLEscapeString(title))
}

// text writes a label; anchor is start, middle or end.
func (d *drawing) text(class string, x, y float64, anchor, text string) {
	fmt.Fprintf(&d.b, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`,
		class, coordinate(x), coordinate(y), anchor, template.HTMLEscapeString(text))
}

func (d *drawing) done() template.HTML {
	return template.HTML(d.b.String() + "</svg>") //nolint:gosec // every text is escaped above
}

// coordinate with one decimal, so that equal reports are equal on every machine.
func coordinate(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}

// scale maps values onto pixels.
type scale struct{ from, to, low, high float64 }

func (s scale) at(v float64) float64 { return s.low + (v-s.from)/(s.to-s.from)*(s.high-s.low) }
