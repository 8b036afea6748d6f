package casebook

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxNameBytes = 1 << 10
	maxBodyBytes = 32 << 10
)

// Origin says how a verdict came about.
type Origin string

// The origins.
const (
	// Decided: by the machine, Light or the court, from the case itself.
	Decided Origin = "decided"
	// Confirmed: somebody knows what is right.
	Confirmed Origin = "confirmed"
)

// Verdict is what was finally decided of a case. Status is the final status of a result (accepted, affirmed, amended,
// rejected, acquitted, unreviewed), or any other word where it is confirmed; Classification is empty where there is none.
type Verdict struct {
	Origin         Origin // Decided if it is empty
	Status         string
	Classification string
	Confidence     float64 // of the trial, in [0, 1]
}

// Entry is a case to remember.
type Entry struct {
	CaseID  string
	Group   string // the suite that it belongs to; optional
	Failure Failure
	// Verdict is nil where nothing was decided: the failure was seen, and that is all that is kept.
	Verdict *Verdict
}

// Run is what was seen in one run of some suites.
type Run struct {
	// Suites that were run beside those of the entries: those in which nothing failed.
	Suites  []string
	Entries []Entry
}

// Remember adds a run, all of it or nothing, and says how many verdicts were new. Runs are numbered in the order in which
// they are remembered. A run with the same cases, in the same words, as the latest one of its suites is that one: only
// verdicts that it did not have are added.
//
// A verdict that was remembered of the same case with the same fingerprint, origin, status and classification stays as it
// is, and counts as a late one. One that a machine decided is kept with at most the confidence of the earlier ones on the
// same fingerprint with the same classification: it rests on the same text, and may rest on them.
//
// Names may have up to a kibibyte, and of the text 32 KiB are kept. Errors: ErrEntry, ErrBusy, ErrDisk, ErrCorrupt.
func (b *Book) Remember(ctx context.Context, run Run) (added int, err error) {
	rows := make([]row, 0, len(run.Entries))
	suites := make([]string, 0, len(run.Suites))
	for _, suite := range run.Suites {
		if !isName(suite) {
			return 0, fmt.Errorf("casebook %s: %w", b.path, errName)
		}
		suites = append(suites, suite)
	}
	for i := range run.Entries {
		r, err := rowOf(&run.Entries[i])
		if err != nil {
			return 0, fmt.Errorf("casebook %s: entry %d: %w", b.path, i, err)
		}
		rows = append(rows, r)
		suites = append(suites, r.group)
	}
	slices.Sort(suites)
	suites = slices.DeleteFunc(slices.Compact(suites), func(suite string) bool { return suite == "" })
	// Of two that say the same in one call the surer one stays, whatever their order is.
	slices.SortStableFunc(rows, func(x, y row) int { return cmp.Compare(y.confidence, x.confidence) })
	err = b.insertAll(ctx, keyOf(suites, run.Entries), suites, rows, &added)
	if err != nil {
		return 0, explain("remember", b.path, err)
	}
	return added, nil
}

var errName = fmt.Errorf("%w: a name is longer than %d bytes, or no text", ErrEntry, maxNameBytes)

func isName(name string) bool {
	return len(name) <= maxNameBytes && utf8.ValidString(name) && !strings.ContainsRune(name, 0)
}

// keyOf tells runs apart by what was seen, whatever was decided of it.
func keyOf(suites []string, entries []Entry) string {
	cases := make([]string, len(entries))
	for i := range entries {
		e := &entries[i]
		cases[i] = digestOf("case", []string{e.CaseID, e.Group, e.Failure.Subject, e.Failure.Test}, e.Failure.Texts)
	}
	slices.Sort(cases)
	return digestOf("run", suites, cases)
}

type row struct {
	caseID, group, subject, body string
	decided                      bool // there is a verdict
	origin                       Origin
	status, classification       string
	confidence                   float64
	looks                        Fingerprint
}

func rowOf(e *Entry) (row, error) {
	if e.CaseID == "" {
		return row{}, fmt.Errorf("%w: it has no case ID", ErrEntry)
	}
	if !isName(e.CaseID) || !isName(e.Group) {
		return row{}, errName
	}
	r := row{caseID: e.CaseID, group: e.Group, looks: Take(e.Failure)}
	if e.Verdict == nil {
		return r, nil
	}
	v := *e.Verdict
	v.Origin = cmp.Or(v.Origin, Decided)
	switch {
	case !isName(v.Status) || !isName(v.Classification):
		return row{}, errName
	case v.Status == "":
		return row{}, fmt.Errorf("%w: it has no status", ErrEntry)
	case v.Origin != Decided && v.Origin != Confirmed:
		return row{}, fmt.Errorf("%w: origin %q", ErrEntry, v.Origin)
	case !(v.Confidence >= 0 && v.Confidence <= 1):
		return row{}, fmt.Errorf("%w: confidence %v is outside [0, 1]", ErrEntry, v.Confidence)
	}
	r.decided, r.origin, r.status, r.classification = true, v.Origin, v.Status, v.Classification
	r.confidence = v.Confidence + 0 // no -0
	r.subject, r.body = cut(normalName(e.Failure.Subject), maxNameBytes), bodyOf(e.Failure.Texts)
	return r, nil
}

// bodyOf is what of the texts can be searched: their distinct normal lines.
func bodyOf(texts []string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, text := range texts {
		for _, line := range normalLines(text) {
			if seen[line] || b.Len()+len(line) > maxBodyBytes {
				continue
			}
			seen[line] = true
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return strings.ReplaceAll(b.String(), "\x00", "")
}

func cut(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return strings.ReplaceAll(s, "\x00", "")
}

func (b *Book) insertAll(ctx context.Context, key string, suites []string, rows []row, added *int) (err error) {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer rollback(tx, &err)
	run, err := runOf(ctx, tx, key, suites)
	if err != nil {
		return err
	}
	at := moment{run: run, time: b.now().Unix()}
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(turn), 0) + 1 FROM cases`).Scan(&at.turn); err != nil {
		return err
	}
	for i := range rows {
		isNew, err := rows[i].insert(ctx, tx, at)
		if err != nil {
			return err
		}
		if isNew {
			*added++
		}
	}
	return tx.Commit()
}

// moment is when something is remembered.
type moment struct {
	run, turn int64
	time      int64 // in seconds since 1970
}

// runOf is the number of a run: a new one, unless it is the latest of its suites again.
func runOf(ctx context.Context, tx *sql.Tx, key string, suites []string) (run int64, err error) {
	var later bool
	err = tx.QueryRowContext(ctx, `SELECT seq, EXISTS (SELECT 1 FROM suites a JOIN suites b ON b.suite = a.suite
		WHERE a.run = seq AND b.run > seq) FROM runs WHERE key = ? ORDER BY seq DESC LIMIT 1`, key).Scan(&run, &later)
	if err == nil && !later {
		return run, nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	result, err := tx.ExecContext(ctx, `INSERT INTO runs (key) VALUES (?)`, key)
	if err != nil {
		return 0, err
	}
	if run, err = result.LastInsertId(); err != nil {
		return 0, err
	}
	for _, suite := range suites {
		if _, err := tx.ExecContext(ctx, `INSERT INTO suites (suite, run) VALUES (?, ?)`, suite, run); err != nil {
			return 0, err
		}
	}
	return run, nil
}

func (r *row) insert(ctx context.Context, tx *sql.Tx, at moment) (isNew bool, err error) {
	if r.looks.Exact != "" {
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO sightings (exact, run, case_id) VALUES (?, ?, ?)`,
			r.looks.Exact, at.run, r.caseID); err != nil {
			return false, err
		}
	}
	if !r.decided {
		return false, nil
	}
	var id int64
	var overruled bool // by a later turn
	err = tx.QueryRowContext(ctx, `SELECT id, EXISTS (SELECT 1 FROM cases d
		WHERE d.case_id = c.case_id AND d.exact = c.exact AND d.turn > c.turn) FROM cases c
		WHERE case_id = ? AND exact = ? AND origin = ? AND status = ? AND classification = ?`,
		r.caseID, r.looks.Exact, r.origin, r.status, r.classification).Scan(&id, &overruled)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return true, r.insertNew(ctx, tx, at)
	case err == nil && overruled:
		_, err = tx.ExecContext(ctx, `UPDATE cases SET turn = ? WHERE id = ?`, at.turn, id)
	}
	return false, err
}

func (r *row) insertNew(ctx context.Context, tx *sql.Tx, at moment) error {
	confidence := r.confidence
	if r.origin == Decided && r.looks.Exact != "" {
		var before sql.NullFloat64
		if err := tx.QueryRowContext(ctx, `SELECT min(confidence) FROM cases
			WHERE exact = ? AND classification = ? AND origin = 'decided' AND first_run < ?`,
			r.looks.Exact, r.classification, at.run).Scan(&before); err != nil {
			return err
		}
		if before.Valid {
			confidence = min(confidence, before.Float64)
		}
	}
	result, err := tx.ExecContext(ctx, `INSERT INTO cases
		(case_id, exact, grp, subject, origin, status, classification, confidence, first_run, turn,
			remembered, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.caseID, r.looks.Exact, r.group, r.subject, r.origin, r.status,
		r.classification, confidence, at.run, at.turn, at.time, r.body)
	if err != nil {
		return err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO words (rowid, subject, body) VALUES (?, ?, ?)`, id, r.subject, r.body)
	return err
}
