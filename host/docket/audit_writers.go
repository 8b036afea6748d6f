package docket

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// NewAuditJSONL writes one audit a line, each at once.
func NewAuditJSONL(w io.Writer) AuditWriter { return auditJSONL{w} }

type auditJSONL struct{ w io.Writer }

func (j auditJSONL) Write(a *Audit) error {
	line, err := a.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = j.w.Write(append(line, '\n'))
	return err
}

func (auditJSONL) Close() error { return nil }

// NewAuditJSON writes one object with `audits`, a list of the audits as JSONL has them.
func NewAuditJSON(w io.Writer) AuditWriter { return &auditJSON{w: w} }

type auditJSON struct {
	w     io.Writer
	begun bool
}

func (j *auditJSON) Write(a *Audit) error {
	line, err := a.MarshalJSON()
	if err != nil {
		return err
	}
	lead := ",\n"
	if !j.begun {
		lead = "{\"audits\":[\n"
	}
	j.begun = true
	_, err = j.w.Write(append([]byte(lead), line...))
	return err
}

func (j *auditJSON) Close() error {
	end := "\n]}\n"
	if !j.begun {
		end = "{\"audits\":[]}\n"
	}
	_, err := io.WriteString(j.w, end)
	return err
}

// NewAuditTable writes audits for people: of one all that was said, of several a row each.
func NewAuditTable(w io.Writer, options TerminalOptions) AuditWriter {
	return &auditTable{w: w, options: options}
}

type auditTable struct {
	w       io.Writer
	options TerminalOptions
	audits  []*Audit
}

func (t *auditTable) Write(a *Audit) error {
	t.audits = append(t.audits, a)
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

func (t *auditTable) one(a *Audit) string {
	var b strings.Builder
	name := snip(a.CaseID, idColumns)
	if a.CourtName != "" && a.CourtName != "Unknown" {
		name += ", " + snip(a.CourtName, nameColumns)
	}
	b.WriteString(t.options.paint(bold, name) + "\n\n" + t.options.paint(scorePaint(a.GlobalScore), a.Score()) + " of 5\n\n")
	w := table.NewWriter()
	w.SetStyle(tableStyle())
	w.AppendHeader(table.Row{"CRITERION", "SCORE", "CONFIDENCE", "FLAGS"})
	for i := range a.Results {
		r := &a.Results[i]
		w.AppendRow(table.Row{
			snip(r.CriterionID, labelColumns), t.options.paint(scorePaint(float64(r.NumericScore)), strconv.Itoa(r.NumericScore)),
			number(r.RelevanceConfidence), t.options.paint(yellow, snip(strings.Join(r.Flags(), ", "), nameColumns)),
		})
	}
	w.SuppressTrailingSpaces()
	b.WriteString(w.Render() + "\n")
	for i := range a.Results {
		b.WriteString("\n" + t.options.paint(bold, snip(a.Results[i].CriterionID, labelColumns)) + "\n")
		for _, line := range wrap(a.Results[i].Reasoning, t.width()-2) {
			b.WriteString("  " + line + "\n")
		}
	}
	for i := range a.Errors {
		e := &a.Errors[i]
		b.WriteString("\n" + t.options.paint(red, snip(e.Persona+" at "+e.Node+": "+e.Cause, t.width())) + "\n")
		for _, line := range wrap(e.Detail, t.width()-2) {
			b.WriteString("  " + line + "\n")
		}
	}
	b.WriteString("\n" + strings.Join(wrap(a.Summary, t.width()), "\n") + "\n")
	return b.String()
}

func (t *auditTable) several() string {
	w := table.NewWriter()
	w.SetStyle(tableStyle())
	w.AppendHeader(table.Row{"OPINION", "COURT", "SCORE", "WEAKEST", "FLAGS"})
	sum, violations := 0.0, 0
	for _, a := range t.audits {
		sum += a.GlobalScore
		weakest, flags := "", []string{}
		least := 6
		for i := range a.Results {
			r := &a.Results[i]
			if r.NumericScore < least {
				least, weakest = r.NumericScore, r.CriterionID+" "+strconv.Itoa(r.NumericScore)
			}
			if r.Flagged() {
				flags = append(flags, r.CriterionID+": "+strings.Join(r.Flags(), ", "))
			}
		}
		if a.SecurityViolationFound {
			violations++
		}
		w.AppendRow(table.Row{
			snipStart(a.CaseID, idColumns/2), snip(a.CourtName, labelColumns), t.options.paint(scorePaint(a.GlobalScore), a.Score()),
			snip(weakest, labelColumns+2), t.options.paint(yellow, snip(strings.Join(flags, "; "), nameColumns)),
		})
	}
	w.SuppressTrailingSpaces()
	mean := strconv.FormatFloat(sum/float64(len(t.audits)), 'f', 2, 64)
	return w.Render() + "\n\n" + plural(len(t.audits), "opinion", "opinions") + ", mean score " + mean + ", " +
		plural(violations, "security violation", "security violations") + "\n"
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

// NewAuditOutput stands before writers and redacts what they get, as NewOutput does. The redactor may be nil.
func NewAuditOutput(redactor *Redactor, writers ...AuditWriter) AuditWriter {
	return &auditOutput{redactor, writers}
}

type auditOutput struct {
	redactor *Redactor
	writers  []AuditWriter
}

func (o *auditOutput) Write(a *Audit) error {
	a = o.redactor.Audit(a)
	var problems []error
	for _, w := range o.writers {
		problems = append(problems, w.Write(a))
	}
	return errors.Join(problems...)
}

func (o *auditOutput) Close() error {
	var problems []error
	for _, w := range o.writers {
		problems = append(problems, w.Close())
	}
	return errors.Join(problems...)
}
