package render

import (
	"io"
	"slices"
	"strconv"
	"strings"

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
		truth = truthCell(labelCell(trial, trial.Truth.Classification, ""), r, c)
	}
	if a := r.Audit; a != nil {
		audit = cell{text: a.Score(), paint: scorePaint(a.GlobalScore)}
		if a.SecurityViolationFound {
			audit.tail = " !"
		}
	}
	t.grid.rows = append(t.grid.rows, []cell{id, status, light, final, truth, cause, audit, about})
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

// leave notes a case without an answer: why there is none, and what to do next.
func (t *tableWriter) leave(of *trial.Trial) {
	o := of.Result.Open()
	if o == nil {
		return
	}
	var b strings.Builder
	b.WriteString(t.options.Named("  why", snip(of.Named(o.Why), openColumns)))
	for j, next := range o.Next {
		b.WriteString(t.options.Named([...]string{"  next", "  or"}[min(j, 1)], snip(next, openColumns)))
	}
	t.open.add(of.Result.ID, of.Result.Final.Status, maxOpen, b.String(), b.String())
}

// conclude notes what the experiments of a case found: how it failed, whom to ask, and what was run. Cases may have failed otherwise.
func (t *tableWriter) conclude(of *trial.Trial) {
	if len(of.Result.Experiments) > 0 {
		t.concluded.add(of.Result.ID, "", maxConcluded, t.conclusion(of, ""), t.conclusion(of, snip(of.About(), openColumns)))
	}
}

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
