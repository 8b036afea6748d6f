package render

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// NewTable writes a table for people, a row for each case, and a summary below it, all at Close.
func NewTable(w io.Writer, options TerminalOptions) Writer {
	return &tableWriter{w: w, options: options, summary: NewSummary(), grid: NewGrid(
		Column{Name: "CASE", least: 20, first: readableID},
		Column{Name: "STATUS", least: 9},
		Column{Name: "LIGHT", least: 20, Goes: 1},
		Column{Name: "FINAL", least: 20},
		Column{Name: "TRUTH", least: 9, Goes: 2},
		Column{Name: "CAUSE", least: 17, Goes: 4},
		Column{Name: "AUDIT", least: 5},
		// Without a terminal the other columns stay whole, for programs that search them.
		Column{Name: "ABOUT", least: 24, first: 24, Goes: 3, piped: 60},
	)}
}

type tableWriter struct {
	w       io.Writer
	options TerminalOptions
	summary *Summary
	grid    *Grid
	// concluded are the cases with experiments, open those without an answer.
	concluded, open caseList
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
	id, about := cell{text: snipStart(r.ID, idColumns), end: true}, cell{text: snip(trial.About(), aboutColumns)}
	status, cause := cell{text: snip(string(r.Final.Status), labelColumns), paint: statusPaint(r.Final.Status)}, cell{text: snip(string(r.Final.Cause), labelColumns), paint: red}
	light, final, truth, audit := none, none, cell{}, cell{}
	if n := len(r.Members); n > 0 {
		id.tail = " ×" + strconv.Itoa(n+1)
	}
	if l := r.Light; l != nil {
		light = labelCell(trial, l.Classification, " "+number(l.Confidence))
		light.paint = faint
	}
	if l := r.Remanded(); l != nil {
		light = cell{text: snip(trial.LabelName(r.Light.Classification), remandColumns) + "→" + snip(trial.LabelName(l.Classification), remandColumns), paint: faint}
	}
	if r.Final.Classification != "" {
		final = labelCell(trial, r.Final.Classification, " "+number(r.Final.Confidence))
	}
	if r.Error != nil && r.Error.Persona != "" && r.Final.Cause != "" {
		cause.text += " (" + snip(r.Error.Persona, labelColumns) + ")"
	}
	if c := trial.Compare(); c.Known {
		truth = labelCell(trial, trial.Truth.Classification, "")
		switch {
		case r.Final.Classification == "": // left open
			truth.paint = faint
		case c.CourtRight:
			truth.tail, truth.paint = " ✓", green
		default:
			truth.tail, truth.paint = " ✗", red
		}
	}
	if a := r.Audit; a != nil {
		audit = cell{text: a.Score(), paint: scorePaint(a.GlobalScore)}
		if a.SecurityViolationFound {
			audit.tail = " !"
		}
	}
	t.grid.rows = append(t.grid.rows, []cell{id, status, light, final, truth, cause, audit, about})
	if len(r.Experiments) > 0 { // cases of one conclusion may have failed otherwise
		t.concluded.add(r.ID, "", maxConcluded, t.conclusion(trial, ""), t.conclusion(trial, snip(trial.About(), openColumns)))
	}
	if open := r.Open(); open != nil {
		lines := []string{t.options.Named("  why", snip(trial.Named(open.Why), openColumns))}
		for j, next := range open.Next {
			lines = append(lines, t.options.Named([...]string{"  next", "  or"}[min(j, 1)], snip(next, openColumns)))
		}
		text := strings.Join(lines, "")
		t.open.add(r.ID, r.Final.Status, maxOpen, text, text)
	}
	return nil
}

func labelCell(trial *trial.Trial, label, tail string) cell {
	return cell{text: snip(trial.LabelName(label), labelColumns), tail: tail}
}

func (t *tableWriter) Close() error {
	var b strings.Builder
	if all := t.summary.allFailed(); all != "" {
		b.WriteString(t.options.Named(allFailed, all) + "\n")
	}
	if len(t.grid.rows) > 0 {
		b.WriteString(t.grid.Text(t.options) + "\n")
	}
	b.WriteString(t.concluded.text(t.options, "Conclusions", "and those of ") + t.open.text(t.options, "Without an answer", "and "))
	for _, line := range t.summary.Lines() {
		if line.Name != allFailed { // which stands first
			b.WriteString(t.options.Named(line.Name, line.Text))
		}
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

const (
	// maxConcluded and maxOpen are for how many cases a table says what experiments found, and why there is no answer. Cases with the
	// same explanation count once.
	maxConcluded = 20
	maxOpen      = 8
	// maxAlike is how many cases with the same explanation are named.
	maxAlike = 4
	// openColumns is the most of a sentence that a table has room for.
	openColumns = 300
)

// alikeCases are cases of which there is the same to say.
type alikeCases struct {
	ids       []string // the first ones
	cases     int
	status    trial.Status // stands behind the first id; may be empty
	key, said string
}

// caseList is a part of a table below its rows: cases with what there is to say of them.
type caseList struct {
	list   []alikeCases
	untold int // cases beyond the limit
}

// add notes a case. Of those with one status and key, what is said of the first is said of all.
func (l *caseList) add(id string, status trial.Status, limit int, key, said string) {
	i := slices.IndexFunc(l.list, func(c alikeCases) bool { return c.status == status && c.key == key })
	if i < 0 {
		if len(l.list) == limit {
			l.untold++
			return
		}
		i, l.list = len(l.list), append(l.list, alikeCases{status: status, key: key, said: said})
	}
	c := &l.list[i]
	if c.cases++; len(c.ids) < maxAlike {
		c.ids = append(c.ids, id)
	}
}

// text tells the cases under a heading; more stands before how many are left out.
func (l *caseList) text(o TerminalOptions, heading, more string) string {
	if len(l.list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(o.paint(bold, heading) + "\n")
	for i := range l.list {
		c := &l.list[i]
		tail, width := "", o.columns()
		if c.status != "" {
			status := snip(string(c.status), labelColumns)
			tail, width = "  "+o.paint(statusPaint(c.status), status), width-len(status)-2
		}
		b.WriteString(snipStart(c.ids[0], max(width, 20)) + tail + "\n")
		names := make([]string, 0, maxAlike)
		for _, id := range c.ids[1:] {
			names = append(names, snipStart(id, idColumns))
		}
		others := strings.Join(names, ", ")
		if n := c.cases - len(c.ids); n > 0 {
			others += " and " + plural(n, "more case", "more cases")
		}
		if others != "" {
			b.WriteString(o.Named("  as well", others))
		}
		b.WriteString(c.said)
	}
	if l.untold > 0 {
		b.WriteString(more + plural(l.untold, "more case", "more cases") + "\n")
	}
	return b.String() + "\n"
}

// conclusion is what the experiments of a case found: how it failed, whom to ask, and what was run.
func (t *tableWriter) conclusion(of *trial.Trial, about string) string {
	var b strings.Builder
	say := func(indent int, p paint, text string) {
		for _, line := range wrap(text, max(t.options.columns(), 20)-indent) {
			b.WriteString(strings.Repeat(" ", indent) + t.options.paint(p, line) + "\n")
		}
	}
	c := of.Conclusion()
	say(2, bold, sanitize.Line(c.Text))
	say(2, plain, about)
	if c.Next != "" {
		say(2, plain, "next: "+c.Next)
	}
	for i := range of.Result.Experiments {
		e := &of.Result.Experiments[i]
		b.WriteString("    " + e.What() + ": " + e.Showed() + "\n")
		if why := e.Why(); e.Outcome == abi.OutcomeNotRun && why != "" {
			say(6, plain, why)
		}
	}
	return b.String()
}

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

var number, weight = trial.Number, trial.Weight

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
