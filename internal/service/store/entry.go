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
	ID                     TrialID
	CaseID, Subject, Suite string
	Labels                 []string // of the case, in its order
	// Members is how many further cases the trial stands for.
	Members    int
	Repository string
	Source     string
	Line       int
	// Created is when the docket was submitted.
	Created time.Time
	// Group is equal for failures of one kind with the same labels, in all dockets.
	Group string
	// Fault says why there is no trial; Status is empty while the entry waits for one.
	Fault      string
	Status     trial.Status
	Label      string
	Confidence float64
	// Light is Light's first answer; its classification is empty where it had none.
	Light trial.Answer
	// Beside is how the canary's court ended: its status is empty where it did not try the case.
	Beside struct {
		Status     trial.Status
		Label      string
		Confidence float64
	}
	// Doubt, in [0, 1], is how much the result needs a person: 1 without a label, and else 1 less the confidence.
	Doubt float64
	// Generation of the verdict, and when it was tried.
	Generation int64
	Tried      time.Time
	// About is what tells most of the failure, such as the first line of its message; empty until it was tried.
	About string
	// Correction is the one in force, 0 for none; Corrected is its label.
	Correction int64
	Corrected  string
}

const entryColumns = `docket, ordinal, case_id, subject, suite, labels, member_count, repository, source, line, created, grp, fault, status,
	label, confidence, light_label, light_confidence, beside_status, beside_label, beside_confidence, doubt, generation, tried, correction, corrected, about`

func scanEntry(scan func(...any) error) (Entry, error) {
	var e Entry
	var labels, status, beside string
	var created, tried int64
	if err := scan(&e.ID.Docket, &e.ID.Ordinal, &e.CaseID, &e.Subject, &e.Suite, &labels, &e.Members, &e.Repository, &e.Source, &e.Line,
		&created, &e.Group, &e.Fault, &status, &e.Label, &e.Confidence, &e.Light.Classification, &e.Light.Confidence,
		&beside, &e.Beside.Label, &e.Beside.Confidence, &e.Doubt, &e.Generation, &tried, &e.Correction, &e.Corrected, &e.About); err != nil {
		return e, err
	}
	e.Status, e.Beside.Status, e.Created, e.Tried = trial.Status(status), trial.Status(beside), at(created), at(tried)
	return e, parse(labels, &e.Labels)
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

func (f *EntryFilter) where(ctx context.Context, d database) where {
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
		list := make([]string, len(f.Statuses))
		args := make([]any, len(f.Statuses))
		for i, s := range f.Statuses {
			list[i], args[i] = "?", string(s)
		}
		w.add("status IN ("+strings.Join(list, ", ")+")", args...)
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
	list := []Entry{}
	err := each(ctx, s.db, `SELECT `+entryColumns+` FROM entries`+w.text()+order+w.limit(f.Limit, 100, 1000), w.args,
		func(scan func(...any) error) error {
			e, err := scanEntry(scan)
			list = append(list, e)
			return err
		})
	return list, err
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
