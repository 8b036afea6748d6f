package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// qualityView is the page of quality: verdicts compared with the truth.
type qualityView struct {
	qualityRow // of all that is no answer of the alibi, without a name
	Decided    decided
	Filters    []filter
	// Labels of the confusion matrix, in order; confusion counts by truth and answer, "" is no answer.
	Labels              []label
	confusion           map[string]map[string]int
	Matrix              []matrixRow
	Answers             []labelView
	Weeks, Repositories []qualityRow
	// Stated are the court's answers whose truth is known, by tenths of the confidence that it states.
	Stated [10]statedRow
	// Meaning says what the shares mean.
	Meaning string
}

// statedRow is a row of the table of reliability.
type statedRow struct {
	sum          float64 // of the confidences
	Right, Cases int
}

// Mean of the stated confidences.
func (r statedRow) Mean() float64 { return r.sum / float64(r.Cases) }

// qualityRow is a week or a repository.
type qualityRow struct {
	Name string
	// Cases that were tried in all.
	Cases int
	// Known truths, and how many answers of the court and of Light are right.
	Known, Right, LightRight int
	// Corrections is how many of the known labels people set.
	Corrections int
	// Took is the time that the trials took.
	Took time.Duration
}

// Percent of right answers, for a bar.
func (r qualityRow) Percent() int { return share(r.Right, r.Known) }

func (r *qualityRow) count(t *store.Tally) {
	r.Cases += t.Results
	r.Took += t.Took
	if t.Truth != "" {
		r.Known += t.Results
		r.Right += one(t.Label == t.Truth) * t.Results
		r.LightRight += one(t.Light == t.Truth) * t.Results
		r.Corrections += one(t.Corrected) * t.Results
	}
}

// matrixRow is a row of the confusion matrix: what the cases of one truth were answered.
type matrixRow struct {
	Truth labelView
	Cells []matrixCell
	Cases int
}

// matrixCell counts cases. Share is a tenth of its row, for the shade.
type matrixCell struct {
	Count int
	Share int
	Right bool
}

// mostLabels is how many labels a confusion matrix has that no case is known to be.
const mostLabels = 12

func (s *site) quality(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	tallies, err := s.Store.Tallies(r.Context(), q.Get("repository"), s.since(q.Get("age")))
	if err != nil {
		return err
	}
	v := &qualityView{confusion: map[string]map[string]int{}}
	if err := s.qualityLabels(r.Context(), v); err != nil {
		return err
	}
	v.count(tallies)
	var names []string
	for _, row := range v.Repositories {
		if row.Name != "" {
			names = append(names, row.Name)
		}
	}
	v.Filters = []filter{
		repositoryFilter(q, names),
		newFilter(q, "age", "Age", "any age", option{Value: "7d", Text: "the last week"}, option{Value: "30d", Text: "the last 30 days"}, option{Value: "90d", Text: "the last 90 days"}),
	}
	v.Meaning = meaning(&v.qualityRow)
	v.matrix()
	return s.show(w, r, http.StatusOK, &view{Page: "quality", Section: "quality", Title: "Quality", Data: v})
}

// qualityLabels are those of the latest dockets of which right labels are known, with their names.
func (s *site) qualityLabels(ctx context.Context, v *qualityView) error {
	dockets, err := s.Store.WithTruth(ctx)
	if err != nil {
		return err
	}
	for _, id := range dockets {
		labels, names, err := s.Store.LabelsOf(ctx, id)
		if err != nil {
			return err
		}
		for _, l := range labels {
			v.label(l, names[l])
		}
	}
	return nil
}

// label adds a label to the confusion matrix, or its name.
func (v *qualityView) label(id, name string) {
	if i := slices.IndexFunc(v.Labels, func(l label) bool { return l.ID == id }); i >= 0 {
		v.Labels[i].Name = cmp.Or(v.Labels[i].Name, name)
	} else if id != "" {
		v.Labels = append(v.Labels, label{id, name})
	}
}

// count adds results to all that the page shows of them.
func (v *qualityView) count(tallies []store.Tally) {
	weeks, repositories := map[string]*qualityRow{}, map[string]*qualityRow{}
	rowOf := func(rows map[string]*qualityRow, name string) *qualityRow {
		if rows[name] == nil {
			rows[name] = &qualityRow{Name: name}
		}
		return rows[name]
	}
	for i := range tallies {
		t := &tallies[i]
		if t.Alibi {
			v.Decided.count(t)
			continue
		}
		v.qualityRow.count(t)
		rowOf(weeks, t.Week.UTC().Format("2006-01-02")).count(t)
		rowOf(repositories, t.Repository).count(t)
		if t.Truth == "" {
			continue
		}
		if t.Label != "" {
			row := &v.Stated[max(min(int(t.Stated*10), 9), 0)]
			row.sum += t.Stated * float64(t.Results)
			row.Cases += t.Results
			row.Right += one(t.Label == t.Truth) * t.Results
		}
		v.label(t.Truth, "")
		v.label(t.Label, "")
		if v.confusion[t.Truth] == nil {
			v.confusion[t.Truth] = map[string]int{}
		}
		v.confusion[t.Truth][t.Label] += t.Results
	}
	v.Weeks = sortedRows(weeks, func(a, b *qualityRow) int { return strings.Compare(b.Name, a.Name) })
	v.Repositories = sortedRows(repositories, func(a, b *qualityRow) int { return cmp.Or(b.Cases-a.Cases, strings.Compare(a.Name, b.Name)) })
	v.Labels = slices.DeleteFunc(v.Labels, func(l label) bool { return len(v.Labels) > mostLabels && len(v.confusion[l.ID]) == 0 })
}

// sortedRows are the first rows in an order.
func sortedRows(rows map[string]*qualityRow, compare func(a, b *qualityRow) int) []qualityRow {
	const most = 26 // half a year
	all := slices.SortedFunc(maps.Values(rows), compare)
	list := make([]qualityRow, min(len(all), most))
	for i := range list {
		list[i] = *all[i]
	}
	return list
}

// meaning says what it means how often the court and Light are right.
func meaning(r *qualityRow) string {
	text := "The court and Light are right equally often."
	switch more := r.Right - r.LightRight; {
	case more > 0:
		text = "The court puts right " + plural(more, "answer", "answers") + " of Light more than it spoils."
	case more < 0:
		text = "The court spoils " + plural(-more, "answer", "answers") + " of Light more than it puts right: fit a profile, or go back to an earlier generation."
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

// matrix lays out the confusion matrix: a column for each label, and one for no answer.
func (v *qualityView) matrix() {
	for _, l := range v.Labels {
		v.Answers = append(v.Answers, labelOf(v.Labels, l.ID))
	}
	v.Answers = append(v.Answers, labelView{Name: "no answer", Class: "l0"})
	const tenths = 10
	for _, truth := range v.Answers[:len(v.Answers)-1] {
		row := matrixRow{Truth: truth}
		for _, n := range v.confusion[truth.ID] {
			row.Cases += n
		}
		if row.Cases == 0 {
			continue
		}
		for _, a := range v.Answers {
			n := v.confusion[truth.ID][a.ID]
			cell := matrixCell{Count: n, Right: a.ID == truth.ID}
			if n > 0 {
				cell.Share = max(n*tenths/row.Cases, 1)
			}
			row.Cells = append(row.Cells, cell)
		}
		v.Matrix = append(v.Matrix, row)
	}
}
