package render

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// maxOpen is how many cases without an answer a table explains; cases of which there is the same to say count once.
const maxOpen = 8

// maxAlike is how many of those of which there is the same to say are named.
const maxAlike = 4

// alikeCases are cases of which there is the same to say.
type alikeCases struct {
	ids   []string // the first ones
	cases int
}

func (c *alikeCases) add(id string) {
	if c.cases++; len(c.ids) < maxAlike {
		c.ids = append(c.ids, id)
	}
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

// openCases are cases without an answer of which there is the same to say.
type openCases struct {
	alikeCases
	trial.Open
	status trial.Status
}

// leave notes a case without an answer.
func (t *tableWriter) leave(of *trial.Trial) {
	r := &of.Result
	o := r.Open()
	if o == nil {
		return
	}
	o.Why = of.Named(o.Why)
	i := slices.IndexFunc(t.open, func(c openCases) bool {
		return c.status == r.Final.Status && c.Why == o.Why && slices.Equal(c.Next, o.Next)
	})
	if i < 0 {
		if len(t.open) == maxOpen {
			t.unexplained++
			return
		}
		i, t.open = len(t.open), append(t.open, openCases{Open: *o, status: r.Final.Status})
	}
	t.open[i].add(r.ID)
}

// openText tells the cases without an answer: why there is none, and what to do next.
func (t *tableWriter) openText() string {
	if len(t.open) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(t.options.paint(bold, "Without an answer") + "\n")
	width := t.options.Width
	if width <= 0 {
		width = 120
	}
	for i := range t.open {
		o := &t.open[i]
		status := snip(string(o.status), labelColumns)
		b.WriteString(snipStart(o.ids[0], max(width-len(status)-2, 20)) + "  " + t.options.paint(statusPaint(o.status), status) + "\n")
		o.tellOthers(t.options, &b)
		t.options.named(&b, "  why", snip(o.Why, openColumns))
		for j, next := range o.Next {
			t.options.named(&b, [...]string{"  next", "  or"}[min(j, 1)], snip(next, openColumns))
		}
	}
	if t.unexplained > 0 {
		b.WriteString("and " + plural(t.unexplained, "more case", "more cases") + "\n")
	}
	return b.String() + "\n"
}

// openColumns is the most of a sentence that a table has room for.
const openColumns = 300
