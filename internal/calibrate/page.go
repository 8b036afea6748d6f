package calibrate

import (
	"fmt"
	"io"
	"slices"

	"github.com/shadowcourt/shadowcourt/internal/render"
)

// pageTitle is that of a page without one.
const pageTitle = "Shadowcourt calibration"

// WriteHTML writes the report as a self-contained page with pictures.
func WriteHTML(w io.Writer, r *Report, o render.PageOptions) error {
	return document(r).HTML(w, pageTitle, o)
}

// WriteMarkdown writes the report as GitHub-flavoured Markdown, without the pictures.
func WriteMarkdown(w io.Writer, r *Report, o render.PageOptions) error {
	return document(r).Markdown(w, pageTitle, o)
}

// WriteTable writes the report for a terminal.
func WriteTable(w io.Writer, r *Report, o render.TerminalOptions) error {
	g := render.NewGrid(
		render.Column{Name: "METHOD"}, render.Column{Name: "IN THE BAND"}, render.Column{Name: "95 %", Goes: 2}, render.Column{Name: "OVERALL", Goes: 1},
		render.Column{Name: "COURT MINUS IT"}, render.Column{Name: "95 %", Goes: 3}, render.Column{Name: "FINDING"},
	)
	for _, row := range methodRows(r) {
		g.Add(slices.Delete(row, 6, 7)...) // without the sign test
	}
	err := document(r).Text(w, g, o)
	if err == nil && r.Rules != nil {
		_, err = io.WriteString(w, "\n"+r.Rules.grid(o))
	}
	return err
}

// document is what all forms of the report say. Nothing in a report was written by somebody else but the names of rules, labels and owners,
// which are sanitized.
func document(r *Report) *render.Document {
	methods := render.Figures{
		Title: "The court beside what needs no court", Rows: methodRows(r), Chips: 7,
		Head: []string{"Method", "In the band", "95 %", "Overall", "Court minus it, points", "95 %", "Sign test", "Finding"},
	}
	if r.Fitting != nil {
		methods.Note = "* the best of them on the fitting half, by cross-validation"
	}
	d := &render.Document{
		Sentences: r.Conclusion.Text, Class: string(r.Conclusion.Best), Tables: []render.Figures{methods}, Facts: factsOf(r), Pictures: picturesOf(r),
		Foot: fmt.Sprintf("Seed %d, %d resamples, band from %v to below %v. What each figure means: docs/measuring.md of Shadowcourt.",
			r.Settings.Seed, r.Settings.Resamples, r.Settings.Rejection, r.Settings.Activation),
	}
	if len(r.Court.Bins) > 0 {
		bins := render.Figures{Title: "The court's confidence, bin by bin", Head: []string{"From", "To", "Mean stated", "Right", "95 %", "Cases"}}
		for _, b := range r.Court.Bins {
			bins.Rows = append(bins.Rows, []string{
				fraction(b.Low), fraction(b.High), fraction(b.Stated), shareOnly(b.Right), intervalText(b.Right), shortest(float64(b.Right.Of)),
			})
		}
		d.Details = append(d.Details, bins)
	}
	if r.Rules != nil {
		d.Details = append(d.Details, r.Rules.figures())
	}
	if len(r.CourtRanking.Points)+len(r.LightRanking.Points) > 0 {
		d.Details = append(d.Details, render.Figures{
			Title: "Risk and coverage", Head: []string{"Surest answers", "Court: from confidence", "Wrong", "Light: from confidence", "Wrong"}, Rows: coverageRows(r),
		})
	}
	return d
}

// methodRows lists the court, and below it the baselines. The chosen one has a star.
func methodRows(r *Report) [][]string {
	rows := [][]string{{"court", shareOnly(r.Band.Court), intervalText(r.Band.Court), shareOnly(r.Overall.Court), "", "", "", ""}}
	for i := range r.Band.Rivals {
		rival := &r.Band.Rivals[i]
		d, name := &rival.Difference, rival.Name
		difference, between, test := dash, dash, dash
		if r.Band.Cases > 0 {
			difference, between, test = pointsText(d.Estimate), pointsText(d.Interval.Low)+" to "+pointsText(d.Interval.High), probability(d.SignTest)
		}
		if rival.Chosen {
			name += " *"
		}
		rows = append(rows, []string{
			name, shareOnly(rival.Accuracy), intervalText(rival.Accuracy), shareOnly(r.Overall.Rivals[i].Accuracy), difference, between, test, string(d.Finding),
		})
	}
	return rows
}

// coverageRows shows the curves of risk over coverage at every tenth: the first point that accepts at least so many.
func coverageRows(r *Report) [][]string {
	var rows [][]string
	for tenth := 1; tenth <= 10; tenth++ {
		row := []string{fmt.Sprintf("%d %%", 10*tenth)}
		for _, c := range []*RiskCoverage{&r.CourtRanking, &r.LightRanking} {
			cells := []string{dash, dash}
			for _, p := range c.Points {
				if 10*p.Accepted >= tenth*c.Cases {
					cells = []string{fraction(p.Threshold), fmt.Sprintf("%d of %d (%.1f %%)", p.Wrong, p.Accepted, 100*p.Risk)}
					break
				}
			}
			row = append(row, cells...)
		}
		rows = append(rows, row)
	}
	return rows
}
