package casebook

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxNameBytes = 1 << 10
	maxBodyBytes = 32 << 10
)

// Verdict is what was finally decided of a case. Status is the final status of a result (accepted, affirmed, amended,
// rejected, acquitted, mistrial, unreviewed); Classification is empty where there is none.
type Verdict struct {
	Status         string
	Classification string
	Confidence     float64 // in [0, 1]
}

// Entry is a case to remember.
type Entry struct {
	CaseID  string
	Group   string // cases that belong together; optional
	Failure Failure
	Verdict Verdict
}

// Remember adds cases, all of them or none, and says how many were new. A case that was remembered with the same
// fingerprint, status and classification stays as it is: remembering the same docket again changes nothing. Names may
// have up to a kibibyte, and of the text 32 KiB are kept. Errors: ErrEntry, ErrBusy, ErrCorrupt.
func (b *Book) Remember(ctx context.Context, entries []Entry) (added int, err error) {
	rows := make([]row, 0, len(entries))
	for i, entry := range entries {
		r, err := rowOf(entry)
		if err != nil {
			return 0, fmt.Errorf("casebook %s: entry %d: %w", b.path, i, err)
		}
		rows = append(rows, r)
	}
	// Of two that say the same in one call the surer one stays, whatever their order is.
	slices.SortStableFunc(rows, func(x, y row) int { return cmp.Compare(y.confidence, x.confidence) })
	err = b.insertAll(ctx, rows, &added)
	if err != nil {
		return 0, explain("remember", b.path, err)
	}
	return added, nil
}

type row struct {
	caseID, group, subject, body string
	status, classification       string
	confidence                   float64
	looks                        Fingerprint
}

func rowOf(e Entry) (row, error) {
	v := e.Verdict
	if e.CaseID == "" {
		return row{}, fmt.Errorf("%w: it has no case ID", ErrEntry)
	}
	for _, name := range []string{e.CaseID, e.Group, v.Status, v.Classification} {
		if len(name) > maxNameBytes || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
			return row{}, fmt.Errorf("%w: a name is longer than %d bytes, or no text", ErrEntry, maxNameBytes)
		}
	}
	if v.Status == "" {
		return row{}, fmt.Errorf("%w: it has no status", ErrEntry)
	}
	if !(v.Confidence >= 0 && v.Confidence <= 1) {
		return row{}, fmt.Errorf("%w: confidence %v is outside [0, 1]", ErrEntry, v.Confidence)
	}
	return row{
		caseID: e.CaseID, group: e.Group, subject: cut(normalName(e.Failure.Subject), maxNameBytes),
		status: v.Status, classification: v.Classification, confidence: v.Confidence + 0, // no -0
		body: bodyOf(e.Failure.Texts), looks: Take(e.Failure),
	}, nil
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

func (b *Book) insertAll(ctx context.Context, rows []row, added *int) (err error) {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer rollback(tx, &err)
	now := b.now().Unix()
	for _, r := range rows {
		isNew, err := r.insert(ctx, tx, now)
		if err != nil {
			return err
		}
		if isNew {
			*added++
		}
	}
	return tx.Commit()
}

func (r row) insert(ctx context.Context, tx *sql.Tx, now int64) (isNew bool, err error) {
	result, err := tx.ExecContext(ctx, `INSERT INTO cases
		(case_id, exact, loose, sketch, grp, subject, status, classification, confidence, remembered, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (case_id, exact, status, classification) DO NOTHING`,
		r.caseID, r.looks.Exact, r.looks.Loose, r.looks.Sketch.bytes(), r.group, r.subject, r.status, r.classification,
		r.confidence, now, r.body)
	if err != nil {
		return false, err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO words (rowid, subject, body) VALUES (?, ?, ?)`, id, r.subject, r.body); err != nil {
		return false, err
	}
	for _, key := range r.looks.Sketch.keys() {
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO found_by (band, id) VALUES (?, ?)`, key, id); err != nil {
			return false, err
		}
	}
	return true, nil
}
