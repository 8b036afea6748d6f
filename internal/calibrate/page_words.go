package calibrate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

const dash = "–"

// factsOf tells the figures in words, for the table's foot, for Markdown and for the page.
func factsOf(r *Report) []render.SummaryLine {
	flips, defense, remands, verdicts := &r.Metrics.Flips, &r.Metrics.Defense, &r.Metrics.Remands, r.Metrics.Verdicts
	coverage := "the court named a label in " + shareText(r.Band.Coverage)
	if r.Band.Covered.Of > 0 {
		coverage += ", and was right in " + shareText(r.Band.Covered) + "; elsewhere Light's answer counts"
	}
	remanded, expected := "none", "no case states an expected verdict"
	if remands.Cases > 0 {
		remanded = fmt.Sprintf("%d cases: %s wrong before and right after, %s the reverse", remands.Cases, shareText(remands.ToRight), shareText(remands.ToWrong))
	}
	if verdicts.Of > 0 {
		expected = "as expected in " + shareText(verdicts)
	}
	list := []render.SummaryLine{
		{Name: "Cases", Text: caseText(r)},
		{Name: "Coverage", Text: coverage},
		{Name: "Flips", Text: fmt.Sprintf("%s: %d to right, %d from right to wrong, %d from wrong to wrong", shareText(flips.Rate), flips.ToRight, flips.ToWrong, flips.Between)},
		{Name: "Defense", Text: "of the answers challenged " + shareText(defense.Precision) + " were wrong; of the wrong ones " + shareText(defense.Recall) + " were challenged"},
		{Name: "Remands", Text: remanded},
		{Name: "Verdicts", Text: expected},
		{Name: "ECE", Text: "court " + eceText(&r.Court) + "; Light in the band " + eceText(&r.Light)},
		{Name: "Brier", Text: "court " + brierText(&r.Court) + "; Light in the band " + brierText(&r.Light)},
		{Name: "AURC", Text: "court " + aurcText(&r.CourtRanking) + "; Light in the band " + aurcText(&r.LightRanking)},
		{Name: "Cost", Text: costText(&r.Cost)},
	}
	if p := r.Peers; p != nil {
		list = append(list, render.SummaryLine{Name: "Tokens", Text: peersText(p)})
	}
	if rules := r.Rules; rules != nil {
		list = append(list, render.SummaryLine{Name: "Rules", Text: rules.text()})
	}
	if f := r.Fitting; f != nil {
		list = append(list, render.SummaryLine{Name: "Fitted on", Text: fittingText(f)})
	}
	if b := r.Bands; b != nil {
		list = append(list, render.SummaryLine{Name: "Accept", Text: "Light's answer " + b.Light.String() + "; the court's answer " + b.Court.String()})
	}
	return list
}

// peersText says what language models took, with a court and without.
func peersText(p *Peers) string {
	parts := []string{fmt.Sprintf("court %d (%d completions, %d without an answer)", p.CourtTokens, p.Completions, p.Unanswered)}
	for i := range p.ByPeer {
		took := &p.ByPeer[i]
		parts = append(parts, fmt.Sprintf("%s %d (%d answers asked for, %d missing)", sanitize.Line(took.Name), took.Tokens, took.Samples, took.Unanswered))
	}
	return strings.Join(parts, "; ")
}

func caseText(r *Report) string {
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

func eceText(r *Reliability) string {
	if r.ECE == nil {
		return fmt.Sprintf("%s (%d cases, at least %d are needed)", dash, r.Cases, LeastPerBin)
	}
	text := fraction(*r.ECE)
	if p := r.Perfect; p != nil {
		text += fmt.Sprintf(" (a perfectly calibrated one shows %s, at most %s in 95 %%)", fraction(p.Mean), fraction(p.Most))
	}
	return text
}

func brierText(r *Reliability) string {
	if r.Brier == nil {
		return dash
	}
	return fraction(*r.Brier) + " (stating the share of right answers would give " + fraction(*r.BrierOfRate) + ")"
}

func aurcText(c *RiskCoverage) string {
	if c.AURC == nil {
		return dash
	}
	return fmt.Sprintf("%s (a perfect ranking of these answers has %s, none %s)", fraction(*c.AURC), fraction(*c.Ideal), fraction(*c.Unranked))
}

func costText(c *Cost) string {
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

func fittingText(f *Fitting) string {
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
func shareText(s Share) string {
	if s.Of == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%.1f %%)", s.Count, s.Of, 100**s.Share)
}

func shareOnly(s Share) string {
	if s.Share == nil {
		return dash
	}
	return fraction(*s.Share)
}

func intervalText(s Share) string {
	if s.Interval == nil {
		return dash
	}
	return fraction(s.Interval.Low) + " to " + fraction(s.Interval.High)
}

func fraction(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// shortest shows as many digits as there are.
func shortest(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// pointsText shows a difference in percentage points, signed; what rounds to nothing is no minus.
func pointsText(v float64) string {
	rounded := math.Round(1000*v) / 10
	if rounded == 0 {
		return "0.0"
	}
	return fmt.Sprintf("%+.1f", rounded)
}

func millis(micros float64) string { return strconv.FormatFloat(micros/1000, 'f', 1, 64) + " ms" }

// twoDigits shows at most two decimals.
func twoDigits(v float64) string { return shortest(math.Round(100*v) / 100) }

// probability shows no 0 that is not one.
func probability(p float64) string {
	if p > 0 && p < 0.001 {
		return "< 0.001"
	}
	return fraction(p)
}
