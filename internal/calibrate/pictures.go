package calibrate

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// picturesOf are those for which there is something to draw.
func picturesOf(r *Report) []render.Picture {
	var list []render.Picture
	if r.Band.Cases > 0 {
		list = append(list, render.Picture{
			Title: "Court minus each method", Drawing: differencePicture(r.Band.Rivals),
			Caption: "Percentage points in the band, with 95 % bootstrap intervals. Right of the line the court is ahead.",
		})
	}
	quarters := []float64{0, 0.25, 0.5, 0.75, 1}
	if light, court := binPoints("Light", r.Light.Bins), binPoints("court", r.Court.Bins); len(court)+len(light) > 0 {
		list = append(list, render.Picture{
			Title: "Reliability", Drawing: chart{"Reliability diagram", "stated confidence", 400, quarters, 1, true, light, court}.draw(),
			Caption: fmt.Sprintf("Share of right answers against the mean stated confidence, in bins of at least %d cases with 95 %% intervals. On the diagonal a confidence keeps what it promises; below it says too much.", LeastPerBin),
		})
	}
	if light, court := coveragePoints("Light", &r.LightRanking), coveragePoints("court", &r.CourtRanking); len(court)+len(light) > 0 {
		most := 0.1
		for _, p := range append(light, court...) {
			most = max(most, p.y)
		}
		list = append(list, render.Picture{
			Title: "Risk and coverage", Drawing: chart{"Risk over coverage", "coverage", 300, quarters, math.Ceil(10*most) / 10, false, light, court}.draw(),
			Caption: "Share of wrong answers among the surest, over how many of the answers these are. The lower the line, the better the confidences tell right answers from wrong ones.",
		})
	}
	if len(r.Thresholds) > 1 && r.Overall.Cases > 0 {
		var ticks []float64
		var points []chartPoint
		for i, p := range r.Thresholds {
			if i%2 == 0 || len(r.Thresholds) < 6 {
				ticks = append(ticks, p.Threshold)
			}
			points = append(points, chartPoint{p.Threshold, *p.Accuracy.Share, p.Accuracy.Interval, fmt.Sprintf("below %s: %d cases tried, %s right overall; of the accepted %s",
				shortest(p.Threshold), p.Tried, shareOnly(p.Accuracy), shareOnly(p.Accepted))})
		}
		list = append(list, render.Picture{
			Title: "Accuracy over activation thresholds", Drawing: chart{"Accuracy over activation thresholds", "activation threshold", 300, ticks, 1, false, nil, points}.draw(),
			Caption: "All cases, had Light's answer been accepted from this confidence on, and those below gone before the court; at the left end nothing does. The thin lines are 95 % intervals.",
		})
	}
	return list
}

func binPoints(name string, bins []Bin) []chartPoint {
	points := make([]chartPoint, len(bins))
	for i, b := range bins {
		points[i] = chartPoint{b.Stated, *b.Right.Share, b.Right.Interval, fmt.Sprintf("%s: stated %s, right %s of %d cases", name, fraction(b.Stated), shareOnly(b.Right), b.Right.Of)}
	}
	return points
}

func coveragePoints(name string, c *RiskCoverage) []chartPoint {
	points := make([]chartPoint, len(c.Points))
	for i, p := range c.Points {
		points[i] = chartPoint{p.Coverage, p.Risk, nil, fmt.Sprintf("%s from %s on: %d answers, %d wrong", name, twoDigits(p.Threshold), p.Accepted, p.Wrong)}
	}
	return points
}

// The frame of the pictures.
const (
	pictureWidth        = 480
	leftEdge, rightEdge = 50.0, 465.0
	topEdge             = 16.0
)

// differencePicture is a forest plot.
func differencePicture(rivals []Rival) trial.SVG {
	const rowHeight, nameWidth = 34.0, 214.0
	bottom := topEdge + rowHeight*float64(len(rivals))
	low, high := -0.02, 0.02
	for i := range rivals {
		low, high = min(low, rivals[i].Difference.Interval.Low), max(high, rivals[i].Difference.Interval.High)
	}
	x := scale{low, high, nameWidth + 10, rightEdge}
	d := newDrawing(bottom+30, "Differences between the court and each method")
	d.line("axis", x.low, bottom, x.high, bottom)
	d.line("zero", x.at(0), topEdge, x.at(0), bottom)
	d.text("", x.low, bottom+20, "start", pointsText(low))
	d.text("", x.high, bottom+20, "end", pointsText(high))
	if x.at(0)-x.low > 50 && x.high-x.at(0) > 50 {
		d.text("", x.at(0), bottom+20, "middle", "0")
	}
	for i := range rivals {
		rival := &rivals[i]
		y, in := topEdge+rowHeight*(float64(i)+0.5), rival.Difference.Interval
		class, name := "f-"+string(rival.Difference.Finding), rival.Name
		if rival.Chosen {
			name += " *"
		}
		d.text("", nameWidth, y+4, "end", name)
		d.line("interval "+class, x.at(in.Low), y, x.at(in.High), y)
		d.dot(class, x.at(rival.Difference.Estimate), y, 5, fmt.Sprintf("%s: %s points, %s to %s, %s",
			rival.Name, pointsText(rival.Difference.Estimate), pointsText(in.Low), pointsText(in.High), rival.Difference.Finding))
	}
	return d.done()
}

// chart draws Light's points and the court's, over ticks of x and the quarters of y, which goes from 0 to most.
type chart struct {
	title, x     string
	bottom       float64
	ticks        []float64
	most         float64
	diagonal     bool
	light, court []chartPoint
}

// chartPoint is a point with the interval of y, nil for none, and what it is.
type chartPoint struct {
	x, y     float64
	interval *Interval
	title    string
}

func (c chart) draw() trial.SVG {
	x, y := scale{c.ticks[0], c.ticks[len(c.ticks)-1], leftEdge, rightEdge}, scale{0, c.most, c.bottom, topEdge}
	for _, p := range c.court {
		x.to = max(x.to, p.x)
	}
	d := newDrawing(c.bottom+44, c.title)
	d.line("axis", x.low, y.high, x.low, y.low, x.high, y.low)
	for i := range 5 {
		share := float64(i) / 4
		py := y.low + share*(y.high-y.low)
		d.line("axis", x.low-4, py, x.low, py)
		d.text("", x.low-8, py+4, "end", shortest(share*c.most))
	}
	for _, tick := range c.ticks {
		d.line("axis", x.at(tick), y.low, x.at(tick), y.low+4)
		d.text("", x.at(tick), y.low+18, "middle", twoDigits(tick))
	}
	d.text("", (leftEdge+rightEdge)/2, c.bottom+38, "middle", c.x)
	if c.diagonal {
		d.line("zero", x.at(0), y.at(0), x.at(1), y.at(1))
	}
	for i, series := range []struct {
		class, name string
		points      []chartPoint
	}{{"court", "court", c.court}, {"light", "Light", c.light}} {
		if len(series.points) == 0 {
			continue
		}
		if len(c.light) > 0 {
			d.text(series.class, leftEdge+12, topEdge+20+18*float64(i), "start", "● "+series.name)
		}
		var path []float64
		for _, p := range series.points {
			path = append(path, x.at(p.x), y.at(p.y))
			radius := 2.0
			if p.interval != nil {
				radius = 4
				d.line("interval "+series.class, x.at(p.x), y.at(p.interval.Low), x.at(p.x), y.at(p.interval.High))
			}
			d.dot(series.class, x.at(p.x), y.at(p.y), radius, p.title)
		}
		d.line("line "+series.class, path...)
	}
	return d.done()
}

// scale maps values onto pixels.
type scale struct{ from, to, low, high float64 }

func (s scale) at(v float64) float64 { return s.low + (v-s.from)/(s.to-s.from)*(s.high-s.low) }

// drawing is an SVG under construction. Coordinates are those of the picture; all text is escaped.
type drawing struct{ b strings.Builder }

func newDrawing(height float64, label string) *drawing {
	d := &drawing{}
	fmt.Fprintf(&d.b, `<svg viewBox="0 0 %d %s" role="img" aria-label="%s">`, pictureWidth, coordinate(height), html.EscapeString(label))
	return d
}

// line draws from point to point: x, y, x, y, ...
func (d *drawing) line(class string, at ...float64) {
	var points []string
	for i := 0; i+1 < len(at); i += 2 {
		points = append(points, coordinate(at[i])+","+coordinate(at[i+1]))
	}
	fmt.Fprintf(&d.b, `<polyline class="%s" points="%s"/>`, class, strings.Join(points, " "))
}

// dot draws a circle that tells what it is when pointed at.
func (d *drawing) dot(class string, x, y, radius float64, title string) {
	fmt.Fprintf(&d.b, `<circle class="%s" cx="%s" cy="%s" r="%s"><title>%s</title></circle>`,
		class, coordinate(x), coordinate(y), coordinate(radius), html.EscapeString(title))
}

// text writes a label; anchor is start, middle or end.
func (d *drawing) text(class string, x, y float64, anchor, text string) {
	fmt.Fprintf(&d.b, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`, class, coordinate(x), coordinate(y), anchor, html.EscapeString(text))
}

func (d *drawing) done() trial.SVG { return trial.SVG(d.b.String() + "</svg>") }

// coordinate with one decimal, so that equal reports are equal on every machine.
func coordinate(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}
