// Package report writes dockets and audits as pages for people: self-contained HTML, or Markdown. A page needs no script,
// font, picture or network. The writers write at Close, since the summary comes first, and hold the rendered trials until
// then.
//
// All texts of a trial are untrusted. [render.Sanitize] sanitizes them, html/template or the Markdown functions of package
// sanitize escape them, and the HTML page forbids itself scripts and loading on top of that.
package report

import (
	"time"

	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Options of a report. The zero value is ready.
type Options struct {
	// Title of the page. Default: "Shadowcourt report".
	Title string
	// Subtitle says what was tried, such as the dockets' names; optional.
	Subtitle string
	// Time at which the report was made; zero shows none, so that equal dockets give equal reports.
	Time time.Time
	// Source says where the trials come from, if not from a run; asked for when the
	// report is closed. Optional.
	Source func() Source
}

// Source is where the trials of a report come from.
type Source struct {
	// Lines stand under the title.
	Lines []render.SummaryLine
	// Apart are cases that the report does not tell as trials.
	Apart []Apart
}

// Apart is a case with what is known of it.
type Apart struct{ ID, Why, Text string }

// source gives what the writers write, with nothing in it that acts.
func (o Options) source() Source {
	if o.Source == nil {
		return Source{}
	}
	s := o.Source()
	lines, apart := make([]render.SummaryLine, len(s.Lines)), make([]Apart, len(s.Apart))
	for i, l := range s.Lines {
		lines[i] = render.SummaryLine{Name: sanitize.Line(l.Name), Text: sanitize.Line(l.Text)}
	}
	for i, a := range s.Apart {
		apart[i] = Apart{sanitize.Line(a.ID), sanitize.Line(a.Why), sanitize.Block(a.Text)}
	}
	return Source{lines, apart}
}

func (o Options) title() string {
	if o.Title == "" {
		return "Shadowcourt report"
	}
	return o.Title
}

func (o Options) when() string {
	if o.Time.IsZero() {
		return ""
	}
	return o.Time.UTC().Format("2006-01-02 15:04 UTC")
}
