package docket

import "strings"

// maxOpen is how many cases without an answer a table explains.
const maxOpen = 8

// openCase is a case without an answer.
type openCase struct {
	id string
	Open
	status Status
}

// leave notes a case without an answer.
func (t *tableWriter) leave(r *Result) {
	o := r.Open()
	if o == nil {
		return
	}
	if t.opened++; len(t.open) < maxOpen {
		t.open = append(t.open, openCase{r.ID, *o, r.Final.Status})
	}
}

// openText tells the cases without an answer: why there is none, and what to do next.
func (t *tableWriter) openText() string {
	if t.opened == 0 {
		return ""
	}
	const columns = 11
	var b strings.Builder
	b.WriteString(t.options.paint(bold, "Without an answer") + "\n")
	width := t.options.Width
	if width <= 0 {
		width = 120
	}
	for i := range t.open {
		o := &t.open[i]
		status := snip(string(o.status), labelColumns)
		b.WriteString(snipStart(o.id, max(width-len(status)-2, 20)) + "  " + t.options.paint(statusPaint(o.status), status) + "\n")
		t.options.named(&b, columns, "  why", snip(o.Why, openColumns))
		for j, next := range o.Next {
			t.options.named(&b, columns, [...]string{"  next", "  or"}[min(j, 1)], snip(next, openColumns))
		}
	}
	if more := t.opened - len(t.open); more > 0 {
		b.WriteString("and " + plural(more, "more case", "more cases") + "\n")
	}
	return b.String() + "\n"
}

// openColumns is the most of a sentence that a table has room for.
const openColumns = 300
