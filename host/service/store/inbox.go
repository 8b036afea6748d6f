package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// InboxDoubt is from which doubt on a result is in the inbox: a confidence of at most 0.80.
const InboxDoubt = 0.20

// InboxFilter selects what is in the inbox. Zero fields select all that needs a person: uncorrected results with a doubt of
// InboxDoubt and more.
type InboxFilter struct {
	Repository, Label string
	Statuses          []trial.Status
	Since, Until      time.Time // of submission
	Text              string
	// Sure includes results of any doubt, Corrected those that were corrected.
	Sure, Corrected bool
	// Limit is the most groups to give: 0: 50, and at most 500. Offset of them are passed over.
	Limit, Offset int
}

// Entries is the filter of the entries in a group of the inbox, to list or to correct.
func (f *InboxFilter) Entries(group string) EntryFilter {
	e := EntryFilter{
		Repository: f.Repository, Label: f.Label, Statuses: f.Statuses, Since: f.Since, Until: f.Until, Text: f.Text,
		Group: group, Tried: true, Uncorrected: !f.Corrected, MinDoubt: InboxDoubt,
	}
	if f.Sure {
		e.MinDoubt = 0
	}
	return e
}

// Group is failures of one kind in the inbox.
type Group struct {
	Key string
	// Entries are the trials that the filter selects, Cases the failures that they stand for, Dockets where they are.
	Entries, Cases, Dockets int
	// Doubt is the mean of the entries, in [0, 1].
	Doubt float64
	// First and Latest are when the first and the latest of their dockets were submitted.
	First, Latest time.Time
	// Value orders the inbox: the sum of the doubts, each for all cases that the entry stands for, divided by one more than the
	// age of the latest in weeks.
	Value float64
	// Sample is the latest entry.
	Sample Entry
}

const weekMicros = 7 * 24 * 3600 * 1_000_000

// Inbox gives the groups that a filter selects, the most valuable first, and how many there are in all.
func (s *Store) Inbox(ctx context.Context, f InboxFilter) (groups []Group, total int, err error) {
	entries := f.Entries("")
	w := entries.where()
	err = s.db.snapshot(ctx, func(q querier) error {
		groups = []Group{}
		if err := one(ctx, q, `SELECT count(DISTINCT grp) FROM entries`+w.text(), w.args, &total); err != nil {
			return err
		}
		query := fmt.Sprintf(`SELECT grp, count(*), CAST(sum(1 + member_count) AS BIGINT), count(DISTINCT docket), avg(doubt), min(created), max(created),
			sum((doubt + 0.01) * (1 + member_count)) / (1.0 + (%d - max(created)) / %d.0) AS value
			FROM entries%s GROUP BY grp ORDER BY value DESC, grp%s`,
			s.now(), int64(weekMicros), w.text(), w.limit(f.Limit, 50, 500, f.Offset))
		if err := each(ctx, q, query, w.args, func(scan func(...any) error) error {
			var g Group
			var first, latest int64
			err := scan(&g.Key, &g.Entries, &g.Cases, &g.Dockets, &g.Doubt, &first, &latest, &g.Value)
			g.First, g.Latest = at(first), at(latest)
			groups = append(groups, g)
			return err
		}); err != nil {
			return err
		}
		return samples(ctx, q, &f, groups)
	})
	return groups, total, err
}

// samples reads the latest entry of each group.
func samples(ctx context.Context, q querier, f *InboxFilter, groups []Group) error {
	for i := range groups {
		entries := f.Entries(groups[i].Key)
		w := entries.where()
		err := each(ctx, q, `SELECT `+entryColumns+` FROM entries`+w.text()+` ORDER BY created DESC, docket DESC, ordinal LIMIT 1`, w.args,
			func(scan func(...any) error) (err error) {
				groups[i].Sample, err = scanEntry(scan)
				return err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// LabelCount is how many entries have a label.
type LabelCount struct {
	Label string
	Count int
}

// Labels counts the entries that a filter selects by the label of their result, the most frequent first; no label is "".
func (s *Store) Labels(ctx context.Context, f EntryFilter) ([]LabelCount, error) {
	return s.counts(ctx, "label", f)
}

// Statuses is Labels for statuses.
func (s *Store) Statuses(ctx context.Context, f EntryFilter) ([]LabelCount, error) {
	f.Tried = true
	return s.counts(ctx, "status", f)
}

func (s *Store) counts(ctx context.Context, column string, f EntryFilter) ([]LabelCount, error) {
	w := f.where()
	list := []LabelCount{}
	query := strings.ReplaceAll(`SELECT COLUMN, count(*) FROM entries`+w.text()+` GROUP BY COLUMN ORDER BY count(*) DESC, COLUMN LIMIT 1000`, "COLUMN", column)
	err := each(ctx, s.db, query, w.args, func(scan func(...any) error) error {
		var c LabelCount
		err := scan(&c.Label, &c.Count)
		list = append(list, c)
		return err
	})
	return list, err
}
