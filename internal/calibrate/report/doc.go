// Package report shows what calibration found: a table for a terminal, Markdown, and a self-contained HTML page with
// pictures. Nothing in a [calibrate.Report] was written by somebody else; what a caller adds, such as the names of
// dockets, is sanitized and escaped.
package report

// Options of a page. The zero value is ready.
type Options struct {
	// Title of the page. Default: "Shadowcourt calibration".
	Title string
	// Subtitle says what was measured, such as the dockets' names; optional.
	Subtitle string
}

func (o Options) title() string {
	if o.Title == "" {
		return "Shadowcourt calibration"
	}
	return o.Title
}
