package store

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// InboxDoubt is from which doubt on a result is in the inbox: a confidence of at most 0.80. See needsPerson.
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
	// Limit is the most groups to give: 0: 50, and at most 500.
	Limit int
	// After is the cursor of the page before: see Inbox.Next. One that is none selects the first page.
	After string
}

// Entries is the filter of the entries in a group of the inbox, to list or to correct.
func (f *InboxFilter) Entries(group string) EntryFilter {
	return EntryFilter{
		Repository: f.Repository, Label: f.Label, Statuses: f.Statuses, Since: f.Since, Until: f.Until, Text: f.Text,
		Group: group, Tried: true, Uncorrected: !f.Corrected, Doubtful: !f.Sure,
	}
}

// all says that the filter selects the whole inbox.
func (f *InboxFilter) all() bool {
	return f.Repository == "" && f.Label == "" && len(f.Statuses) == 0 && f.Since.IsZero() && f.Until.IsZero() && f.Text == "" && !f.Sure && !f.Corrected
}

// Inbox is a page of the groups that a filter selects, the most valuable first.
type Inbox struct {
	Groups []Group
	// Total is how many groups there are on all pages, Entries how many trials are in them.
	Total, Entries int
	// Next is the cursor of the next page; empty on the last.
	Next string
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
	// Value orders the inbox: the sum of the doubts, each for all cases that the entry stands for, which halves with each week
	// since the latest was submitted.
	Value float64
	// Sample is the latest entry.
	Sample Entry
}

const weekMicros = 7 * 24 * 3600 * 1_000_000

// Inbox gives a page of the groups that a filter selects. The whole inbox is kept in a table; for other filters its entries are read.
func (s *Store) Inbox(ctx context.Context, f InboxFilter) (*Inbox, error) {
	const most = 500
	if f.Limit <= 0 {
		f.Limit = 50
	}
	f.Limit = min(f.Limit, most)
	box := &Inbox{Groups: []Group{}}
	err := s.db.snapshot(ctx, func(q querier) error {
		var w where
		from := `inbox`
		if !f.all() {
			entries := f.Entries("")
			w = entries.where(s.db)
			from = `(SELECT grp, count(*) AS entries, CAST(sum(1 + member_count) AS BIGINT) AS cases, count(DISTINCT docket) AS dockets, sum(doubt) AS doubt,
				sum(` + entryWeight + `) AS weight, min(created) AS first, max(created) AS latest FROM entries` + w.text() + ` GROUP BY grp) inbox`
			from = `(SELECT inbox.*, ` + rankOf + ` AS rank, count(*) OVER () AS all_groups, CAST(sum(entries) OVER () AS BIGINT) AS all_entries FROM ` + from + `) inbox`
		}
		if err := box.read(ctx, q, from, w.args, &f, s.now()); err != nil {
			return err
		}
		return s.samples(ctx, q, &f, box.Groups)
	})
	return box, err
}

// read reads a page from a table of groups.
func (b *Inbox) read(ctx context.Context, q querier, from string, args []any, f *InboxFilter, now int64) error {
	totals := `0, 0`
	if f.all() {
		if err := one(ctx, q, `SELECT count(*), CAST(coalesce(sum(entries), 0) AS BIGINT) FROM inbox`, nil, &b.Total, &b.Entries); err != nil {
			return err
		}
	} else {
		totals = `all_groups, all_entries`
	}
	w := where{args: args}
	if rank, grp, ok := parseInboxCursor(f.After); ok {
		w.add(`rank <= ?`, rank)
		w.add(`(rank < ? OR grp > ?)`, rank, grp)
	}
	var ranks []float64
	err := each(ctx, q, `SELECT grp, entries, cases, dockets, doubt, weight, first, latest, rank, `+totals+` FROM `+from+w.text()+
		` ORDER BY rank DESC, grp`+w.limit(f.Limit+1, 0, f.Limit+1), w.args, func(scan func(...any) error) error {
		var g Group
		var doubt, weight, rank float64
		var first, latest, groups, entries int64
		err := scan(&g.Key, &g.Entries, &g.Cases, &g.Dockets, &doubt, &weight, &first, &latest, &rank, &groups, &entries)
		if !f.all() {
			b.Total, b.Entries = int(groups), int(entries)
		}
		g.First, g.Latest, g.Doubt = at(first), at(latest), min(max(doubt/float64(g.Entries), 0), 1)
		g.Value = weight * math.Exp2(float64(latest-now)/weekMicros)
		b.Groups, ranks = append(b.Groups, g), append(ranks, rank)
		return err
	})
	if err == nil && len(b.Groups) > f.Limit {
		b.Groups = b.Groups[:f.Limit]
		b.Next = inboxCursor(ranks[f.Limit-1], b.Groups[f.Limit-1].Key)
	}
	return err
}

// inboxCursor names the place behind a group, whatever becomes of the groups before it.
func inboxCursor(rank float64, grp string) string {
	return strconv.FormatFloat(rank, 'g', -1, 64) + "_" + grp
}

func parseInboxCursor(cursor string) (rank float64, grp string, ok bool) {
	number, grp, ok := strings.Cut(cursor, "_")
	rank, err := strconv.ParseFloat(number, 64)
	return rank, grp, ok && err == nil && !math.IsNaN(rank)
}

// samples reads the latest entry of each group.
func (s *Store) samples(ctx context.Context, q querier, f *InboxFilter, groups []Group) error {
	for i := range groups {
		entries := f.Entries(groups[i].Key)
		w := entries.where(s.db)
		err := each(ctx, q, `SELECT `+entryColumns+` FROM entries`+w.text()+` ORDER BY docket DESC, ordinal LIMIT 1`, w.args,
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

// InGroup counts the entries of a group that need a person.
func (s *Store) InGroup(ctx context.Context, grp string) (n int, err error) {
	err = one(ctx, s.db, `SELECT entries FROM inbox WHERE grp = $1`, []any{grp}, &n)
	if isNotFound(err) {
		return 0, nil
	}
	return n, err
}
