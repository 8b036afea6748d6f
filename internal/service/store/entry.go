package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

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
	// About is what tells most of the failure, such as the first line of its message; empty until it was tried.
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
	// Tried leaves out entries that wait and faults; Faults gives only those with a fault.
	Tried, Faults bool
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
	if f.Faults {
		w.add("fault <> ''")
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

// CountEntries counts those that a filter selects, without its limit. It reads them all: see tally.go for what is kept.
func (s *Store) CountEntries(ctx context.Context, f EntryFilter) (n int, err error) {
	w := f.where(ctx, s.db)
	err = one(ctx, s.db, `SELECT count(*) FROM entries`+w.text(), w.args, &n)
	return n, err
}

// Entry lists one entry. ErrNotFound where there is none.
func (s *Store) Entry(ctx context.Context, id TrialID) (e Entry, err error) {
	list, err := s.Entries(ctx, EntryFilter{Docket: id.Docket, Limit: 1, ordinal: id.Ordinal})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("trial %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return Entry{}, err
	}
	return list[0], nil
}
