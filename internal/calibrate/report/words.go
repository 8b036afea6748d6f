package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/bands"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

const none = "–"

// fact is one line of figures that need no column.
type fact struct{ Name, Text string }

// facts tells the figures in words, for the table's foot, for Markdown and for the page.
func facts(r *calibrate.Report) []fact {
	list := []fact{
		{"Cases", caseText(r)},
		{"Coverage", "the court named a label in " + shareText(r.Band.Coverage) + coveredText(&r.Band)},
		{"Flips", flipText(&r.Metrics.Flips)},
		{"Defense", defenseText(&r.Metrics.Defense)},
		{"Remands", remandText(&r.Metrics.Remands)},
		{"Verdicts", verdictText(r.Metrics.Verdicts)},
		{"ECE", "court " + eceText(&r.Court) + "; Light in the band " + eceText(&r.Light)},
		{"Brier", "court " + brierText(&r.Court) + "; Light in the band " + brierText(&r.Light)},
		{"AURC", "court " + aurcText(&r.CourtRanking) + "; Light in the band " + aurcText(&r.LightRanking)},
		{"Cost", costText(&r.Cost)},
	}
	if p := r.Peers; p != nil {
		list = append(list, fact{"Tokens", peersText(p)})
	}
	if f := r.Fitting; f != nil {
		list = append(list, fact{"Fitted on", fittingText(f)})
	}
	if b := r.Bands; b != nil {
		list = append(list, fact{"Accept", "Light's answer " + b.Light.String() + "; the court's answer " + b.Court.String()})
	}
	return list
}

// peersText says what language models took, with a court and without.
func peersText(p *calibrate.Peers) string {
	parts := []string{fmt.Sprintf("court %d (%d completions, %d without an answer)", p.CourtTokens, p.Completions, p.Unanswered)}
	for i := range p.ByPeer {
		took := &p.ByPeer[i]
		parts = append(parts, fmt.Sprintf("%s %d (%d answers asked for, %d missing)", sanitize.Line(took.Name), took.Tokens, took.Samples, took.Unanswered))
	}
	return strings.Join(parts, "; ")
}

func caseText(r *calibrate.Report) string {
	text := fmt.Sprintf("%d with truth, %d with a known label, %d tried", r.Cases.Cases, r.Cases.Known, r.Cases.Tried)
	var parts []string
	for _, s := range r.Cases.ByStatus {
		if s.Cases > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", s.Cases, s.Status))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if r.Band.Clusters < r.Band.Cases {
		text += fmt.Sprintf("; those in the band are of %d groups", r.Band.Clusters)
	}
	return text
}

func coveredText(c *calibrate.Comparison) string {
	if c.Covered.Of == 0 {
		return ""
	}
	return ", and was right in " + shareText(c.Covered) + "; elsewhere Light's answer counts"
}

func flipText(f *calibrate.Flips) string {
	return fmt.Sprintf("%s: %d to right, %d from right to wrong, %d from wrong to wrong", shareText(f.Rate), f.ToRight, f.ToWrong, f.Between)
}

func defenseText(d *calibrate.Defense) string {
	return "of the answers challenged " + shareText(d.Precision) + " were wrong; of the wrong ones " + shareText(d.Recall) + " were challenged"
}

func remandText(m *calibrate.Remands) string {
	if m.Cases == 0 {
		return "none"
	}
	return fmt.Sprintf("%d cases: %s wrong before and right after, %s the reverse", m.Cases, shareText(m.ToRight), shareText(m.ToWrong))
}

func verdictText(s calibrate.Share) string {
	if s.Of == 0 {
		return "no case states an expected verdict"
	}
	return "as expected in " + shareText(s)
}

func eceText(r *calibrate.Reliability) string {
	if r.ECE == nil {
		return fmt.Sprintf("%s (%d cases, at least %d are needed)", none, r.Cases, calibrate.LeastPerBin)
	}
	text := fraction(*r.ECE)
	if p := r.Perfect; p != nil {
		text += fmt.Sprintf(" (a perfectly calibrated one shows %s, at most %s in 95 %%)", fraction(p.Mean), fraction(p.Most))
	}
	return text
}

func brierText(r *calibrate.Reliability) string {
	if r.Brier == nil {
		return none
	}
	return fraction(*r.Brier) + " (stating the share of right answers would give " + fraction(*r.BrierOfRate) + ")"
}

func aurcText(c *bands.RiskCoverage) string {
	if c.AURC == nil {
		return none
	}
	return fmt.Sprintf("%s (a perfect ranking of these answers has %s, none %s)", fraction(*c.AURC), fraction(*c.Ideal), fraction(*c.Unranked))
}

func costText(c *calibrate.Cost) string {
	if c.Tried == 0 {
		return "no trial"
	}
	text := strconv.FormatFloat(*c.Calls, 'f', 1, 64) + " calls of modules a trial"
	if c.Fuel != nil {
		text += ", " + strconv.FormatFloat(*c.Fuel/1e6, 'f', 1, 64) + " million units of fuel"
	}
	if t := c.Times; t != nil {
		text += fmt.Sprintf(", %s (median %s, 95 %% within %s)", millis(t.Mean), millis(t.Median), millis(t.P95))
	}
	return text
}

func fittingText(f *calibrate.Fitting) string {
	where := "in the band"
	if !f.Band {
		where = "of all kinds, the band has too few"
	}
	text := fmt.Sprintf("%d cases, %d folds; judged by the %d %s: ", f.Cases, f.Folds, f.Counted, where)
	parts := make([]string, 0, len(f.Scores))
	for _, s := range f.Scores {
		parts = append(parts, s.Name+" "+shareOnly(s.Accuracy))
	}
	return text + strings.Join(parts, ", ")
}

// shareText shows a share as "69 of 276 (25.0 %)".
func shareText(s calibrate.Share) string {
	if s.Of == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%.1f %%)", s.Count, s.Of, 100**s.Share)
}

func shareOnly(s calibrate.Share) string {
	if s.Share == nil {
		return none
	}
	return fraction(*s.Share)
}

func intervalText(s calibrate.Share) string {
	if s.Interval == nil {
		return none
	}
	return fraction(s.Interval.Low) + " to " + fraction(s.Interval.High)
}

func fraction(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// number shows as many digits as there are.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// points shows a difference in percentage points, signed; what rounds to nothing is no minus.
func points(v float64) string {
	rounded := math.Round(1000*v) / 10
	if rounded == 0 {
		return "0.0"
	}
	return fmt.Sprintf("%+.1f", rounded)
}

func millis(micros float64) string { return strconv.FormatFloat(micros/1000, 'f', 1, 64) + " ms" }

// short shows at most two decimals.
func short(v float64) string { return number(math.Round(100*v) / 100) }

// probability shows no 0 that is not one.
func probability(p float64) string {
	if p > 0 && p < 0.001 {
		return "< 0.001"
	}
	return fraction(p)
}
