package report

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/host/render"
	"github.com/shadowcourt/shadowcourt/host/render/sanitize"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// beside gathers what a candidate court would have changed.
type beside struct {
	Summary render.BesideSummary
	Flips   []flip
}

// flip is a case that the candidate ended otherwise. Its texts are sanitized.
type flip struct {
	ID               string
	Mark             string // to right, from right, or empty
	Court, Candidate *trial.Result
}

// side is one court's trial of it.
type side struct {
	Who    string
	Result *trial.Result
}

// Sides are both, the court in force first.
func (f flip) Sides() []side { return []side{{"in force", f.Court}, {"candidate", f.Candidate}} }

func (b *beside) add(t *trial.Trial) {
	b.Summary.Add(t)
	c := t.Compare()
	if !c.BesideFlips {
		return
	}
	safe := render.Sanitize(t)
	f := flip{ID: safe.Result.ID, Court: &safe.Result, Candidate: &safe.Beside.Result}
	switch {
	case c.Known && c.BesideRight:
		f.Mark = "to right"
	case c.Known && c.CourtRight:
		f.Mark = "from right"
	}
	b.Flips = append(b.Flips, f)
}

// shown is nil where no candidate took part.
func (b *beside) shown() *beside {
	if b.Summary.Trials == 0 {
		return nil
	}
	return b
}

func (b *beside) markdown(w *strings.Builder) {
	if b.shown() == nil {
		return
	}
	w.WriteString("\n## Candidate\n\n" + b.Summary.Text() + " The candidate court decides nothing.\n")
	for _, f := range b.Flips {
		w.WriteString("\n### " + sanitize.MarkdownCode(clipLine(f.ID)))
		if f.Mark != "" {
			w.WriteString(", " + f.Mark)
		}
		w.WriteString("\n\n| Court | End | Path | Why |\n| --- | --- | --- | --- |\n")
		for _, s := range f.Sides() {
			cells := []string{
				s.Who, sanitize.Markdown(s.Result.End()), sanitize.MarkdownCode(strings.Join(s.Result.Path, " ")), sanitize.Markdown(clip(s.Result.Why())),
			}
			for i := range cells {
				cells[i] = sanitize.MarkdownCell(cells[i])
			}
			w.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		}
	}
}
