package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Correction is what somebody said is right of some trials.
type Correction struct {
	ID       int64     `json:"id" minimum:"1" doc:"ID of the correction"`
	Label    string    `json:"label" doc:"The label that is right"`
	Author   string    `json:"author" doc:"Who said so"`
	Created  time.Time `json:"created" doc:"When"`
	Undone   time.Time `json:"undone,omitzero" doc:"When it was undone; absent while it is in force"`
	UndoneBy string    `json:"undone_by,omitempty" doc:"Who undid it"`
	Group    string    `json:"group,omitempty" doc:"Group that was corrected"`
	Entries  int       `json:"trials" minimum:"0" doc:"How many trials it is about"`
	Revision int64     `json:"revision" minimum:"0" doc:"Revision of the casebook that has it"`
}

// maxCorrected bounds one correction.
const maxCorrected = 10_000

// Correct says what is right of some trials: a label that each of their cases has (else ErrLabel). It is in force at once, and
// in the casebook of dockets that are submitted from now on. A later correction of a trial replaces it; one that says the same of the
// same trials is given in its place.
func (s *Store) Correct(ctx context.Context, author, label string, ids []TrialID) (Correction, error) {
	return s.correct(ctx, author, label, "", func(ctx context.Context, q querier) ([]corrected, error) {
		var list []corrected
		for _, id := range ids {
			f := EntryFilter{Docket: id.Docket, ordinal: id.Ordinal}
			found, err := readCorrected(ctx, q, f.where(ctx, s.db))
			if err == nil && len(found) == 0 {
				err = fmt.Errorf("trial %s: %w", id, ErrNotFound)
			}
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		}
		return list, nil
	})
}

// CorrectGroup is Correct for all entries of a group of the inbox that its filter selects.
func (s *Store) CorrectGroup(ctx context.Context, author, label, group string, f InboxFilter) (Correction, error) {
	return s.correct(ctx, author, label, group, func(ctx context.Context, q querier) ([]corrected, error) {
		entries := f.Entries(group)
		list, err := readCorrected(ctx, q, entries.where(ctx, s.db))
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("group %q: %w", text(group, 64), ErrNotFound)
		}
		return list, err
	})
}

// corrected is an entry that a correction is about.
type corrected struct {
	id         TrialID
	status     string
	labels     []string
	confidence float64
	repository string
	digests    []string // of the case and its members; none where the casebook does not learn of it
}

func readCorrected(ctx context.Context, q querier, w where) ([]corrected, error) {
	return rowsOf(ctx, q, `SELECT docket, ordinal, status, labels, confidence, case_digest, members, repository, CASE WHEN alibi = '' THEN 0 ELSE 1 END FROM entries`+w.text()+
		` ORDER BY docket, ordinal`+w.limit(maxCorrected+1, 0, maxCorrected+1), w.args, func(scan scanner) (c corrected, err error) {
		var digest string
		var attributed bool
		err = scan(&c.id.Docket, &c.id.Ordinal, &c.status, encoded{&c.labels}, &c.confidence, &digest, encoded{&c.digests}, &c.repository, &attributed)
		if c.digests = append([]string{digest}, c.digests...); attributed {
			c.digests = nil // who did it says nothing of the next change
		}
		return c, err
	})
}

func (s *Store) correct(ctx context.Context, author, label, group string, find func(context.Context, querier) ([]corrected, error)) (Correction, error) {
	var c Correction
	err := s.write(ctx, func(t *tx) error {
		c = Correction{Author: text(author, maxName), Group: text(group, maxName), Created: at(s.now())}
		list, err := find(ctx, t)
		if err != nil {
			return err
		}
		if err := checkCorrected(list, label); err != nil {
			return err
		}
		c.Label = text(label, maxName) // as results have it
		c.Entries = len(list)
		if same, err := t.inForce(ctx, &c, list); err != nil || same.ID != 0 {
			c = same
			return err
		}
		if err := one(ctx, t, `INSERT INTO corrections (label, author, created, undone, undone_by, grp, entries, revision)
			VALUES ($1, $2, $3, 0, '', $4, $5, 0) RETURNING id`,
			[]any{c.Label, c.Author, micros(c.Created), c.Group, int64(c.Entries)}, &c.ID); err != nil {
			return err
		}
		in := inserter{head: `INSERT INTO correction_entries (correction, docket, ordinal) VALUES `}
		var entries []casebookEntry
		for i := range list {
			in.add(ctx, t, c.ID, list[i].id.Docket, int64(list[i].id.Ordinal))
			for _, digest := range list[i].digests {
				entries = append(entries, casebookEntry{Case: digest, Origin: "confirmed", Status: "confirmed", Label: label, Confidence: list[i].confidence, Repository: list[i].repository})
			}
		}
		in.flush(ctx, t)
		if err := t.recorrect(ctx, c.ID, func() error {
			t.run(ctx, `UPDATE entries SET correction = $1, corrected = $2 WHERE `+ofCorrection, c.ID, c.Label)
			return nil
		}); err != nil {
			return err
		}
		// Last, since a docket that ends locks its counts before the casebook.
		if c.Revision, err = t.logCasebook(ctx, casebookRevision{Author: c.Author, Created: c.Created, entries: entries}); err != nil {
			return err
		}
		t.run(ctx, `UPDATE corrections SET revision = $1 WHERE id = $2`, c.Revision, c.ID)
		if err := t.postCorrection(ctx, &c, c.Author, false, s.now()); err != nil {
			return err
		}
		return t.notify(ctx, Event{EventCorrection, c.ID})
	})
	return c, err
}

// inForce gives the correction that says the same of the same entries already, with the ID 0 where there is none.
func (t *tx) inForce(ctx context.Context, c *Correction, list []corrected) (none Correction, err error) {
	dockets := make([]int64, len(list))
	wanted := make(map[TrialID]bool, len(list))
	for i := range list {
		dockets[i] = list[i].id.Docket
		wanted[list[i].id] = true
	}
	// Of equal corrections at the same time, the second sees the first.
	t.lockDockets(ctx, anys(slices.Compact(slices.Sorted(slices.Values(dockets)))))
	var id int64
	if err := one(ctx, t, `SELECT correction FROM entries WHERE docket = $1 AND ordinal = $2`, []any{list[0].id.Docket, int64(list[0].id.Ordinal)}, &id); err != nil || id == 0 {
		return none, err
	}
	there, err := readCorrection(ctx, t, id)
	if err != nil || there.Label != c.Label || there.Author != c.Author || there.Group != c.Group || there.Entries != len(list) {
		return none, err
	}
	err = each(ctx, t, `SELECT docket, ordinal FROM entries WHERE correction = $1 AND `+ofCorrection, []any{id}, func(scan scanner) error {
		var e TrialID
		err := scan(&e.Docket, &e.Ordinal)
		delete(wanted, e)
		return err
	})
	if err != nil || len(wanted) > 0 {
		return none, err
	}
	return there, nil
}

// checkCorrected rejects entries that can't have the label.
func checkCorrected(list []corrected, label string) error {
	if len(list) == 0 {
		return fmt.Errorf("no trials to correct: %w", ErrNotFound)
	}
	if len(list) > maxCorrected {
		return fmt.Errorf("%w: a correction is about at most %d trials", ErrTooLarge, maxCorrected)
	}
	seen := make(map[TrialID]bool, len(list))
	for i := range list {
		e := &list[i]
		switch {
		case e.status == "":
			return fmt.Errorf("trial %s has no result yet: %w", e.id, ErrState)
		case !slices.Contains(e.labels, label):
			return fmt.Errorf("trial %s: %q is %w, which are %s", e.id, text(label, 64), ErrLabel, strings.Join(e.labels, ", "))
		case seen[e.id]:
			return fmt.Errorf("trial %s is named twice: %w", e.id, ErrState)
		}
		seen[e.id] = true
	}
	return nil
}

// ofCorrection is the condition of entries that the correction $1 is about.
const ofCorrection = `(docket, ordinal) IN (SELECT docket, ordinal FROM correction_entries WHERE correction = $1)`

// recorrect changes which correction the entries of one have.
func (t *tx) recorrect(ctx context.Context, id int64, change func() error) error {
	dockets, err := rowsOf(ctx, t, `SELECT DISTINCT docket FROM correction_entries WHERE correction = $1`, []any{id}, value[int64])
	if err != nil {
		return err
	}
	return t.retally(ctx, dockets, `(e.docket, e.ordinal) IN (SELECT docket, ordinal FROM correction_entries WHERE correction = $1)`, []any{id}, change)
}

// Undo takes a correction back. The trials have the latest correction again that is in force, or none, and the casebook is as if
// this one had not been. One that was undone before is ErrState.
func (s *Store) Undo(ctx context.Context, author string, id int64) (Correction, error) {
	var c Correction
	err := s.write(ctx, func(t *tx) (err error) {
		if err := t.checkUndo(ctx, id); err != nil {
			return err
		}
		now := s.now()
		author = text(author, maxName)
		n, err := t.exec(ctx, `UPDATE corrections SET undone = $1, undone_by = $2 WHERE id = $3 AND undone = 0`, now, author, id)
		if err != nil {
			return err
		}
		if c, err = readCorrection(ctx, t, id); err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("correction %d was undone before: %w", id, ErrState)
		}
		if err := t.recorrect(ctx, id, func() error {
			t.run(ctx, `UPDATE entries SET
				correction = coalesce((SELECT max(c.id) FROM correction_entries ce JOIN corrections c ON c.id = ce.correction
					WHERE ce.docket = entries.docket AND ce.ordinal = entries.ordinal AND c.undone = 0), 0)
				WHERE correction = $1 AND `+ofCorrection, id)
			t.run(ctx, `UPDATE entries SET corrected = coalesce((SELECT label FROM corrections c WHERE c.id = entries.correction), '')
				WHERE `+ofCorrection, id)
			return nil
		}); err != nil {
			return err
		}
		if _, err := t.logCasebook(ctx, casebookRevision{Author: author, Created: at(now), Undoes: c.Revision}); err != nil {
			return err
		}
		if err := t.postCorrection(ctx, &c, author, true, now); err != nil {
			return err
		}
		return t.notify(ctx, Event{EventCorrection, id})
	})
	return c, err
}

const correctionColumns = `id, label, author, created, undone, undone_by, grp, entries, revision`

func scanCorrection(scan scanner) (c Correction, err error) {
	err = scan(&c.ID, &c.Label, &c.Author, moment{&c.Created}, moment{&c.Undone}, &c.UndoneBy, &c.Group, &c.Entries, &c.Revision)
	return c, err
}

func readCorrection(ctx context.Context, q querier, id int64) (Correction, error) {
	return rowOf(ctx, q, fmt.Sprintf("correction %d", id), `SELECT `+correctionColumns+` FROM corrections WHERE id = $1`, []any{id}, scanCorrection)
}

// Correction reads one correction.
func (s *Store) Correction(ctx context.Context, id int64) (Correction, error) {
	var w where
	w.add("id = ?", id)
	list, err := s.corrections(ctx, &w, 1)
	return first(fmt.Sprintf("correction %d", id), list, err)
}

// Corrections lists corrections, the latest first, from one on with a smaller id than before (0: all); at most limit, 0 for 100.
func (s *Store) Corrections(ctx context.Context, before int64, limit int) ([]Correction, error) {
	var w where
	w.before(before)
	return s.corrections(ctx, &w, limit)
}

// CorrectionsOf lists the corrections of a trial, the latest first, those included that were undone.
func (s *Store) CorrectionsOf(ctx context.Context, id TrialID) ([]Correction, error) {
	var w where
	w.add("id IN (SELECT correction FROM correction_entries WHERE docket = ? AND ordinal = ?)", id.Docket, int64(id.Ordinal))
	return s.corrections(ctx, &w, 0)
}

func (s *Store) corrections(ctx context.Context, w *where, limit int) ([]Correction, error) {
	w.withinThe(ctx, `EXISTS (SELECT 1 FROM correction_entries ce JOIN dockets d ON d.id = ce.docket WHERE ce.correction = corrections.id AND d.repository IN (`, `))`)
	list, err := rowsOf(ctx, s.db, `SELECT `+correctionColumns+` FROM corrections`+w.text()+` ORDER BY id DESC`+w.limit(limit, 100, 1000), w.args, scanCorrection)
	if err == nil && limitOf(ctx) != nil {
		err = s.countWithin(ctx, list)
	}
	return list, err
}

// countWithin counts the trials of corrections that are within the limit.
func (s *Store) countWithin(ctx context.Context, list []Correction) error {
	for i := range list {
		n, err := countCorrected(ctx, s.db, list[i].ID)
		if err != nil {
			return err
		}
		list[i].Entries = n
	}
	return nil
}

// countCorrected counts the trials that a correction is about, within the limit of the context.
func countCorrected(ctx context.Context, q querier, correction int64) (n int, err error) {
	var w where
	w.add("ce.correction = ?", correction)
	w.within(ctx, "d.repository")
	err = one(ctx, q, `SELECT count(*) FROM correction_entries ce JOIN dockets d ON d.id = ce.docket`+w.text(), w.args, &n)
	return n, err
}

// casebookEntry is a case with the verdict that the casebook learned, by the digest of the case.
type casebookEntry struct {
	Case, Origin, Status, Label string // without a Status only the failure was seen
	Confidence                  float64
	Repository                  string // of the docket
}

// casebookRevision is one step of the casebook: cases that it learned, or a revision that was taken back.
type casebookRevision struct {
	Revision int64
	Undoes   int64
	Suites   []string
	// Repository is that of the suites.
	Repository string
	Author     string
	Created    time.Time
	entries    []casebookEntry
}

// logCasebook adds a revision. Revisions are numbered without gaps, in the order in which they are committed.
func (t *tx) logCasebook(ctx context.Context, r casebookRevision) (int64, error) {
	// The row of the counter is locked until the transaction ends.
	if err := one(ctx, t, `UPDATE counters SET value = value + 1 WHERE name = 'casebook' RETURNING value`, nil, &r.Revision); err != nil {
		return 0, err
	}
	if _, err := t.exec(ctx, `INSERT INTO casebook_log (revision, undoes, suites, author, created, repository) VALUES ($1, $2, $3, $4, $5, $6)`,
		r.Revision, r.Undoes, list(r.Suites), r.Author, micros(r.Created), r.Repository); err != nil {
		return 0, err
	}
	in := inserter{head: `INSERT INTO casebook_entries (revision, place, case_digest, origin, status, label, confidence, repository) VALUES `}
	for i, e := range r.entries {
		in.add(ctx, t, r.Revision, int64(i), e.Case, e.Origin, e.Status, e.Label, e.Confidence, e.Repository)
	}
	in.flush(ctx, t)
	return r.Revision, t.err
}

// Learned is a case that the casebook learned.
type Learned struct {
	Case abi.Case
	// Origin, Status, Label and Confidence are those of a casebook.Verdict. Without a Status only the failure was seen.
	Origin, Status, Label string
	Confidence            float64
}

// CasebookLog gives the revisions that are in force at one for the dockets of a repository, in their order: those that learned something
// of it and were not taken back until then.
func (s *Store) CasebookLog(ctx context.Context, revision int64, repository string) ([]int64, error) {
	var latest int64
	var list []int64
	err := s.db.snapshot(ctx, func(q querier) (err error) {
		if err := one(ctx, q, `SELECT value FROM counters WHERE name = 'casebook'`, nil, &latest); err != nil {
			return err
		}
		list, err = rowsOf(ctx, q, `SELECT revision FROM casebook_log l WHERE revision <= $1 AND undoes = 0
			AND NOT EXISTS (SELECT 1 FROM casebook_log u WHERE u.undoes = l.revision AND u.revision <= $1)
			AND (suites <> '' AND repository = $2 OR EXISTS (SELECT 1 FROM casebook_entries e WHERE e.revision = l.revision AND e.repository = $2))
			ORDER BY revision`, []any{revision, repository}, value[int64])
		return err
	})
	if err == nil && revision > latest {
		err = fmt.Errorf("revision %d of the casebook: %w", revision, ErrNotFound)
	}
	return list, err
}

// CasebookRun gives what one revision learned of a repository: the suites in which nothing failed, the cases, and when.
func (s *Store) CasebookRun(ctx context.Context, revision int64, repository string) (suites []string, learned []Learned, created time.Time, err error) {
	err = s.db.snapshot(ctx, func(q querier) error {
		var of string
		if err := one(ctx, q, `SELECT suites, created, repository FROM casebook_log WHERE revision = $1`, []any{revision}, encoded{&suites}, moment{&created}, &of); err != nil {
			return err
		}
		if of != repository {
			suites = nil
		}
		var digests []string
		if learned, err = rowsOf(ctx, q, `SELECT case_digest, origin, status, label, confidence FROM casebook_entries WHERE revision = $1 AND repository = $2 ORDER BY place`,
			[]any{revision, repository}, func(scan scanner) (l Learned, err error) {
				var digest string
				err = scan(&digest, &l.Origin, &l.Status, &l.Label, &l.Confidence)
				digests = append(digests, digest)
				return l, err
			}); err != nil {
			return err
		}
		cases, err := readCases(ctx, q, digests)
		for i, digest := range digests {
			if err == nil {
				learned[i].Case, err = cases.get(digest)
			}
		}
		return err
	})
	return suites, learned, created, err
}
