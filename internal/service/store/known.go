package store

import (
	"cmp"
	"context"
	"time"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

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
	w.add(triedHere)
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
