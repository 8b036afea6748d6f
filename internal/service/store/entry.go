package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// TrialID names an entry of a docket, and so its trial.
type TrialID struct {
	Docket  int64
	Ordinal int // from 1
}

// String gives the ID as ParseTrialID reads it: "17-203".
func (id TrialID) String() string {
	return strconv.FormatInt(id.Docket, 10) + "-" + strconv.Itoa(id.Ordinal)
}

// MarshalText gives the ID as String does.
func (id TrialID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText gives.
func (id *TrialID) UnmarshalText(b []byte) (err error) {
	*id, err = ParseTrialID(string(b))
	return err
}

// ParseTrialID reads an ID; ErrNotFound where the text is none.
func ParseTrialID(s string) (TrialID, error) {
	d, o, ok := strings.Cut(s, "-")
	docketID, err := strconv.ParseInt(d, 10, 64)
	ordinal, errOrdinal := strconv.ParseInt(o, 10, 32)
	id := TrialID{docketID, int(ordinal)}
	if !ok || err != nil || errOrdinal != nil || id.Docket < 1 || id.Ordinal < 1 || id.String() != s {
		return TrialID{}, fmt.Errorf("trial %q: %w", text(s, 64), ErrNotFound)
	}
	return id, nil
}

// Entry is what is listed of an entry of a docket. Texts are cut at a kibibyte; those of the trial are not.
type Entry struct {
	ID TrialID `json:"id" pattern:"^[0-9]+-[0-9]+$" example:"17-203" doc:"ID of the trial: docket and place in it"`
	// Docket and Ordinal are those of the ID.
	Docket     int64    `json:"docket" minimum:"1" doc:"ID of the docket"`
	Ordinal    int      `json:"ordinal" minimum:"1" doc:"Place in the docket"`
	CaseID     string   `json:"case" doc:"ID of the case; empty for an entry that could not be read"`
	Subject    string   `json:"subject" doc:"What the case is about"`
	Labels     []string `json:"labels" doc:"Classifications that the case may have"`
	Members    int      `json:"members,omitempty" minimum:"0" doc:"Further cases that the trial decides, since they failed in the same way"`
	Repository string   `json:"repository,omitempty" doc:"Repository of the docket"`
	Group      string   `json:"group,omitempty" doc:"Equal for failures of one kind with the same labels, in all dockets"`
	Fault      string   `json:"fault,omitempty" doc:"Why it was not tried"`
	// Status is empty while the entry waits, and where it has a fault.
	Status     trial.Status `json:"status,omitempty" doc:"How the trial ended; absent while the entry waits" example:"acquitted"`
	Label      string       `json:"label,omitempty" doc:"Classification of the result"`
	Confidence float64      `json:"confidence" minimum:"0" maximum:"1" doc:"Confidence of the result"`
	Generation int64        `json:"generation,omitempty" minimum:"1" doc:"Generation of modules that tried it"`
	Correction int64        `json:"correction,omitempty" minimum:"1" doc:"ID of the correction that is in force"`
	Corrected  string       `json:"corrected_label,omitempty" doc:"Label of the correction"`
	Created    time.Time    `json:"created" doc:"When the docket was submitted"`
	Alibi      *Alibi       `json:"alibi,omitempty" doc:"Answer of the command alibi, where a run of it was pushed"`

	Suite  string    `json:"-"`
	Source string    `json:"-"`
	Line   int       `json:"-"`
	Tried  time.Time `json:"-"`
	// Light is Light's first answer; its classification is empty where it had none.
	Light trial.Answer `json:"-"`
	// Beside is how the canary's court ended: its status is empty where it did not try the case.
	Beside struct {
		Status     trial.Status
		Label      string
		Confidence float64
	} `json:"-"`
	// Doubt, in [0, 1], is how much the result needs a person: 1 without a label, and else 1 less the confidence.
	Doubt float64 `json:"-"`
	// About is what says most about the failure, such as the first line of its message; empty until it was tried.
	About string `json:"-"`
	// What the docket says: its name, the right label (empty where it is not known), and names of labels for people.
	DocketName string            `json:"-"`
	Truth      string            `json:"-"`
	LabelNames map[string]string `json:"-"`
}

const entryColumns = `docket, ordinal, case_id, subject, suite, labels, member_count, repository, source, line, created, grp, fault, status,
	label, confidence, light_label, light_confidence, beside_status, beside_label, beside_confidence, doubt, generation, tried, correction, corrected, about,
	(SELECT name FROM dockets d WHERE d.id = entries.docket), known, label_names, alibi`

func scanEntry(scan scanner) (Entry, error) {
	e := Entry{Labels: []string{}}
	err := scan(&e.Docket, &e.Ordinal, &e.CaseID, &e.Subject, &e.Suite, encoded{&e.Labels}, &e.Members, &e.Repository, &e.Source, &e.Line,
		moment{&e.Created}, &e.Group, &e.Fault, &e.Status, &e.Label, &e.Confidence, &e.Light.Classification, &e.Light.Confidence,
		&e.Beside.Status, &e.Beside.Label, &e.Beside.Confidence, &e.Doubt, &e.Generation, moment{&e.Tried}, &e.Correction, &e.Corrected, &e.About,
		&e.DocketName, &e.Truth, encoded{&e.LabelNames}, encoded{&e.Alibi})
	e.ID = TrialID{e.Docket, e.Ordinal}
	return e, err
}

// EntryFilter selects entries. Zero fields select all.
type EntryFilter struct {
	Docket     int64
	Repository string
	// Label is that of the result; with Corrected entries, of the correction.
	Label    string
	Statuses []trial.Status
	Group    string
	// Since and Until bound when the docket was submitted.
	Since, Until time.Time
	// Text is looked for in the ids, subjects and suites of cases and in the docket's name, without regard to case.
	Text string
	// Generation that tried it.
	Generation int64
	// Tried leaves out entries that wait and faults.
	Tried bool
	// Corrected gives only entries with a correction, Uncorrected only those without.
	Corrected, Uncorrected bool
	// Doubtful leaves out entries with a doubt of less than InboxDoubt.
	Doubtful bool
	// Flipped gives only entries that the canary's court ended otherwise.
	Flipped bool
	// Limit is the most entries to give: 0: 100, and at most 1,000.
	Limit int
	// After is the last entry of the page before; zero: the page is the first.
	After TrialID

	ordinal int
}

func (f *EntryFilter) where(ctx context.Context, d *database) where {
	var w where
	w.within(ctx, "repository")
	if f.Docket > 0 {
		w.add("docket = ?", f.Docket)
	} else if !f.Tried && !f.Flipped {
		// The entries of a docket that is being received are nobody's yet; none has a result.
		w.add("docket IN (SELECT id FROM dockets WHERE state <> 'receiving')")
	}
	if f.ordinal > 0 {
		w.add("ordinal = ?", int64(f.ordinal))
	}
	w.equal("repository", f.Repository)
	if f.Label != "" {
		column := "label"
		if f.Corrected {
			column = "corrected"
		}
		w.equal(column, f.Label)
	}
	if len(f.Statuses) > 0 {
		w.in("status", anys(f.Statuses))
	}
	w.equal("grp", f.Group)
	if !f.Since.IsZero() {
		w.add("created >= ?", micros(f.Since))
	}
	if !f.Until.IsZero() {
		w.add("created < ?", micros(f.Until))
	}
	if f.Text != "" {
		w.contains(d, "words", f.Text)
	}
	if f.Generation > 0 {
		w.add("generation = ?", f.Generation)
	}
	if f.Tried && f.Uncorrected && f.Doubtful {
		w.add(needsPerson)
	} else if f.Tried {
		w.add("status <> ''")
	}
	if f.Corrected {
		w.add("correction <> 0")
	}
	if f.Uncorrected {
		w.add("correction = 0")
	}
	if f.Doubtful {
		w.add("doubt >= ?", InboxDoubt)
	}
	if f.Flipped {
		w.add(flipped)
	}
	return w
}

// Entries lists entries: those of one docket in its order, others with the latest docket first.
func (s *Store) Entries(ctx context.Context, f EntryFilter) ([]Entry, error) {
	w := f.where(ctx, s.db)
	order := " ORDER BY docket DESC, ordinal"
	if f.Docket > 0 {
		order = " ORDER BY ordinal"
	}
	if after := f.After; f.Docket > 0 && after.Ordinal > 0 {
		w.add("ordinal > ?", int64(after.Ordinal))
	} else if after.Docket > 0 {
		w.add("docket <= ?", after.Docket)
		w.add("(docket < ? OR ordinal > ?)", after.Docket, int64(after.Ordinal))
	}
	return rowsOf(ctx, s.db, `SELECT `+entryColumns+` FROM entries`+w.text()+order+w.limit(f.Limit, 100, 1000), w.args, scanEntry)
}

// CountEntries counts those that a filter selects, without its limit. It reads them all: see retally for what is kept.
func (s *Store) CountEntries(ctx context.Context, f EntryFilter) (n int, err error) {
	w := f.where(ctx, s.db)
	err = one(ctx, s.db, `SELECT count(*) FROM entries`+w.text(), w.args, &n)
	return n, err
}

// Entry lists one entry. ErrNotFound where there is none.
func (s *Store) Entry(ctx context.Context, id TrialID) (Entry, error) {
	list, err := s.Entries(ctx, EntryFilter{Docket: id.Docket, Limit: 1, ordinal: id.Ordinal})
	return first("trial "+id.String(), list, err)
}

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

// The formats of dockets whose trials were held elsewhere, and that no generation tried.
const (
	FormatAlibi   = "alibi"
	FormatResults = "results"
)

// triedHere is the condition of entries of other dockets.
const triedHere = "docket NOT IN (SELECT id FROM dockets WHERE format IN ('" + FormatAlibi + "', '" + FormatResults + "'))"

// Alibi is the answer of the command alibi to an entry, without the runs, which its trial has.
type Alibi struct {
	Verdict alibi.Verdict  `json:"verdict" enum:"yours,not yours,open" doc:"Whether the author of the change has to act"`
	Label   string         `json:"attribution,omitempty" doc:"How the failure is attributed; absent for an open one"`
	Part    alibi.Part     `json:"part,omitempty" doc:"What of the change is to blame"`
	Why     string         `json:"why" doc:"The runs that the answer rests on"`
	Next    string         `json:"next,omitempty" doc:"What would decide an open one"`
	Culprit *alibi.Culprit `json:"culprit,omitempty" doc:"Commit that the failure began with"`
	Seconds float64        `json:"seconds" minimum:"0" doc:"How long the runs took"`
	Change  alibi.Change   `json:"change" doc:"What was judged, and with what"`
	Key     string         `json:"key,omitempty" doc:"ID of the key that signed the record; absent where nothing is signed"`
}

// maxAlibi is the most bytes of an answer.
const maxAlibi = 64 << 10

// column is an answer as the tables have it.
func (a *Alibi) column() (string, error) {
	if a == nil {
		return "", nil
	}
	text := object(a)
	if len(text) > maxAlibi {
		return "", fmt.Errorf("%w: the answer has %d bytes, and %d are allowed", ErrTooLarge, len(text), maxAlibi)
	}
	return text, nil
}

// yoursDoubt keeps what is yours in the inbox until somebody says that it is seen to, behind what is open.
const yoursDoubt = 0.5

// doubt is how much the entry needs a person.
func (a *Alibi) doubt(final *trial.Final) float64 {
	switch a.Verdict {
	case alibi.IsOpen:
		return 1
	case alibi.IsYours:
		return max(yoursDoubt, doubt(final))
	default:
		return doubt(final)
	}
}
