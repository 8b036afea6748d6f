package store

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// About is what lists of entries show beside an [Entry]: what the docket says of it.
type About struct {
	// DocketName is the docket's.
	DocketName string
	// Truth is the label that the docket states, empty for none.
	Truth string
	// LabelNames are the names of the case's labels for people, by label.
	LabelNames map[string]string
}

// maxAbout bounds the entries of one question.
const maxAbout = 1000

// About reads what dockets say of entries: at most the first 1,000 of the list.
func (s *Store) About(ctx context.Context, ids []TrialID) (map[TrialID]About, error) {
	out := make(map[TrialID]About, len(ids))
	ids = ids[:min(len(ids), maxAbout)]
	if len(ids) == 0 {
		return out, nil
	}
	var w where
	pairs := strings.TrimSuffix(strings.Repeat("(CAST(? AS BIGINT), CAST(? AS BIGINT)), ", len(ids)), ", ")
	args := make([]any, 0, 2*len(ids))
	for _, id := range ids {
		args = append(args, id.Docket, int64(id.Ordinal))
	}
	w.within(ctx, "d.repository")
	w.add("(e.docket, e.ordinal) IN (VALUES "+pairs+")", args...)
	err := each(ctx, s.db, `SELECT e.docket, e.ordinal, e.truth, e.label_names, d.name FROM entries e JOIN dockets d ON d.id = e.docket`+w.text(), w.args,
		func(scan scanner) error {
			var id TrialID
			var a About
			var truth trial.Truth
			err := scan(&id.Docket, &id.Ordinal, encoded{&truth}, encoded{&a.LabelNames}, &a.DocketName)
			a.Truth = truth.Classification
			out[id] = a
			return err
		})
	return out, err
}

// Known is a result whose right label is known, from a correction or from its docket.
type Known struct {
	ID         TrialID
	Repository string
	Created    time.Time // when the docket was submitted
	// Right is the right label, Corrected says that a person set it.
	Right     string
	Corrected bool
	// Label is the court's answer with its confidence, Light the one under review; empty for none.
	Label      string
	Confidence float64
	Light      string
	// Labels of the case, in its order.
	Labels     []string
	LabelNames map[string]string
}

// KnownLabels lists the results that a filter selects and whose right label is known, the latest first: at most the filter's limit,
// 0 for 100,000.
func (s *Store) KnownLabels(ctx context.Context, f EntryFilter) ([]Known, error) {
	const most = 100_000
	f.Tried = true
	w := f.where(ctx, s.db)
	w.add("(correction <> 0 OR truth <> '')")
	list := []Known{}
	names := map[string]map[string]string{} // few dockets name labels differently
	err := each(ctx, s.db, `SELECT docket, ordinal, repository, created, labels, corrected, truth, label_names, label, confidence, light_label FROM entries`+
		w.text()+` ORDER BY created DESC, docket DESC, ordinal`+w.limit(f.Limit, most, most), w.args,
		func(scan scanner) error {
			var k Known
			var corrected, named string
			var truth trial.Truth
			if err := scan(&k.ID.Docket, &k.ID.Ordinal, &k.Repository, moment{&k.Created}, encoded{&k.Labels}, &corrected, encoded{&truth}, &named,
				&k.Label, &k.Confidence, &k.Light); err != nil {
				return err
			}
			if names[named] == nil {
				byLabel := map[string]string{}
				if err := parse(named, &byLabel); err != nil {
					return err
				}
				names[named] = byLabel
			}
			k.LabelNames, k.Corrected = names[named], corrected != ""
			if k.Right = cmp.Or(corrected, truth.Classification); k.Right != "" {
				list = append(list, k)
			}
			return nil
		})
	return list, err
}
