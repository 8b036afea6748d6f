package report

import (
	"io"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Markdown writes the report as GitHub-flavoured Markdown, without the pictures.
func Markdown(w io.Writer, r *calibrate.Report, o Options) error {
	var b strings.Builder
	b.WriteString("# " + sanitize.Markdown(o.title()) + "\n\n")
	if o.Subtitle != "" {
		b.WriteString(sanitize.Markdown(o.Subtitle) + "\n\n")
	}
	for _, sentence := range r.Conclusion.Text {
		b.WriteString(sentence + "\n\n")
	}
	b.WriteString("| Method | In the band | 95 % | Overall | Court minus it, points | 95 % | Sign test | Finding |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, row := range rows(r) {
		cells := []string{
			row.Name, row.Accuracy, row.Interval, row.Overall, row.Difference, row.Between, row.SignTest, string(row.Finding),
		}
		if row.Mark != "" {
			cells[0] += " (the best of them on the fitting half)"
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	b.WriteByte('\n')
	for _, f := range facts(r) {
		b.WriteString("- **" + f.Name + "** " + f.Text + "\n")
	}
	if bins := binRows(&r.Court); len(bins) > 0 {
		b.WriteString("\n## The court's confidence, bin by bin\n\n| From | To | Mean stated | Right | 95 % | Cases |\n| --- | --- | --- | --- | --- | --- |\n")
		for _, bin := range bins {
			b.WriteString("| " + strings.Join([]string{bin.From, bin.To, bin.Stated, bin.Right, bin.Interval, bin.Cases}, " | ") + " |\n")
		}
	}
	if rows := coverageRows(r); len(rows) > 0 {
		b.WriteString("\n## Risk and coverage\n\n| Surest answers | Court: from confidence | Wrong | Light: from confidence | Wrong |\n| --- | --- | --- | --- | --- |\n")
		for _, row := range rows {
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
