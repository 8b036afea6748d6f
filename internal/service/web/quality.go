package web

import (
	"html/template"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// qualityView is the page of quality.
type qualityView struct {
	*Quality
	Filters             []filter
	Reliability         calibrate.Reliability
	ECE                 string
	Perfect             string
	Diagram             template.HTML
	Matrix              []matrixRow
	Answers             []labelView
	Weeks, Repositories []qualityRow
	// Meaning says what the shares mean.
	Meaning string
	// Refit says whether the server can refit, and enough labels are known.
	Refit *Refit
}

// matrixRow is a row of the confusion matrix: what the cases of one truth were answered.
type matrixRow struct {
	Truth labelView
	Cells []matrixCell
	Cases int
}

// matrixCell counts cases. Share is a tenth of its row, for the shade.
type matrixCell struct {
	Answer labelView
	Count  int
	Share  int
	Right  bool
}

// qualityRow is a week or a repository with its figures as text.
type qualityRow struct {
	QualityRow
	Accuracy, Light string
	// Percent of right answers, for a bar.
	Percent int
}

func qualityRows(list []QualityRow) []qualityRow {
	rows := make([]qualityRow, len(list))
	for i, r := range list {
		rows[i] = qualityRow{r, percent(r.Right, r.Known), percent(r.LightRight, r.Known), share(r.Right, r.Known)}
	}
	return rows
}

// How often right answers are simulated: with many cases less often, since their mean varies less.
const (
	mostDraws        = 1_000_000
	mostSimulations  = 400
	leastSimulations = 10
)

func (s *site) quality(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	data, err := s.config.Backend.Quality(r.Context(), QualityQuery{Repository: q.Get("repository"), Since: s.since(q.Get("age"))})
	if err != nil {
		return err
	}
	const seed = 1
	simulations := min(max(mostDraws/max(len(data.Stated), 1), leastSimulations), mostSimulations)
	v := qualityView{
		Quality: data, ECE: "–", Weeks: qualityRows(data.Weeks), Repositories: qualityRows(data.Repositories),
		Reliability: calibrate.ReliabilityOf(data.Stated, simulations, rand.New(rand.NewPCG(seed, seed))), //nolint:gosec // a simulation
		Filters: []filter{
			newFilter("repository", "Repository", "every repository", q.Get("repository"), texts(names(data.Repositories))...),
			newFilter("age", "Age", "any age", q.Get("age"), option{Value: "7d", Text: "the last week"}, option{Value: "30d", Text: "the last 30 days"}, option{Value: "90d", Text: "the last 90 days"}),
		},
	}
	if v.Reliability.ECE != nil {
		v.ECE = trial.Weight(*v.Reliability.ECE)
	}
	if v.Reliability.Perfect != nil {
		v.Perfect = trial.Weight(v.Reliability.Perfect.Mean)
	}
	v.Meaning = meaning(&data.QualityRow)
	v.Diagram = reliabilityDiagram(v.Reliability.Bins)
	v.matrix()
	if v.Refit, err = s.config.Backend.Refit(r.Context()); err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, &view{Page: "quality", Section: "quality", Title: "Quality", Data: v})
}

// meaning says what it means how often the court and Light are right.
func meaning(r *QualityRow) string {
	text := "The court and Light are right equally often."
	switch more := r.Right - r.LightRight; {
	case more > 0:
		text = "The court puts right " + plural(more, "answer", "answers") + " of Light more than it spoils."
	case more < 0:
		text = "The court spoils " + plural(-more, "answer", "answers") + " of Light more than it puts right: refit, or go back to an earlier generation."
	}
	stated := r.Known - r.Corrections
	switch {
	case stated == 0:
		return text + " All labels are from people, who are asked about uncertain cases: of all cases more are right."
	case r.Corrections == 0:
		return text + " All labels came with the dockets."
	}
	return text + " " + plural(r.Corrections, "label is", "labels are") + " from people, who are asked about uncertain cases; " + plural(stated, "came", "came") + " with the dockets."
}

func names(rows []QualityRow) []string {
	var list []string
	for _, r := range rows {
		if r.Name != "" {
			list = append(list, r.Name)
		}
	}
	return list
}

// matrix lays out the confusion matrix: a column for each label, and one for no answer.
func (v *qualityView) matrix() {
	for _, l := range v.Labels {
		v.Answers = append(v.Answers, labelOf(v.Labels, l.ID))
	}
	v.Answers = append(v.Answers, labelView{Name: "no answer", Class: "l0"})
	const tenths = 10
	for _, truth := range v.Answers[:len(v.Answers)-1] {
		row := matrixRow{Truth: truth}
		for _, n := range v.Confusion[truth.ID] {
			row.Cases += n
		}
		if row.Cases == 0 {
			continue
		}
		for _, a := range v.Answers {
			n := v.Confusion[truth.ID][a.ID]
			cell := matrixCell{Answer: a, Count: n, Right: a.ID == truth.ID}
			if n > 0 {
				cell.Share = max(n*tenths/row.Cases, 1)
			}
			row.Cells = append(row.Cells, cell)
		}
		v.Matrix = append(v.Matrix, row)
	}
}

// reliabilityDiagram draws the share of right answers over the stated confidence; nothing without a bin.
func reliabilityDiagram(bins []calibrate.Bin) template.HTML {
	if len(bins) == 0 {
		return ""
	}
	const size, left, top = 280.0, 44.0, 12.0
	x := func(p float64) string { return coordinate(left + p*size) }
	y := func(p float64) string { return coordinate(top + (1-p)*size) }
	var b strings.Builder
	b.WriteString(`<svg class="diagram" viewBox="0 0 340 336" role="img" aria-label="Reliability diagram: the share of right answers over the stated confidence; the table below has its figures">`)
	for i := range 5 {
		p := float64(i) / 4
		b.WriteString(`<line class="grid" x1="` + x(0) + `" x2="` + x(1) + `" y1="` + y(p) + `" y2="` + y(p) + `"/>`)
		b.WriteString(`<text x="` + coordinate(left-8) + `" y="` + coordinate(top+(1-p)*size+4) + `" text-anchor="end">` + percent(i, 4)[:len(percent(i, 4))-3] + `%</text>`)
		b.WriteString(`<text x="` + x(p) + `" y="` + coordinate(top+size+18) + `" text-anchor="middle">` + trial.Weight(p) + `</text>`)
	}
	b.WriteString(`<line class="ideal" x1="` + x(0) + `" y1="` + y(0) + `" x2="` + x(1) + `" y2="` + y(1) + `"/>`)
	var points strings.Builder
	for i := range bins {
		bin := &bins[i]
		points.WriteString(x(bin.Stated) + "," + y(*bin.Right.Share) + " ")
		if in := bin.Right.Interval; in != nil {
			b.WriteString(`<line class="interval" x1="` + x(bin.Stated) + `" x2="` + x(bin.Stated) + `" y1="` + y(in.Low) + `" y2="` + y(in.High) + `"/>`)
		}
	}
	b.WriteString(`<polyline points="` + strings.TrimSpace(points.String()) + `"/>`)
	for i := range bins {
		bin := &bins[i]
		b.WriteString(`<circle cx="` + x(bin.Stated) + `" cy="` + y(*bin.Right.Share) + `" r="4"><title>` +
			sanitize.Line("stated "+trial.Weight(bin.Stated)+", right "+percent(bin.Right.Count, bin.Right.Of)+" of "+plural(bin.Right.Of, "case", "cases")) + `</title></circle>`)
	}
	b.WriteString(`<text x="` + x(0.5) + `" y="330" text-anchor="middle">stated confidence</text></svg>`)
	return template.HTML(b.String()) //nolint:gosec // figures alone
}
