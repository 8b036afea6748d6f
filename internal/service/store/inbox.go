package store

import (
	"cmp"
	"context"
	"math"
	"slices"
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
	Key     string    `json:"key" doc:"What the group is corrected by"`
	Entries int       `json:"trials" minimum:"1" doc:"Trials in the group"`
	Cases   int       `json:"cases" minimum:"1" doc:"Failures that they decide"`
	Dockets int       `json:"dockets" minimum:"1" doc:"Dockets that they are in"`
	Doubt   float64   `json:"doubt" minimum:"0" maximum:"1" doc:"How much the results need a person, on average"`
	First   time.Time `json:"first" doc:"When the first of the dockets was submitted"`
	Latest  time.Time `json:"latest" doc:"When the latest was"`
	Value   float64   `json:"value" doc:"What the groups are ordered by: the sum of the doubts, which halves with each week"`
	Sample  Entry     `json:"sample" doc:"The latest of the trials"`

	rank, weight float64
	docket       int64 // the latest
}

const weekMicros = 7 * 24 * 3600 * 1_000_000

// Inbox gives a page of the groups that a filter selects. It reads all of its entries, by an index that has what is counted.
func (s *Store) Inbox(ctx context.Context, f InboxFilter) (*Inbox, error) {
	const most = 500
	if f.Limit <= 0 {
		f.Limit = 50
	}
	f.Limit = min(f.Limit, most)
	box := &Inbox{Groups: []Group{}}
	err := s.db.snapshot(ctx, func(q querier) error {
		if err := s.groups(ctx, q, &f, box); err != nil {
			return err
		}
		if len(box.Groups) > f.Limit {
			box.Groups = box.Groups[:f.Limit]
			box.Next = box.Groups[f.Limit-1].cursor()
		}
		for i := range box.Groups {
			if err := s.sample(ctx, q, &f, &box.Groups[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return box, err
}

// groups reads the groups of a page, and one more. The weight of a group is the sum of the doubts, each for all cases that the entry stands
// for. The order is that of its binary logarithm and the latest submission in weeks, so that a group falls behind one of half its weight
// that is a week younger, and the order of two groups stays as it is while time passes.
func (s *Store) groups(ctx context.Context, q querier, f *InboxFilter, box *Inbox) error {
	filter := f.Entries("")
	w := filter.where(ctx, s.db)
	from, behind := parseInboxCursor(f.After)
	trim := func() { // those of the page, and one more
		slices.SortFunc(box.Groups, func(a, b Group) int { return a.compare(&b) })
		box.Groups = box.Groups[:min(len(box.Groups), f.Limit+1)]
	}
	grp := "grp"
	if f.Text != "" {
		// The words are in the rows. They are read in their order, by entries_waiting, and not in that of the groups.
		grp = "grp || ''"
		w.add("docket > 0")
	}
	err := each(ctx, q, `SELECT `+grp+`, count(*), CAST(sum(1 + member_count) AS BIGINT), count(DISTINCT docket), sum(doubt), sum((doubt + 0.01) * (1 + member_count)),
		min(created), max(created), max(docket) FROM entries`+w.text()+` GROUP BY 1`, w.args, func(scan scanner) error {
		var g Group
		var doubt float64
		err := scan(&g.Key, &g.Entries, &g.Cases, &g.Dockets, &doubt, &g.weight, moment{&g.First}, moment{&g.Latest}, &g.docket)
		g.Doubt = min(max(doubt/float64(max(g.Entries, 1)), 0), 1)
		g.Value = g.weight * math.Exp2(float64(micros(g.Latest)-s.now())/weekMicros)
		g.rank = math.Log2(g.weight) + float64(micros(g.Latest))/weekMicros
		box.Total++
		box.Entries += g.Entries
		if !behind || from.compare(&g) < 0 {
			if box.Groups = append(box.Groups, g); len(box.Groups) > 4*f.Limit {
				trim()
			}
		}
		return err
	})
	trim()
	return err
}

// sample reads the latest entry of a group.
func (s *Store) sample(ctx context.Context, q querier, f *InboxFilter, g *Group) error {
	entries := f.Entries(g.Key)
	w := entries.where(ctx, s.db)
	w.add("docket = ?", g.docket)
	return each(ctx, q, `SELECT `+entryColumns+` FROM entries`+w.text()+` ORDER BY docket DESC, ordinal LIMIT 1`, w.args, func(scan scanner) (err error) {
		g.Sample, err = scanEntry(scan)
		return err
	})
}

// compare puts the most valuable group first.
func (g *Group) compare(o *Group) int {
	return cmp.Or(cmp.Compare(o.rank, g.rank), strings.Compare(g.Key, o.Key))
}

// cursor names the place behind a group, whatever becomes of the groups before it.
func (g *Group) cursor() string {
	return strconv.FormatFloat(g.rank, 'g', -1, 64) + "_" + g.Key
}

// IsInboxCursor says whether a text may be a cursor of the inbox.
func IsInboxCursor(text string) bool {
	_, ok := parseInboxCursor(text)
	return ok
}

func parseInboxCursor(cursor string) (at Group, ok bool) {
	number, grp, ok := strings.Cut(cursor, "_")
	rank, err := strconv.ParseFloat(number, 64)
	return Group{Key: grp, rank: rank}, ok && err == nil && !math.IsNaN(rank)
}

// InGroup counts the entries of a group that need a person.
func (s *Store) InGroup(ctx context.Context, grp string) (int, error) {
	return s.CountEntries(ctx, (&InboxFilter{}).Entries(grp))
}
