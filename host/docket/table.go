package docket

import (
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// NewTable writes a table for people, a row for each case, and a summary below it, all at Close.
func NewTable(w io.Writer, options TerminalOptions) Writer {
	return &tableWriter{w: w, options: options, summary: NewSummary()}
}

type tableWriter struct {
	w       io.Writer
	options TerminalOptions
	summary *Summary
	rows    []tableRow
}

// tableRow holds the cells before colour: inert and shortened.
type tableRow struct {
	id, subject, status, light, court, truth, why string
	statusPaint, truthPaint                       paint
}

const (
	idColumns      = 48
	subjectColumns = 60
	labelColumns   = 24
)

func (t *tableWriter) Write(trial *Trial) error {
	t.summary.Add(trial)
	r := &trial.Result
	row := tableRow{
		id: snip(r.ID, idColumns), subject: snip(trial.Case.Subject, subjectColumns),
		status: snip(string(r.Final.Status), labelColumns), statusPaint: statusPaint(r.Final.Status),
		light: "–", court: "–", why: snip(string(r.Final.Cause), labelColumns),
	}
	if r.Light != nil {
		row.light = snip(r.Light.Classification, labelColumns) + " " + number(r.Light.Confidence)
	}
	if r.Final.Classification != "" {
		row.court = snip(r.Final.Classification, labelColumns) + " " + number(r.Final.Confidence)
	}
	if r.Error != nil && r.Error.Persona != "" && row.why != "" {
		row.why += " (" + snip(r.Error.Persona, labelColumns) + ")"
	}
	if c := trial.Compare(); c.Known {
		row.truth, row.truthPaint = truthCell(snip(trial.Truth.Classification, labelColumns), r, c)
	}
	t.rows = append(t.rows, row)
	return nil
}

// truthCell marks a right answer and a wrong one; a case that is left open gets no mark.
func truthCell(label string, r *Result, c Comparison) (string, paint) {
	switch {
	case r.Final.Classification == "":
		return label, faint
	case c.CourtRight:
		return label + " ✓", green
	}
	return label + " ✗", red
}

func (t *tableWriter) Close() error {
	if len(t.rows) > 0 {
		if _, err := io.WriteString(t.w, t.render()+"\n\n"); err != nil {
			return err
		}
	}
	_, err := io.WriteString(t.w, t.options.summaryText(t.summary))
	return err
}

// column is one column of the table; optional ones go away when no row has anything for them.
type column struct {
	name string
	cell func(*tableRow) (string, paint)
	// shrinks to this many columns when the terminal is narrow; 0 never.
	least int
}

func columns() []column {
	return []column{
		{"CASE", func(r *tableRow) (string, paint) { return r.id, plain }, 12},
		{"STATUS", func(r *tableRow) (string, paint) { return r.status, r.statusPaint }, 0},
		{"LIGHT", func(r *tableRow) (string, paint) { return r.light, faint }, 0},
		{"FINAL", func(r *tableRow) (string, paint) { return r.court, plain }, 0},
		{"TRUTH", func(r *tableRow) (string, paint) { return r.truth, r.truthPaint }, 0},
		{"CAUSE", func(r *tableRow) (string, paint) { return r.why, red }, 17},
		{"SUBJECT", func(r *tableRow) (string, paint) { return r.subject, plain }, 16},
	}
}

func (t *tableWriter) render() string {
	shown, widths := t.fit()
	w := table.NewWriter()
	w.SetStyle(tableStyle())
	header := table.Row{}
	for _, c := range shown {
		header = append(header, t.options.paint(bold, c.name))
	}
	w.AppendHeader(header)
	for i := range t.rows {
		cells := table.Row{}
		for j, c := range shown {
			s, p := c.cell(&t.rows[i])
			cells = append(cells, t.options.paint(p, text.Snip(s, widths[j], "…")))
		}
		w.AppendRow(cells)
	}
	w.SuppressTrailingSpaces()
	return strings.Replace(w.Render(), "──\n", "\n", 1) // the rule covers the last column's padding too
}

// fit chooses the columns that have something to show and makes them fit: the subject gives first, then goes altogether,
// then the others that may.
func (t *tableWriter) fit() (shown []column, widths []int) {
	const gap = 2
	total := -gap
	for _, c := range columns() {
		width := 0
		for i := range t.rows {
			s, _ := c.cell(&t.rows[i])
			width = max(width, text.StringWidthWithoutEscSequences(s))
		}
		if width > 0 {
			shown, widths = append(shown, c), append(widths, max(width, len(c.name)))
			total += widths[len(widths)-1] + gap
		}
	}
	over := total - t.options.Width
	if t.options.Width <= 0 || over <= 0 {
		return shown, widths
	}
	if last := len(shown) - 1; shown[last].name == "SUBJECT" {
		if widths[last]-over >= shown[last].least {
			widths[last] -= over
			return shown, widths
		}
		over -= widths[last] + gap
		shown, widths = shown[:last], widths[:last]
	}
	for j := len(shown) - 1; j >= 0 && over > 0; j-- {
		if spare := widths[j] - shown[j].least; shown[j].least > 0 && spare > 0 {
			widths[j] -= min(spare, over)
			over -= spare
		}
	}
	return shown, widths
}

func tableStyle() table.Style {
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	return style
}
