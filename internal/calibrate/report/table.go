package report

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/internal/calibrate"
)

// Table writes the report for a terminal of a width in columns; 0 when it is none.
func Table(w io.Writer, r *calibrate.Report, width int) error {
	if width <= 0 {
		width = 120
	}
	var text strings.Builder
	text.WriteString(layOut(columns(r), width))
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

// column of the table of methods: its head, then a cell for each row. Of the expendable ones the last goes first where the
// terminal is narrow.
type column struct {
	cells      []string
	expendable int // 0: never
}

func columns(r *calibrate.Report) []column {
	list := []column{
		{[]string{""}, 0},
		{[]string{"IN THE BAND"}, 0},
		{[]string{"95 %"}, 2},
		{[]string{"OVERALL"}, 3},
		{[]string{"COURT MINUS IT"}, 0},
		{[]string{"95 %"}, 1},
		{[]string{"FINDING"}, 0},
	}
	for _, row := range rows(r) {
		name := strings.TrimSpace(row.Name + " " + row.Mark)
		for i, cell := range []string{name, row.Accuracy, row.Interval, row.Overall, row.Difference, row.Between, string(row.Finding)} {
			list[i].cells = append(list[i].cells, cell)
		}
	}
	return list
}

func (c *column) width() int {
	width := 0
	for _, cell := range c.cells {
		width = max(width, utf8.RuneCountInString(cell))
	}
	return width
}

// layOut sets the columns beside each other, as many as fit.
func layOut(list []column, width int) string {
	const gap = 2
	for {
		total, goes := -gap, -1
		for i := range list {
			total += list[i].width() + gap
			if e := list[i].expendable; e > 0 && (goes < 0 || e > list[goes].expendable) {
				goes = i
			}
		}
		if total <= width || goes < 0 {
			break
		}
		list = slices.Delete(list, goes, goes+1)
	}
	var b strings.Builder
	for row := range list[0].cells {
		var line strings.Builder
		for i := range list {
			cell := list[i].cells[row]
			line.WriteString(cell + strings.Repeat(" ", list[i].width()-utf8.RuneCountInString(cell)+gap))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
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
