package web

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/calibrate"
	"github.com/shadowcourt/shadowcourt/host/service/store"
)

func (b *stored) Quality(ctx context.Context, q QualityQuery) (*Quality, error) {
	f := store.EntryFilter{Repository: q.Repository, Since: q.Since}
	known, err := b.sources.Store.KnownLabels(ctx, f)
	if err != nil {
		return nil, err
	}
	volumes, err := b.sources.Store.Volumes(ctx, f)
	if err != nil {
		return nil, err
	}
	out := &Quality{Known: len(known), Confusion: map[string]map[string]int{}}
	weeks, repositories := rowsBy{}, rowsBy{}
	for _, v := range volumes {
		out.Cases += v.Tried
		out.Took += v.Took
		out.Fuel += v.Fuel
		for _, row := range []*QualityRow{weeks.of(weekName(v.Week)), repositories.of(v.Repository)} {
			row.Cases += v.Tried
			row.Took += v.Took
		}
	}
	for i := range known {
		k := &known[i]
		right, light := one(k.Label == k.Right), one(k.Light == k.Right)
		out.Right += right
		out.LightRight += light
		out.Corrections += one(k.Corrected)
		if k.Label != "" {
			out.Stated = append(out.Stated, calibrate.Stated{Confidence: k.Confidence, Right: k.Label == k.Right})
		}
		out.count(k)
		for _, row := range []*QualityRow{weeks.of(weekName(store.WeekOf(k.Created))), repositories.of(k.Repository)} {
			row.Known++
			row.Right += right
			row.LightRight += light
			row.Corrections += one(k.Corrected)
		}
	}
	out.Weeks = weeks.sorted(func(a, b *QualityRow) int { return strings.Compare(b.Name, a.Name) })
	out.Repositories = repositories.sorted(func(a, b *QualityRow) int {
		if a.Cases != b.Cases {
			return b.Cases - a.Cases
		}
		return strings.Compare(a.Name, b.Name)
	})
	out.Labels = slices.DeleteFunc(out.Labels, func(l Label) bool {
		return len(out.Labels) > mostLabels && len(out.Confusion[l.ID]) == 0
	})
	return out, nil
}

// mostLabels is how many labels a confusion matrix has that no case is known to be.
const mostLabels = 12

// count adds a result to the confusion matrix.
func (q *Quality) count(k *store.Known) {
	for _, id := range k.Labels {
		if !slices.ContainsFunc(q.Labels, func(l Label) bool { return l.ID == id }) {
			q.Labels = append(q.Labels, Label{id, k.LabelNames[id]})
		}
	}
	if q.Confusion[k.Right] == nil {
		q.Confusion[k.Right] = map[string]int{}
	}
	q.Confusion[k.Right][k.Label]++
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
