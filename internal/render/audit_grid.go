package render

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// auditGrid is the table of several audits: a row for each.
type auditGrid struct {
	header []string
	rows   [][]cell
	// legend says what marks mean; empty where there are none.
	legend string
}

// leastFlags is how narrow the column of the flags may get.
const leastFlags = 24

// grid lays audits out by how much room there is: with a column for each criterion and the flags in words, with marks in
// place of the words, or else with the weakest criterion of each alone.
func (t *auditTable) grid() *auditGrid {
	criteria := trial.Criteria(t.audits)
	words := t.begin()
	words.scores(t.audits, criteria, false)
	words.flags(t.audits)
	if words.fit(t.options.Width) {
		return words
	}
	marks := t.begin()
	marks.scores(t.audits, criteria, true)
	if marks.fit(t.options.Width) {
		return marks
	}
	weakest := t.begin()
	weakest.weakest(t.audits)
	weakest.flags(t.audits)
	weakest.fit(t.options.Width)
	return weakest
}

// begin makes a grid of the names and scores. Courts have a column where one is named.
func (t *auditTable) begin() *auditGrid {
	g := &auditGrid{header: []string{"OPINION"}, rows: make([][]cell, len(t.audits))}
	for i, name := range names(t.audits) {
		g.rows[i] = []cell{{text: snipStart(name, idColumns/2), end: true}}
	}
	if slices.ContainsFunc(t.audits, func(a *trial.Audit) bool { return a.Court() != "" }) {
		g.add("COURT", t.audits, func(a *trial.Audit) cell { return cell{text: snip(a.Court(), labelColumns)} })
	}
	g.add("SCORE", t.audits, func(a *trial.Audit) cell { return cell{text: a.Score(), paint: scorePaint(a.GlobalScore)} })
	return g
}

func (g *auditGrid) add(header string, audits []*trial.Audit, of func(a *trial.Audit) cell) {
	g.header = append(g.header, header)
	for i, a := range audits {
		g.rows[i] = append(g.rows[i], of(a))
	}
}

// scores adds a column for each criterion.
func (g *auditGrid) scores(audits []*trial.Audit, criteria []string, marked bool) {
	used := make(map[string]bool)
	for _, id := range criteria {
		g.add(snip(id, labelColumns), audits, func(a *trial.Audit) cell {
			r := a.Result(id)
			if r == nil {
				return cell{text: "–"}
			}
			c := cell{text: strconv.Itoa(r.NumericScore), paint: scorePaint(float64(r.NumericScore))}
			if marked {
				c.tail = marks(r, used)
			}
			return c
		})
	}
	var legend []string
	for _, m := range auditMarks() {
		if used[m.mark] {
			legend = append(legend, m.mark+" "+m.means)
		}
	}
	g.legend = strings.Join(legend, ", ")
}

type auditMark struct {
	mark, means string
	of          func(r *trial.AuditResult) bool
}

func auditMarks() [3]auditMark {
	return [...]auditMark{
		{"!", "security violation", func(r *trial.AuditResult) bool { return r.SecurityViolationFound }},
		{"?", "a judge does not count", func(r *trial.AuditResult) bool { return r.Degraded }},
		{"~", "dissent", func(r *trial.AuditResult) bool { return r.Dissent != nil }},
	}
}

// marks are the flags of a result, a letter each, behind a blank; used notes them.
func marks(r *trial.AuditResult, used map[string]bool) string {
	marks := ""
	for _, m := range auditMarks() {
		if m.of(r) {
			marks, used[m.mark] = marks+m.mark, true
		}
	}
	if marks == "" {
		return ""
	}
	return " " + marks
}

// flags adds the flags in words, if there are any.
func (g *auditGrid) flags(audits []*trial.Audit) {
	if !slices.ContainsFunc(audits, func(a *trial.Audit) bool { return len(a.Flags()) > 0 }) {
		return
	}
	g.add("FLAGS", audits, func(a *trial.Audit) cell {
		return cell{text: snip(strings.Join(a.Flags(), "; "), nameColumns), paint: yellow}
	})
}

func (g *auditGrid) weakest(audits []*trial.Audit) {
	g.add("WEAKEST", audits, func(a *trial.Audit) cell {
		least, weakest := 6, ""
		for i := range a.Results {
			if r := &a.Results[i]; r.NumericScore < least {
				least, weakest = r.NumericScore, r.CriterionID
			}
		}
		if weakest == "" {
			return cell{}
		}
		return cell{text: snip(weakest, labelColumns), tail: " " + strconv.Itoa(least)}
	})
}

// fit makes the grid fit a width, by shortening the flags, and says whether it does; 0 is as wide as it gets.
func (g *auditGrid) fit(width int) bool {
	if width <= 0 {
		return true
	}
	total := columnGap * (len(g.header) - 1)
	widest := 0
	for i := range g.header {
		widest = g.columnWidth(i)
		total += widest
	}
	last := len(g.header) - 1
	if excess := total - width; excess > 0 && g.header[last] == "FLAGS" {
		room := max(widest-excess, leastFlags)
		for _, row := range g.rows {
			row[last].text = snip(row[last].text, room)
		}
		total -= widest - g.columnWidth(last)
	}
	return total <= width
}

func (g *auditGrid) columnWidth(i int) int {
	width := text.StringWidthWithoutEscSequences(g.header[i])
	for _, row := range g.rows {
		width = max(width, row[i].width())
	}
	return width
}

func (g *auditGrid) render(options TerminalOptions) string {
	w := table.NewWriter()
	w.SetStyle(tableStyle())
	header := table.Row{}
	for _, h := range g.header {
		header = append(header, h)
	}
	w.AppendHeader(header)
	for _, row := range g.rows {
		cells := table.Row{}
		for _, c := range row {
			cells = append(cells, options.paint(c.paint, c.text+c.tail))
		}
		w.AppendRow(cells)
	}
	w.SuppressTrailingSpaces()
	rendered := strings.Replace(w.Render(), "──\n", "\n", 1) // the rule covers the last column's padding too
	if g.legend != "" {
		rendered += "\n" + g.legend
	}
	return rendered
}

// names gives audits distinct names where possible: audits of the same name get their place appended, or shown in place of
// the name where the name is that of the file.
func names(audits []*trial.Audit) []string {
	count := make(map[string]int)
	for _, a := range audits {
		count[a.Name()]++
	}
	list := make([]string, len(audits))
	for i, a := range audits {
		list[i] = a.Name()
		switch place := a.Apart(); {
		case count[list[i]] == 1 || place == "":
		case a.Line == 0 && list[i] == filepath.Base(a.Source):
			list[i] = place
		default:
			list[i] += " (" + place + ")"
		}
	}
	return list
}
