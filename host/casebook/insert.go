package casebook

import (
	"context"
	"database/sql"
	"errors"
)

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
		(case_id, exact, loose, sketch, grp, subject, origin, status, classification, confidence, first_run, turn,
			remembered, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.caseID, r.looks.Exact, r.looks.Loose, r.looks.Sketch.bytes(), r.group, r.subject, r.origin, r.status,
		r.classification, confidence, at.run, at.turn, at.time, r.body)
	if err != nil {
		return err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO words (rowid, subject, body) VALUES (?, ?, ?)`, id, r.subject, r.body); err != nil {
		return err
	}
	for _, key := range r.looks.Sketch.keys() {
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO found_by (band, id) VALUES (?, ?)`, key, id); err != nil {
			return err
		}
	}
	return nil
}
