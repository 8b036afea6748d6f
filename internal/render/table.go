package render

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/host/trial"
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
	// concluded are the cases with experiments, open those without an answer.
	concluded, open caseList
}

// tableRow holds the cells before they are fitted, sanitized.
type tableRow struct {
	id, about, status, light, final, truth, cause, audit cell
}

// cell is a text that may be shortened, and what must stand behind it.
type cell struct {
	text, tail string
	paint      paint
	// end keeps the end of a text that is shortened, and not its beginning.
	end bool
}

func (c cell) width() int { return text.StringWidthWithoutEscSequences(c.text + c.tail) }

func (c cell) fitted(width int) string {
	if c.end {
		return snipStart(c.text, width-text.StringWidthWithoutEscSequences(c.tail)) + c.tail
	}
	return text.Snip(c.text, width-text.StringWidthWithoutEscSequences(c.tail), "…") + c.tail
}

const (
	idColumns     = 72
	readableID    = 40  // to which ids are shortened rather than the names of labels
	aboutColumns  = 160 // where the terminal has as many
	nameColumns   = 60
	labelColumns  = 24
	remandColumns = 16 // of a label, where Light has another one after a remand
)

func (t *tableWriter) Summary() *Summary { return t.summary }

func (t *tableWriter) Write(trial *trial.Trial) error {
	t.summary.Add(trial)
	r := &trial.Result
	none := cell{text: "–"}
	row := tableRow{
		id: cell{text: snipStart(r.ID, idColumns), end: true}, about: cell{text: snip(trial.About(), aboutColumns)},
		status: cell{text: snip(string(r.Final.Status), labelColumns), paint: statusPaint(r.Final.Status)},
		light:  none, final: none, cause: cell{text: snip(string(r.Final.Cause), labelColumns), paint: red},
	}
	if n := len(r.Members); n > 0 {
		row.id.tail = " ×" + strconv.Itoa(n+1)
	}
	if l := r.Light; l != nil {
		row.light = labelCell(trial, l.Classification, " "+number(l.Confidence))
		row.light.paint = faint
	}
	if l := r.Remanded(); l != nil {
		row.light = cell{text: snip(trial.LabelName(r.Light.Classification), remandColumns) + "→" + snip(trial.LabelName(l.Classification), remandColumns), paint: faint}
	}
	if r.Final.Classification != "" {
		row.final = labelCell(trial, r.Final.Classification, " "+number(r.Final.Confidence))
	}
	if r.Error != nil && r.Error.Persona != "" && r.Final.Cause != "" {
		row.cause.text += " (" + snip(r.Error.Persona, labelColumns) + ")"
	}
	if c := trial.Compare(); c.Known {
		row.truth = truthCell(labelCell(trial, trial.Truth.Classification, ""), r, c)
	}
	if a := r.Audit; a != nil {
		row.audit = cell{text: a.Score(), paint: scorePaint(a.GlobalScore)}
		if a.SecurityViolationFound {
			row.audit.tail = " !"
		}
	}
	t.rows = append(t.rows, row)
	t.conclude(trial)
	t.leave(trial)
	return nil
}

// labelCell shows a label by its name.
func labelCell(trial *trial.Trial, label, tail string) cell {
	return cell{text: snip(trial.LabelName(label), labelColumns), tail: tail}
}

// truthCell marks a right answer and a wrong one; a case that is left open gets no mark.
func truthCell(label cell, r *trial.Result, c trial.Comparison) cell {
	switch {
	case r.Final.Classification == "":
		label.paint = faint
	case c.CourtRight:
		label.tail, label.paint = " ✓", green
	default:
		label.tail, label.paint = " ✗", red
	}
	return label
}

func (t *tableWriter) Close() error {
	if all := t.summary.allFailed(); all != "" {
		var b strings.Builder
		t.options.named(&b, allFailed, all)
		if _, err := io.WriteString(t.w, b.String()+"\n"); err != nil {
			return err
		}
	}
	if len(t.rows) > 0 {
		if _, err := io.WriteString(t.w, t.render()+"\n\n"); err != nil {
			return err
		}
	}
	_, err := io.WriteString(t.w, t.concluded.text(t.options, "Conclusions", "and those of ")+t.open.text(t.options, "Without an answer", "and ")+
		t.options.summaryText(t.summary))
	return err
}

// column is one column of the table. It goes away when no row has anything for it.
type column struct {
	name string
	cell func(*tableRow) cell
	// least is how far it shrinks when the terminal is narrow.
	least int
	// goes says which columns go away when all have shrunk and it is still too wide: 1 first; 0 stays.
	goes int
}

func columns() []column {
	return []column{
		{idColumn, func(r *tableRow) cell { return r.id }, 20, 0},
		{"STATUS", func(r *tableRow) cell { return r.status }, 9, 0},
		{"LIGHT", func(r *tableRow) cell { return r.light }, 20, 1},
		{"FINAL", func(r *tableRow) cell { return r.final }, 20, 0},
		{"TRUTH", func(r *tableRow) cell { return r.truth }, 9, 2},
		{"CAUSE", func(r *tableRow) cell { return r.cause }, 17, 4},
		{"AUDIT", func(r *tableRow) cell { return r.audit }, 5, 0},
		{aboutColumn, func(r *tableRow) cell { return r.about }, 24, 3},
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
			v := c.cell(&t.rows[i])
			cells = append(cells, t.options.paint(v.paint, v.fitted(widths[j])))
		}
		w.AppendRow(cells)
	}
	w.SuppressTrailingSpaces()
	return strings.Replace(w.Render(), "──\n", "\n", 1) // the rule covers the last column's padding too
}

// wanted is how wide the widest cell of a column is.
func (t *tableWriter) wanted(c column) int {
	width := 0
	for i := range t.rows {
		width = max(width, c.cell(&t.rows[i]).width())
	}
	return width
}

const (
	// columnGap is the room between two columns.
	columnGap   = 2
	aboutColumn = "ABOUT"
	idColumn    = "CASE"
)

// fit chooses the columns that have something to show and makes them fit the terminal: those that may go do, as long as the others
// can't be shortened enough; then what is left is shortened, the last first.
func (t *tableWriter) fit() (shown []column, widths []int) {
	for _, c := range columns() {
		if width := t.wanted(c); width > 0 {
			shown, widths = append(shown, c), append(widths, max(width, len(c.name)))
		}
	}
	if t.options.Width <= 0 {
		shortenAbout(shown, widths)
		return shown, widths
	}
	for over(shown, leastWidths(shown, widths), t.options.Width) > 0 {
		i := nextToGo(shown)
		if i < 0 {
			break
		}
		shown, widths = slices.Delete(shown, i, i+1), slices.Delete(widths, i, i+1)
	}
	least := leastWidths(shown, widths)
	shorten := func(j, least int) {
		if excess := over(shown, widths, t.options.Width); excess > 0 {
			widths[j] -= min(excess, max(widths[j]-least, 0))
		}
	}
	if last := len(shown) - 1; shown[last].name == aboutColumn {
		shorten(last, least[last])
	}
	shorten(0, readableID) // rather than names of labels
	for j := range slices.Backward(shown) {
		shorten(j, least[j])
	}
	return shown, widths
}

// pipedColumns is how wide a table that is no terminal's gets before ABOUT is shortened, which keeps enough of a failure's message to
// be read. The other columns stay whole there, for programs that search them.
const (
	pipedColumns = 120
	leastAbout   = 60
)

func shortenAbout(shown []column, widths []int) {
	last := len(shown) - 1
	if last >= 0 && shown[last].name == aboutColumn {
		excess := over(shown, widths, pipedColumns)
		widths[last] = max(min(widths[last], leastAbout), widths[last]-max(excess, 0))
	}
}

// over is by how many columns a table of these widths is too wide.
func over(shown []column, widths []int, room int) int {
	total := columnGap * (len(shown) - 1)
	for _, w := range widths {
		total += w
	}
	return total - room
}

func leastWidths(shown []column, widths []int) []int {
	least := make([]int, len(shown))
	for i := range shown {
		least[i] = min(widths[i], shown[i].least)
	}
	return least
}

func nextToGo(shown []column) int {
	next := -1
	for i, c := range shown {
		if c.goes > 0 && (next < 0 || c.goes < shown[next].goes) {
			next = i
		}
	}
	return next
}

func tableStyle() table.Style {
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	return style
}
