package store

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
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
	// Group is equal for failures of one kind, in all dockets.
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
	// Correction is the one in force, 0 for none; Corrected is its label.
	Correction int64
	Corrected  string
}

const entryColumns = `docket, ordinal, case_id, subject, suite, labels, member_count, repository, source, line, created, grp, fault, status,
	label, confidence, light_label, light_confidence, beside_status, beside_label, beside_confidence, doubt, generation, tried, correction, corrected`

func scanEntry(scan func(...any) error) (Entry, error) {
	var e Entry
	var labels, status, beside string
	var created, tried int64
	if err := scan(&e.ID.Docket, &e.ID.Ordinal, &e.CaseID, &e.Subject, &e.Suite, &labels, &e.Members, &e.Repository, &e.Source, &e.Line,
		&created, &e.Group, &e.Fault, &status, &e.Label, &e.Confidence, &e.Light.Classification, &e.Light.Confidence,
		&beside, &e.Beside.Label, &e.Beside.Confidence, &e.Doubt, &e.Generation, &tried, &e.Correction, &e.Corrected); err != nil {
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

func (f *EntryFilter) where(d database) where {
	var w where
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
	w := f.where(s.db)
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
	w := f.where(s.db)
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

// Tried is an entry with its trial.
type Tried struct {
	Entry
	// Trial is nil while the entry waits for one, and where it has a fault. Read by [Store.Results] it has the result alone.
	Trial *trial.Trial
	// Record is the id of the signed record that holds the trial; 0 for none.
	Record int64
}

// Trial reads an entry with all that is kept of its trial: its case with all documents, what the entry knows of truth, members
// and labels, and how it came about. A trial without a verdict has no passes.
func (s *Store) Trial(ctx context.Context, id TrialID) (*Tried, error) {
	var list []*Tried
	err := s.db.snapshot(ctx, func(q querier) (err error) {
		list, err = readTrials(ctx, q, id.Docket, id.Ordinal, id.Ordinal, true)
		return err
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("trial %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Results reads the results of a docket in its order, from an ordinal on (from 1): those that were tried, those that wait and
// faults.
func (s *Store) Results(ctx context.Context, docketID int64, from int) iter.Seq2[*Tried, error] {
	return s.trials(ctx, docketID, from, false)
}

// Trials is Results with whole trials.
func (s *Store) Trials(ctx context.Context, docketID int64, from int) iter.Seq2[*Tried, error] {
	return s.trials(ctx, docketID, from, true)
}

// Trials that are read at once: results are small.
const (
	resultsAtOnce = 500
	trialsAtOnce  = 20
)

func (s *Store) trials(ctx context.Context, docketID int64, from int, whole bool) iter.Seq2[*Tried, error] {
	return func(yield func(*Tried, error) bool) {
		if _, err := s.Docket(ctx, docketID); err != nil {
			yield(nil, err)
			return
		}
		count := resultsAtOnce
		if whole {
			count = trialsAtOnce
		}
		for from = max(from, 1); ; from += count {
			var list []*Tried
			err := s.db.snapshot(ctx, func(q querier) (err error) {
				list, err = readTrials(ctx, q, docketID, from, from+count-1, whole)
				return err
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, t := range list {
				if !yield(t, nil) {
					return
				}
			}
			if len(list) < count {
				return
			}
		}
	}
}

// rest is what is read of an entry beside what is listed.
type rest struct {
	digest, truth, names string
	members              []string
	result, story        []byte
}

// readTrials reads a range of a docket; whole ones with their cases and stories.
func readTrials(ctx context.Context, q querier, docketID int64, first, last int, whole bool) ([]*Tried, error) {
	columns := "v.result, coalesce(v.record, 0)"
	if whole {
		columns = "v.result, v.story, coalesce(v.record, 0)"
	}
	var list []*Tried
	var rests []rest
	var digests []string
	err := each(ctx, q, `SELECT `+prefixed("e", entryColumns)+`, e.case_digest, e.members, e.truth, e.label_names, `+columns+`
		FROM entries e LEFT JOIN verdicts v ON v.key = e.verdict
		WHERE e.docket = $1 AND e.ordinal >= $2 AND e.ordinal <= $3 ORDER BY e.ordinal`,
		[]any{docketID, int64(first), int64(last)}, func(scan func(...any) error) error {
			t := &Tried{}
			var r rest
			var members string
			var err error
			t.Entry, err = scanEntry(func(to ...any) error {
				to = append(to, &r.digest, &members, &r.truth, &r.names, &r.result)
				if whole {
					to = append(to, &r.story)
				}
				return scan(append(to, &t.Record)...)
			})
			if err == nil {
				err = parse(members, &r.members)
			}
			list, rests = append(list, t), append(rests, r)
			if whole && r.digest != "" {
				digests = append(append(digests, r.digest), r.members...)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	cases, err := readCases(ctx, q, digests)
	if err != nil {
		return nil, err
	}
	for i, t := range list {
		if err := rests[i].complete(t, cases, whole); err != nil {
			return nil, fmt.Errorf("trial %s: %w", t.ID, err)
		}
	}
	if !whole {
		return list, memberIDs(ctx, q, list, rests)
	}
	return list, nil
}

// complete gives an entry its trial.
func (r *rest) complete(t *Tried, cases map[string]*abi.Case, whole bool) error {
	if r.result != nil {
		read, err := decodeTrial(r.result, r.story)
		if err != nil {
			return err
		}
		t.Trial = read
	} else if whole && r.digest != "" && t.Fault == "" {
		t.Trial = &trial.Trial{Result: trial.Result{ID: t.CaseID}}
	}
	if t.Trial == nil {
		return nil
	}
	if r.truth != "" {
		t.Trial.Truth = &trial.Truth{}
		if err := parse(r.truth, t.Trial.Truth); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	subject := cases[r.digest]
	if subject == nil {
		return fmt.Errorf("the database is damaged: case %s is missing", r.digest)
	}
	setCase(t.Trial, subject)
	if t.Trial.Result.Final.Status == "" {
		t.Trial.Result.ID = subject.ID
	}
	var members []abi.Case
	for _, digest := range r.members {
		if cases[digest] == nil {
			return fmt.Errorf("the database is damaged: case %s is missing", digest)
		}
		members = append(members, *cases[digest])
	}
	t.Trial.Stand(members)
	if r.names != "" {
		names := map[string]string{}
		if err := parse(r.names, &names); err != nil {
			return err
		}
		if t.Trial.LabelNames == nil {
			t.Trial.LabelNames = map[string]string{}
		}
		maps.Copy(t.Trial.LabelNames, names)
	}
	return nil
}

// memberIDs puts the ids of members into results whose cases are not read.
func memberIDs(ctx context.Context, q querier, list []*Tried, rests []rest) error {
	for i, t := range list {
		if t.Trial == nil || len(rests[i].members) == 0 {
			continue
		}
		cases, err := readCases(ctx, q, rests[i].members)
		if err != nil {
			return err
		}
		for _, digest := range rests[i].members {
			if cases[digest] == nil {
				return fmt.Errorf("the database is damaged: case %s is missing", digest)
			}
			t.Trial.Result.Members = append(t.Trial.Result.Members, cases[digest].ID)
		}
	}
	return nil
}

// setCase gives a trial, and the canary's beside it, the case that is kept once.
func setCase(t *trial.Trial, c *abi.Case) {
	t.Case = *c
	if t.Beside != nil {
		setCase(t.Beside, c)
	}
}

// Case reads the case of an entry as it was submitted.
func (s *Store) Case(ctx context.Context, id TrialID) (*docket.Entry, error) {
	t, err := s.Trial(ctx, id)
	if err != nil {
		return nil, err
	}
	if t.Trial == nil {
		return nil, fmt.Errorf("trial %s: %w: %s", id, ErrNotFound, t.Fault)
	}
	return &docket.Entry{
		Case: t.Trial.Case, Members: t.Trial.Members, Truth: t.Trial.Truth, LabelNames: t.Trial.LabelNames, Source: t.Source, Line: t.Line,
	}, nil
}
