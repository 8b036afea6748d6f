package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/bands"
)

// picture is a drawing with its words.
type picture struct {
	Title   string
	Drawing template.HTML
	Caption string
}

// pictures are those for which there is something to draw.
func pictures(r *calibrate.Report) []picture {
	var list []picture
	if r.Band.Cases > 0 {
		list = append(list, picture{
			"Court minus each method", differences(r),
			"Percentage points in the band, with 95 % bootstrap intervals. Right of the line the court is ahead.",
		})
	}
	if len(r.Court.Bins)+len(r.Light.Bins) > 0 {
		list = append(list, picture{
			"Reliability", reliability(r),
			fmt.Sprintf("Share of right answers against the mean stated confidence, in bins of at least %d cases with 95 %% intervals. On the diagonal a confidence keeps what it promises; below it says too much.", calibrate.LeastPerBin),
		})
	}
	if len(r.CourtRanking.Points)+len(r.LightRanking.Points) > 0 {
		list = append(list, picture{
			"Risk and coverage", riskCoverage(r),
			"Share of wrong answers among the surest, over how many of the answers these are. The lower the line, the better the confidences tell right answers from wrong ones.",
		})
	}
	if len(r.Thresholds) > 1 && r.Overall.Cases > 0 {
		list = append(list, picture{
			"Accuracy over activation thresholds", overThresholds(r),
			"All cases, had Light's answer been accepted from this confidence on, and those below gone before the court; at the left end nothing does. The thin lines are 95 % intervals.",
		})
	}
	return list
}

// The frame of the pictures.
const (
	pictureWidth = 480
	left, right  = 50.0, 465.0
	top          = 16.0
)

// differences is a forest plot.
func differences(r *calibrate.Report) template.HTML {
	const rowHeight, nameWidth = 34.0, 214.0
	rivals := r.Band.Rivals
	bottom := top + rowHeight*float64(len(rivals))
	low, high := -0.02, 0.02
	for i := range rivals {
		low, high = min(low, rivals[i].Difference.Interval.Low), max(high, rivals[i].Difference.Interval.High)
	}
	x := scale{low, high, nameWidth + 10, right}
	d := newDrawing(bottom+30, "Differences between the court and each method")
	d.line("axis", x.low, bottom, x.high, bottom)
	d.line("zero", x.at(0), top, x.at(0), bottom)
	d.text("", x.low, bottom+20, "start", points(low))
	d.text("", x.high, bottom+20, "end", points(high))
	if x.at(0)-x.low > 50 && x.high-x.at(0) > 50 {
		d.text("", x.at(0), bottom+20, "middle", "0")
	}
	for i := range rivals {
		rival := &rivals[i]
		y := top + rowHeight*(float64(i)+0.5)
		class := "f-" + string(rival.Difference.Finding)
		name := rival.Name
		if rival.Chosen {
			name += " *"
		}
		d.text("", nameWidth, y+4, "end", name)
		in := rival.Difference.Interval
		d.line("interval "+class, x.at(in.Low), y, x.at(in.High), y)
		d.dot(class, x.at(rival.Difference.Estimate), y, 5, fmt.Sprintf("%s: %s points, %s to %s, %s",
			rival.Name, points(rival.Difference.Estimate), points(in.Low), points(in.High), rival.Difference.Finding))
	}
	return d.done()
}

// reliability is the diagram of the court's and Light's confidences in the band.
func reliability(r *calibrate.Report) template.HTML {
	const bottom = 400.0
	x, y := scale{0, 1, left, right}, scale{0, 1, bottom, top}
	d := newDrawing(bottom+44, "Reliability diagram")
	axes(d, x, y, []float64{0, 0.25, 0.5, 0.75, 1})
	d.line("zero", x.at(0), y.at(0), x.at(1), y.at(1))
	d.text("", (left+right)/2, bottom+38, "middle", "stated confidence")
	for _, series := range []struct {
		class, name string
		bins        []calibrate.Bin
		line        float64
	}{{"light", "Light", r.Light.Bins, 38}, {"court", "court", r.Court.Bins, 20}} {
		if len(series.bins) == 0 {
			continue
		}
		d.text(series.class, left+12, top+series.line, "start", "● "+series.name)
		var path []float64
		for _, b := range series.bins {
			px, py := x.at(b.Stated), y.at(*b.Right.Share)
			path = append(path, px, py)
			d.line("interval "+series.class, px, y.at(b.Right.Interval.Low), px, y.at(b.Right.Interval.High))
			d.dot(series.class, px, py, 4, fmt.Sprintf("%s: stated %s, right %s of %d cases", series.name, fraction(b.Stated), shareOnly(b.Right), b.Right.Of))
		}
		d.line("line "+series.class, path...)
	}
	return d.done()
}

// riskCoverage draws the curves of the court's and Light's answers in the band.
func riskCoverage(r *calibrate.Report) template.HTML {
	const bottom = 300.0
	all := []struct {
		class, name string
		points      []bands.CoveragePoint
	}{{"light", "Light", r.LightRanking.Points}, {"court", "court", r.CourtRanking.Points}}
	most := 0.1
	for _, series := range all {
		for _, p := range series.points {
			most = max(most, p.Risk)
		}
	}
	x, y := scale{0, 1, left, right}, scale{0, math.Ceil(10*most) / 10, bottom, top}
	d := newDrawing(bottom+44, "Risk over coverage")
	axes(d, x, y, []float64{0, 0.25, 0.5, 0.75, 1})
	d.text("", (left+right)/2, bottom+38, "middle", "coverage")
	for i, series := range all {
		if len(series.points) == 0 {
			continue
		}
		d.text(series.class, right-70, bottom-28+18*float64(i), "start", "● "+series.name)
		var path []float64
		for _, p := range series.points {
			path = append(path, x.at(p.Coverage), y.at(p.Risk))
			d.dot(series.class, x.at(p.Coverage), y.at(p.Risk), 2, fmt.Sprintf("%s from %s on: %d answers, %d wrong", series.name, short(p.Threshold), p.Accepted, p.Wrong))
		}
		d.line("line "+series.class, path...)
	}
	return d.done()
}

// overThresholds draws the accuracy had the court been activated below another threshold.
func overThresholds(r *calibrate.Report) template.HTML {
	const bottom = 300.0
	first, last := r.Thresholds[0], r.Thresholds[len(r.Thresholds)-1]
	x, y := scale{first.Threshold, last.Threshold, left, right}, scale{0, 1, bottom, top}
	d := newDrawing(bottom+44, "Accuracy over activation thresholds")
	var line, low, high, ticks []float64
	for i, p := range r.Thresholds {
		if i%2 == 0 || len(r.Thresholds) < 6 {
			ticks = append(ticks, p.Threshold)
		}
	}
	axes(d, x, y, ticks)
	d.text("", (left+right)/2, bottom+38, "middle", "activation threshold")
	for _, p := range r.Thresholds {
		px := x.at(p.Threshold)
		line = append(line, px, y.at(*p.Accuracy.Share))
		low = append(low, px, y.at(p.Accuracy.Interval.Low))
		high = append(high, px, y.at(p.Accuracy.Interval.High))
		d.dot("court", px, y.at(*p.Accuracy.Share), 4, fmt.Sprintf("below %s: %d cases tried, %s right overall; of the accepted %s",
			number(p.Threshold), p.Tried, shareOnly(p.Accuracy), shareOnly(p.Accepted)))
	}
	d.line("line court", line...)
	d.line("line interval court", low...)
	d.line("line interval court", high...)
	return d.done()
}

// axes draws the frame, with ticks of x and the quarters of y.
func axes(d *drawing, x, y scale, ticks []float64) {
	d.line("axis", x.low, y.high, x.low, y.low, x.high, y.low)
	for i := range 5 {
		share := float64(i) / 4
		py := y.low + share*(y.high-y.low)
		d.line("axis", x.low-4, py, x.low, py)
		d.text("", x.low-8, py+4, "end", number(y.from+share*(y.to-y.from)))
	}
	for _, tick := range ticks {
		d.line("axis", x.at(tick), y.low, x.at(tick), y.low+4)
		d.text("", x.at(tick), y.low+18, "middle", short(tick))
	}
}
