package render

import (
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// NewAuditTable writes audits for people: of one all that was said, of several a row each.
func NewAuditTable(w io.Writer, options TerminalOptions) AuditWriter {
	return &auditTable{w: w, options: options}
}

type auditTable struct {
	w       io.Writer
	options TerminalOptions
	audits  []*trial.Audit
}

// Write keeps the audit without the opinion's text, of which a table shows nothing.
func (t *auditTable) Write(a *trial.Audit) error {
	kept := *a
	kept.Opinion = ""
	t.audits = append(t.audits, &kept)
	return nil
}

func (t *auditTable) Close() error {
	var text string
	switch len(t.audits) {
	case 0:
		return nil
	case 1:
		text = t.one(t.audits[0])
	default:
		text = t.several()
	}
	_, err := io.WriteString(t.w, text)
	return err
}

// width of prose.
func (t *auditTable) width() int {
	if t.options.Width > 0 {
		return min(t.options.Width, 100)
	}
	return 100
}

func (t *auditTable) one(a *trial.Audit) string {
	var b strings.Builder
	name := snip(a.Name(), idColumns)
	if court := a.Court(); court != "" {
		name += ", " + snip(court, nameColumns)
	}
	b.WriteString(t.options.paint(bold, name) + "\n\n" + t.options.paint(scorePaint(a.GlobalScore), a.Score()) + " of 5\n\n")
	w := table.NewWriter()
	w.SetStyle(tableStyle())
	w.AppendHeader(table.Row{"CRITERION", "SCORE", "SHARE", "CONFIDENCE", "FLAGS"})
	for i := range a.Results {
		r := &a.Results[i]
		w.AppendRow(table.Row{
			snip(r.CriterionID, labelColumns), t.options.paint(scorePaint(float64(r.NumericScore)), strconv.Itoa(r.NumericScore)),
			r.SharePercent(), number(r.RelevanceConfidence), t.options.paint(yellow, snip(strings.Join(r.Flags(), ", "), nameColumns)),
		})
	}
	w.SuppressTrailingSpaces()
	b.WriteString(strings.Replace(w.Render(), "──\n", "\n", 1) + "\n")
	for i := range a.Results {
		r := &a.Results[i]
		b.WriteString("\n" + t.options.paint(bold, snip(r.CriterionID, labelColumns)) + "\n")
		if r.Description != "" {
			t.indented(&b, r.Description, faint)
		}
		t.indented(&b, r.Reasoning, plain)
	}
	for i := range a.Errors {
		e := &a.Errors[i]
		b.WriteString("\n" + t.options.paint(red, snip(e.Persona+" at "+e.Node+": "+e.Cause, t.width())) + "\n")
		t.indented(&b, e.Detail, plain)
	}
	for _, c := range a.CutDocuments {
		b.WriteString("\n" + strings.Join(wrap(sanitize.Line(c.String()), t.width()), "\n") + "\n")
	}
	b.WriteString("\n" + strings.Join(quoted(a.Summary, t.width()), "\n") + "\n")
	return b.String()
}

func (t *auditTable) indented(b *strings.Builder, text string, p paint) {
	for _, line := range quoted(text, t.width()-2) {
		b.WriteString("  " + t.options.paint(p, line) + "\n")
	}
}

func (t *auditTable) several() string {
	sum, violations, cut := 0.0, 0, 0
	for _, a := range t.audits {
		sum += a.GlobalScore
		count(&violations, a.SecurityViolationFound)
		count(&cut, len(a.CutDocuments) > 0)
	}
	mean := strconv.FormatFloat(sum/float64(len(t.audits)), 'f', 2, 64)
	text := t.grid().render(t.options) + "\n\n" + plural(len(t.audits), "opinion", "opinions") + ", mean score " + mean + ", " +
		plural(violations, "security violation", "security violations")
	if cut > 0 {
		text += ", " + plural(cut, "was", "were") + " checked against documents that were cut"
	}
	return text + "\n"
}

func scorePaint(score float64) paint {
	switch {
	case score >= 4:
		return green
	case score >= 3:
		return yellow
	default:
		return red
	}
}
