package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// TerminalOptions say what the text for people is written to.
type TerminalOptions struct {
	// Width in columns, that of the terminal or the one that the user asks for; 0 when there is neither: then only the last
	// column of a table is shortened to fit 120.
	Width int
	// Colour writes ANSI colours. Set it only for a terminal, and not when NO_COLOR is set.
	Colour bool
}

// columns is the width of texts.
func (o TerminalOptions) columns() int {
	if o.Width > 0 {
		return o.Width
	}
	return 120
}

// paint is an SGR colour code.
type paint string

const (
	bold    paint = "1"
	faint   paint = "2"
	red     paint = "31"
	green   paint = "32"
	yellow  paint = "33"
	blue    paint = "34"
	cyan    paint = "36"
	magenta paint = "35"
	struck  paint = "9"
	plain   paint = ""
)

func (o TerminalOptions) paint(p paint, s string) string {
	if !o.Colour || p == plain || s == "" {
		return s
	}
	return "\x1b[" + string(p) + "m" + s + "\x1b[0m"
}

func statusPaint(s trial.Status) paint {
	return map[trial.Status]paint{
		trial.Accepted: green, trial.Affirmed: green, trial.Amended: cyan, trial.Acquitted: yellow, trial.Mistrial: red,
		trial.Unreviewed: faint, trial.Rejected: faint,
	}[s]
}

// personaPaint follows the element, which every persona has, so that personas of other pipelines have a colour too.
func personaPaint(p abi.Persona) paint {
	return cmp.Or(map[abi.Element]paint{
		abi.Fire: red, abi.Water: blue, abi.Earth: green, abi.Air: yellow, abi.Diamond: cyan, abi.Lightning: magenta,
	}[p.Element], bold)
}

// snip makes text fit for one line of at most width columns.
func snip(s string, width int) string {
	if len(s) > 4*width+16 { // don't clean megabytes to show a line
		s = strings.ToValidUTF8(s[:4*width+16], "")
	}
	return text.Snip(sanitize.Line(s), width, "…")
}

// snipStart makes text fit as snip does, and keeps its end: what tells ids apart stands there.
func snipStart(s string, width int) string {
	if most := 4*width + 16; len(s) > most {
		s = strings.ToValidUTF8(s[len(s)-most:], "")
	}
	s = sanitize.Line(s)
	if text.StringWidthWithoutEscSequences(s) <= width {
		return s
	}
	runes, taken := []rune(s), 1 // for the mark
	for i, r := range slices.Backward(runes) {
		if taken += text.RuneWidth(r); taken > width {
			return "…" + string(runes[i+1:])
		}
	}
	return s
}

// wrap breaks text into lines of at most width columns. The text's own line breaks stay.
func wrap(s string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(sanitize.Block(s), "\n") {
		line = strings.ReplaceAll(strings.TrimRight(line, " \t"), "\t", "    ")
		lines = append(lines, strings.Split(text.WrapSoft(line, width), "\n")...)
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// quoted wraps text of somebody else. One of several lines stands behind a bar, so that no line of it looks like one of ours.
func quoted(s string, width int) []string {
	const bar = "│ "
	s = strings.TrimRight(s, "\r\n \t")
	if !strings.Contains(s, "\n") {
		return wrap(s, width)
	}
	lines := wrap(s, width-len("| "))
	for i := range lines {
		lines[i] = strings.TrimRight(bar+lines[i], " ")
	}
	return lines
}

func number(v float64) string { return trial.Number(v) }

func weight(v float64) string { return trial.Weight(v) }

func percent(n, of int) string {
	if of == 0 {
		return "–"
	}
	return strconv.FormatFloat(100*float64(n)/float64(of), 'f', 1, 64) + "%"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Column is one column of a [Grid].
type Column struct {
	Name string
	// Numbers stand at the right.
	Numbers bool
	// Goes says which columns go away where all have shrunk and the grid is still too wide: 1 first; 0 stays.
	Goes int
	// first is how far it shrinks before others do, least how far in the end, piped how far where the output is no terminal; 0 for not at all.
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
