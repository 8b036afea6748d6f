package web

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

func (b *stored) Quality(ctx context.Context, q QualityQuery) (*Quality, error) {
	tallies, err := b.sources.Store.Tallies(ctx, q.Repository, q.Since)
	if err != nil {
		return nil, err
	}
	out := &Quality{Confusion: map[string]map[string]int{}}
	weeks, repositories := rowsBy{}, rowsBy{}
	if err := b.qualityLabels(ctx, out); err != nil {
		return nil, err
	}
	for i := range tallies {
		t := &tallies[i]
		out.count(t)
		weeks.of(weekName(t.Week)).count(t)
		repositories.of(t.Repository).count(t)
	}
	out.Weeks = weeks.sorted(func(a, b *QualityRow) int { return strings.Compare(b.Name, a.Name) })
	out.Repositories = repositories.sorted(func(a, b *QualityRow) int {
		return cmp.Or(b.Cases-a.Cases, strings.Compare(a.Name, b.Name))
	})
	out.Labels = slices.DeleteFunc(out.Labels, func(l Label) bool {
		return len(out.Labels) > mostLabels && len(out.Confusion[l.ID]) == 0
	})
	return out, nil
}

// mostLabels is how many labels a confusion matrix has that no case is known to be.
const mostLabels = 12

// qualityLabels are those of the latest dockets of which right labels are known, with their names.
func (b *stored) qualityLabels(ctx context.Context, q *Quality) error {
	dockets, err := b.sources.Store.WithTruth(ctx)
	for _, id := range dockets {
		labels, names, e := b.sources.Store.LabelsOf(ctx, id)
		err = errors.Join(err, e)
		for _, l := range labels {
			q.label(l, names[l])
		}
	}
	return err
}

// label adds a label to the confusion matrix, or its name.
func (q *Quality) label(id, name string) {
	if i := slices.IndexFunc(q.Labels, func(l Label) bool { return l.ID == id }); i >= 0 {
		q.Labels[i].Name = cmp.Or(q.Labels[i].Name, name)
	} else if id != "" {
		q.Labels = append(q.Labels, Label{id, name})
	}
}

// count adds results to all that the page shows of them.
func (q *Quality) count(t *store.Tally) {
	q.QualityRow.count(t)
	if t.Truth == "" {
		return
	}
	if t.Label != "" {
		q.Stated = append(q.Stated, slices.Repeat([]calibrate.Stated{{Confidence: t.Stated, Right: t.Label == t.Truth}}, t.Results)...)
	}
	q.label(t.Truth, "")
	q.label(t.Label, "")
	if q.Confusion[t.Truth] == nil {
		q.Confusion[t.Truth] = map[string]int{}
	}
	q.Confusion[t.Truth][t.Label] += t.Results
}

func (r *QualityRow) count(t *store.Tally) {
	r.Cases += t.Results
	r.Took += t.Took
	if t.Truth != "" {
		r.Known += t.Results
		r.Right += one(t.Label == t.Truth) * t.Results
		r.LightRight += one(t.Light == t.Truth) * t.Results
		r.Corrections += one(t.Corrected) * t.Results
	}
}

func weekName(t time.Time) string { return t.UTC().Format("2006-01-02") }

// rowsBy gathers rows by name.
type rowsBy map[string]*QualityRow

func (r rowsBy) of(name string) *QualityRow {
	if r[name] == nil {
		r[name] = &QualityRow{Name: name}
	}
	return r[name]
}

func (r rowsBy) sorted(compare func(a, b *QualityRow) int) []QualityRow {
	var all []*QualityRow
	for _, row := range r {
		all = append(all, row)
	}
	slices.SortFunc(all, compare)
	const most = 26 // half a year
	var list []QualityRow
	for _, row := range all[:min(len(all), most)] {
		list = append(list, *row)
	}
	return list
}
