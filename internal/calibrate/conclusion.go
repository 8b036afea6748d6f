package calibrate

import (
	"fmt"
	"math"
)

// Conclusion says in words what the differences in the band show.
type Conclusion struct {
	// Light is the finding against Light alone.
	Light Finding `json:"light"`
	// Best is the finding against the best baseline, and Beside names it. ByHindsight: for want of a fitting half it is the
	// one that did best on the tested cases themselves, which flatters it.
	Best        Finding  `json:"best"`
	Beside      MethodID `json:"beside"`
	ByHindsight bool     `json:"by_hindsight"`
	// Text are the sentences, one for each point.
	Text []string `json:"text"`
}

func conclude(r *Report) Conclusion {
	c := Conclusion{Light: Undecided, Best: Undecided, ByHindsight: r.Fitting == nil, Text: []string{}}
	if r.Band.Cases == 0 {
		c.Text = append(c.Text, "No case with a known right label went before the court: nothing is shown.")
		return c
	}
	light, best := &r.Band.Rivals[0], bestOf(&r.Band)
	c.Light, c.Best, c.Beside = light.Difference.Finding, best.Difference.Finding, best.ID
	c.Text = append(c.Text, sentence(light, r.Band.Cases))
	if best.ID != light.ID {
		c.Text = append(c.Text, sentence(best, r.Band.Cases))
	}
	if c.ByHindsight {
		c.Text = append(c.Text, "Without --fitted-on the fitted baselines are left out, and the best of the others is the one that did best on these very cases.")
	}
	if r.Band.Cases < LeastCases {
		c.Text = append(c.Text, fmt.Sprintf("%d cases in the band show nothing either way: at least %d are needed.", r.Band.Cases, LeastCases))
	}
	return c
}

// bestOf is the chosen baseline, or without one the one with the most right answers here.
func bestOf(c *Comparison) *Rival {
	best := &c.Rivals[0]
	for i := range c.Rivals {
		rival := &c.Rivals[i]
		if rival.Chosen {
			return rival
		}
		if rival.Accuracy.Count > best.Accuracy.Count {
			best = rival
		}
	}
	return best
}

func sentence(rival *Rival, cases int) string {
	d := &rival.Difference
	figures := fmt.Sprintf("%+.1f points over %d cases in the band, 95 %% interval %+.1f to %+.1f",
		points(d.Estimate), cases, points(d.Interval.Low), points(d.Interval.High))
	name := rival.Name
	if rival.ID != LightAlone {
		name = "the " + name
	}
	switch d.Finding {
	case Better:
		return fmt.Sprintf("The court beats %s: %s.", name, figures)
	case NonInferior:
		if d.Interval.Low > 0 {
			return fmt.Sprintf("The court is ahead of %s, but they differ in too few cases, or groups of cases, to call it better: %s.", name, figures)
		}
		return fmt.Sprintf("The court does not beat %s, but is not worse: %s.", name, figures)
	case Level:
		return fmt.Sprintf("The court is level with %s, and not shown to be as good: %s.", name, figures)
	case Worse:
		return fmt.Sprintf("The court does not beat %s, it is worse: %s.", name, figures)
	case Undecided:
	}
	return fmt.Sprintf("The court is not shown to beat %s, nor to be as good: %s.", name, figures)
}

// points are percentage points to one decimal, without a negative zero.
func points(v float64) float64 { return math.Round(1000*v)/10 + 0 }
