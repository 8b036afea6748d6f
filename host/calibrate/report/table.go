package report

import (
	"bytes"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/host/calibrate"
)

// Table writes the report for a terminal of a width in columns; 0 when it is none.
func Table(w io.Writer, r *calibrate.Report, width int) error {
	if width <= 0 {
		width = 120
	}
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	line := func(cells ...string) { _, _ = io.WriteString(t, strings.Join(cells, "\t")+"\n") }
	line("", "IN THE BAND", "95 %", "OVERALL", "COURT MINUS IT", "95 %", "FINDING")
	for _, row := range rows(r) {
		line(strings.TrimSpace(row.Name+" "+row.Mark), row.Accuracy, row.Interval, row.Overall, row.Difference, row.Between, string(row.Finding))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString(trimRight(b.String()))
	if r.Fitting != nil {
		text.WriteString("* the best of them on the fitting half\n")
	}
	text.WriteByte('\n')
	for _, f := range facts(r) {
		text.WriteString(hang(f.Name, f.Text, names, width))
	}
	text.WriteByte('\n')
	for _, sentence := range r.Conclusion.Text {
		text.WriteString(hang("", sentence, 0, width))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// names is the width of the column with the names of facts.
const names = 11

// hang lays a text out behind its name, over as many lines as it takes, indented by as many columns as the name has.
func hang(name, text string, indent, width int) string {
	var b strings.Builder
	b.WriteString(name + strings.Repeat(" ", max(indent-len(name), 0)))
	column := indent
	for i, word := range strings.Fields(text) {
		switch length := utf8.RuneCountInString(word); {
		case i == 0:
			column += length
		case column+1+length > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent + length
		default:
			b.WriteByte(' ')
			column += 1 + length
		}
		b.WriteString(word)
	}
	return b.String() + "\n"
}

func trimRight(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
