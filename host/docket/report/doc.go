// Package report writes what came of a docket as a page for people: self-contained HTML, or Markdown. Both need nothing
// from elsewhere: no script, no font, no picture, no network. Both are [docket.Writer]s; they write at Close, since the
// summary stands first, and hold the rendered trials until then.
//
// All text of a trial is data that somebody else wrote. It is made inert before it is laid out (see [docket.Trial.Inert]),
// escaped by html/template or the Markdown escaper, and the HTML page forbids itself scripts and loading on top of that.
package report

import "time"

// Options of a report. The zero value is ready.
type Options struct {
	// Title of the page. Default: "Shadowcourt report".
	Title string
	// Subtitle says what was tried, such as the dockets' names; optional.
	Subtitle string
	// Time at which the report was made; zero shows none, so that equal dockets give equal reports.
	Time time.Time
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
