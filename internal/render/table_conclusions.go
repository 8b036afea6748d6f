package render

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

const (
	// maxConcluded and maxOpen are of how many cases a table tells what experiments found, and why there is no answer. Cases of
	// which there is the same to say count once.
	maxConcluded = 20
	maxOpen      = 8
	// maxAlike is how many of those of which there is the same to say are named.
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
		c.tellOthers(o, &b)
		b.WriteString(c.said)
	}
	if l.untold > 0 {
		b.WriteString(more + plural(l.untold, "more case", "more cases") + "\n")
	}
	return b.String() + "\n"
}

// tellOthers names the cases beside the first.
func (c *alikeCases) tellOthers(o TerminalOptions, b *strings.Builder) {
	names := make([]string, 0, maxAlike)
	for _, id := range c.ids[1:] {
		names = append(names, snipStart(id, idColumns))
	}
	text := strings.Join(names, ", ")
	if more := c.cases - len(c.ids); more > 0 {
		text += " and " + plural(more, "more case", "more cases")
	}
	if text != "" {
		o.named(b, "  as well", text)
	}
}

// leave notes a case without an answer: why there is none, and what to do next.
func (t *tableWriter) leave(of *trial.Trial) {
	o := of.Result.Open()
	if o == nil {
		return
	}
	var b strings.Builder
	t.options.named(&b, "  why", snip(of.Named(o.Why), openColumns))
	for j, next := range o.Next {
		t.options.named(&b, [...]string{"  next", "  or"}[min(j, 1)], snip(next, openColumns))
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
	if suspect := SuspectText(of); suspect != "" {
		say(2, plain, "suspect: "+suspect)
	}
	if c.Next != "" {
		say(2, plain, "next: "+c.Next)
	}
	for i := range of.Result.Experiments {
		e := &of.Result.Experiments[i]
		b.WriteString("    " + e.What() + ": " + e.Showed() + "\n")
		if why, _, _ := strings.Cut(e.Detail, "\n"); e.Outcome == abi.OutcomeNotRun && why != "" {
			say(6, plain, why)
		}
	}
	return b.String()
}

// SuspectText names the suspected commit and its author, sanitized; empty where there is none.
func SuspectText(t *trial.Trial) string {
	if s := t.Suspect(); s != nil {
		return sanitize.Line(s.String())
	}
	return ""
}
