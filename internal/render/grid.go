package render

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Column is one column of a [Grid].
type Column struct {
	Name string
	// Numbers stand at the right.
	Numbers bool
	// Goes says which columns go away where all have shrunk and the grid is still too wide: 1 first; 0 stays.
	Goes int
	// first is how far it shrinks before others do, least how far in the end, piped how far where the output is no terminal; 0 for
	// not at all.
	first, least, piped int
}

// cell is a text that may be shortened, and what must stand behind it.
type cell struct {
	text, tail string
	paint      paint
	// end keeps the end of a text that is shortened, and not its beginning.
	end bool
}

func (c cell) width() int { return text.StringWidthWithoutEscSequences(c.text + c.tail) }

// fitted is the cell in at most so many columns.
func (c cell) fitted(width int) string {
	if c.width() <= width {
		return c.text + c.tail
	}
	room := width - text.StringWidthWithoutEscSequences(c.tail)
	if c.end {
		return snipStart(c.text, room) + c.tail
	}
	return text.Snip(c.text, room, "…") + c.tail
}

// Grid is a table for people.
type Grid struct {
	columns []Column
	rows    [][]cell
}

// NewGrid begins a table.
func NewGrid(columns ...Column) *Grid { return &Grid{columns: columns} }

// Add adds a row. The cells are sanitized.
func (g *Grid) Add(cells ...string) {
	row := make([]cell, len(cells))
	for i := range cells {
		row[i].text = sanitize.Line(cells[i])
	}
	g.rows = append(g.rows, row)
}

// addColumn adds a column, with a cell for each row.
func (g *Grid) addColumn(c Column, of func(row int) cell) {
	g.columns = append(g.columns, c)
	for i := range g.rows {
		g.rows[i] = append(g.rows[i], of(i))
	}
}

const (
	// columnGap is the room between two columns.
	columnGap = 2
	// pipedColumns is how wide a table that is no terminal's gets before columns are shortened.
	pipedColumns = 120
)

// fit gives how wide each column is shown, 0 for one that goes, and whether the grid fits. Columns that may go do, as long as the others
// can't be shortened enough; then what is left is shortened, the last first.
func (g *Grid) fit(width int) (widths []int, fits bool) {
	widths = make([]int, len(g.columns))
	for i := range g.columns {
		for _, row := range g.rows {
			widths[i] = max(widths[i], row[i].width())
		}
		if widths[i] > 0 { // a column without content is not shown
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(g.columns[i].Name))
		}
	}
	shrink := func(to func(c *Column) int, room int) {
		for i, c := range slices.Backward(g.columns) {
			if least := to(&c); least > 0 {
				widths[i] -= min(max(over(widths, room), 0), max(widths[i]-least, 0))
			}
		}
	}
	if width <= 0 {
		shrink(func(c *Column) int { return c.piped }, pipedColumns)
		return widths, true
	}
	for next := g.nextToGo(widths); next >= 0 && over(g.least(widths), width) > 0; next = g.nextToGo(widths) {
		widths[next] = 0
	}
	shrink(func(c *Column) int { return c.first }, width)
	shrink(func(c *Column) int { return c.least }, width)
	return widths, over(widths, width) <= 0
}

// over is by how many columns widths are too wide.
func over(widths []int, room int) int {
	total := -columnGap
	for _, w := range widths {
		if w > 0 {
			total += w + columnGap
		}
	}
	return total - room
}

func (g *Grid) least(widths []int) []int {
	least := slices.Clone(widths)
	for i := range least {
		if c := &g.columns[i]; c.least > 0 {
			least[i] = min(least[i], c.least)
		}
	}
	return least
}

func (g *Grid) nextToGo(widths []int) int {
	next := -1
	for i := range g.columns {
		if goes := g.columns[i].Goes; goes > 0 && widths[i] > 0 && (next < 0 || goes < g.columns[next].Goes) {
			next = i
		}
	}
	return next
}

// Text lays the table out.
func (g *Grid) Text(o TerminalOptions) string {
	widths, _ := g.fit(o.Width)
	var b strings.Builder
	line := func(of func(i int) (shown string, p paint)) {
		var parts []string
		for i, width := range widths {
			if width == 0 {
				continue
			}
			shown, p := of(i)
			blanks := strings.Repeat(" ", max(width-text.StringWidthWithoutEscSequences(shown), 0))
			if g.columns[i].Numbers {
				parts = append(parts, blanks+o.paint(p, shown))
			} else {
				parts = append(parts, o.paint(p, shown)+blanks)
			}
		}
		b.WriteString(strings.TrimRight(strings.Join(parts, strings.Repeat(" ", columnGap)), " ") + "\n")
	}
	line(func(i int) (string, paint) { return g.columns[i].Name, bold })
	b.WriteString(strings.Repeat("─", over(widths, 0)) + "\n")
	for _, row := range g.rows {
		line(func(i int) (string, paint) { return row[i].fitted(widths[i]), row[i].paint })
	}
	return b.String()
}
