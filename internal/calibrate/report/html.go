package report

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

//go:embed page.tmpl
var pageTemplate string

//go:embed style.css
var styleSheet string

// HTML writes a self-contained page with pictures: no script, no font, no network.
func HTML(w io.Writer, r *calibrate.Report, o Options) error {
	page := template.Must(template.New("page").Parse(pageTemplate))
	return page.Execute(w, struct {
		Title, Subtitle string
		Style           template.CSS
		Report          *calibrate.Report
		Rows            []row
		Facts           []fact
		Pictures        []picture
		Bins            []binRow
	}{
		sanitize.Line(o.title()), sanitize.Line(o.Subtitle),
		template.CSS(styleSheet), //nolint:gosec // our own file
		r, rows(r), facts(r), pictures(r), binRows(&r.Court),
	})
}

// binRow is a point of the reliability diagram in figures.
type binRow struct{ From, To, Stated, Right, Interval, Cases string }

func binRows(r *calibrate.Reliability) []binRow {
	list := make([]binRow, 0, len(r.Bins))
	for _, b := range r.Bins {
		list = append(list, binRow{
			fraction(b.Low), fraction(b.High), fraction(b.Stated), shareOnly(b.Right), intervalText(b.Right), number(float64(b.Right.Of)),
		})
	}
	return list
}
