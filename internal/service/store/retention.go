package store

import (
	"context"
	"time"
)

// Keep says what retention leaves. Zero fields keep everything.
type Keep struct {
	// Age is how long dockets are kept after they ended.
	Age time.Duration
	// Bytes is the most that cases, documents, trials and records may have, compressed. Dockets that ended in the last 24 hours stay
	// nevertheless: what is only theirs can't be removed yet.
	Bytes int64
}

// Removed counts what retention took away.
type Removed struct {
	Dockets, Entries, Verdicts, Cases, Documents, Records int64
}

const (
	// retainRows is how many rows one transaction removes: others wait for it on SQLite.
	retainRows = 500
	// unusedAge is how long a case or a document stays that nothing refers to: an upload that goes on may need it.
	unusedAge = 24 * time.Hour
)

// Retain removes what need not be kept: the oldest dockets that have ended, with their trials, and then the cases and documents
// that nothing else has. Entries with a correction stay, and what the casebook learned. Signed records go last: by age with their
// dockets, and for want of room only when no docket is left that could go.
func (s *Store) Retain(ctx context.Context, keep Keep) (Removed, error) {
	r := retention{store: s}
	all := func() (bool, error) { return true, nil }
	if keep.Age > 0 {
		cut := s.now() - keep.Age.Microseconds()
		if err := r.dockets(ctx, cut, all); err != nil {
			return r.removed, err
		}
		if err := r.rest(ctx, cut); err != nil {
			return r.removed, err
		}
		if err := r.records(ctx, cut, all); err != nil {
			return r.removed, err
		}
	}
	if keep.Bytes <= 0 {
		return r.removed, r.rest(ctx, s.now())
	}
	full := func() (bool, error) {
		if err := r.rest(ctx, s.now()); err != nil {
			return false, err
		}
		bytes, err := s.Bytes(ctx)
		return bytes > keep.Bytes, err
	}
	// Without its cases the removal of a docket gives no room, and the next one would follow it for nothing.
	if err := r.dockets(ctx, s.now()-unusedAge.Microseconds(), full); err != nil {
		return r.removed, err
	}
	return r.removed, r.records(ctx, s.now(), full)
}

// Bytes is what cases, documents, trials and records have, compressed.
func (s *Store) Bytes(ctx context.Context) (n int64, err error) {
	err = one(ctx, s.db, `SELECT CAST(
		coalesce((SELECT sum(length(body)) FROM documents), 0) + coalesce((SELECT sum(length(body)) FROM cases), 0) +
		coalesce((SELECT sum(length(body)) FROM records), 0) + coalesce((SELECT sum(length(result) + length(story)) FROM verdicts), 0) AS BIGINT)`, nil, &n)
	return n, err
}

type retention struct {
	store   *Store
	removed Removed
}

// dockets removes those that ended before a moment, the oldest first, as long as more says so.
func (r *retention) dockets(ctx context.Context, cut int64, more func() (bool, error)) error {
	for {
		if goOn, err := more(); err != nil || !goOn {
			return err
		}
		var id int64
		err := one(ctx, r.store.db, `SELECT id FROM dockets WHERE state IN ('done', 'failed', 'cancelled') AND finished < $1
			AND EXISTS (SELECT 1 FROM entries e WHERE e.docket = dockets.id AND e.correction = 0) ORDER BY finished, id LIMIT 1`, []any{cut}, &id)
		if isNotFound(err) {
			_, err = r.some(ctx, &r.removed.Dockets, `DELETE FROM dockets WHERE state IN ('done', 'failed', 'cancelled') AND finished < $1
				AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.docket = dockets.id)`, cut) // those that never had a case
			return err
		}
		if err != nil {
			return err
		}
		if err := r.docket(ctx, id); err != nil {
			return err
		}
	}
}

// docket removes the entries of one, and the docket itself unless a correction is about it.
func (r *retention) docket(ctx context.Context, id int64) error {
	for {
		var n int64
		if err := r.store.db.write(ctx, func(t *tx) (err error) {
			var last int64 // a condition that selects nothing when they are removed: their counts are read before and behind that
			if err := one(ctx, t, `SELECT coalesce(max(ordinal), 0) FROM
				(SELECT ordinal FROM entries WHERE docket = $1 AND correction = 0 ORDER BY ordinal LIMIT $2) oldest`, []any{id, int64(retainRows)}, &last); err != nil {
				return err
			}
			return t.retally(ctx, []int64{id}, `e.docket = $1 AND e.ordinal <= $2 AND e.correction = 0`, []any{id, last}, func() error {
				n, err = t.exec(ctx, `DELETE FROM entries WHERE docket = $1 AND ordinal <= $2 AND correction = 0`, id, last)
				return err
			})
		}); err != nil {
			return err
		}
		r.removed.Entries += n
		if n < retainRows {
			break
		}
	}
	return r.store.db.write(ctx, func(t *tx) error {
		t.run(ctx, `DELETE FROM entry_members WHERE docket = $1
			AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.docket = entry_members.docket AND e.ordinal = entry_members.ordinal)`, id)
		n, err := t.exec(ctx, `DELETE FROM dockets WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.docket = dockets.id)`, id)
		r.removed.Dockets += n
		if err != nil {
			return err
		}
		return t.notify(ctx, Event{EventDocket, id})
	})
}

// rest removes verdicts of before a moment that no entry has, and then cases and documents that nothing has. Their rows are
// compared again when they are removed: an upload touches what it needs.
func (r *retention) rest(ctx context.Context, cut int64) error {
	unused := r.store.now() - unusedAge.Microseconds()
	for _, step := range []struct {
		count *int64
		query string
		args  []any
	}{
		{&r.removed.Verdicts, `DELETE FROM verdicts WHERE key IN (SELECT key FROM verdicts v WHERE v.created < $1 AND NOT EXISTS
			(SELECT 1 FROM entries e WHERE e.case_digest = v.case_digest AND e.verdict = v.key) LIMIT 500)`, []any{min(cut, unused)}},
		{&r.removed.Cases, `DELETE FROM cases WHERE touched < $1 AND digest IN (SELECT digest FROM cases c WHERE c.touched < $1
			AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.case_digest = c.digest)
			AND NOT EXISTS (SELECT 1 FROM entry_members m WHERE m.case_digest = c.digest)
			AND NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.case_digest = c.digest)
			AND NOT EXISTS (SELECT 1 FROM casebook_entries b WHERE b.case_digest = c.digest) LIMIT 500)`, []any{unused}},
		{new(int64), `DELETE FROM case_documents WHERE case_digest IN (SELECT case_digest FROM case_documents d
			WHERE NOT EXISTS (SELECT 1 FROM cases c WHERE c.digest = d.case_digest) LIMIT 500)`, nil},
		{&r.removed.Documents, `DELETE FROM documents WHERE touched < $1 AND digest IN (SELECT digest FROM documents d WHERE d.touched < $1
			AND NOT EXISTS (SELECT 1 FROM case_documents c WHERE c.document = d.digest) LIMIT 500)`, []any{unused}},
	} {
		for {
			if n, err := r.some(ctx, step.count, step.query, step.args...); err != nil {
				return err
			} else if n == 0 {
				break
			}
		}
	}
	return nil
}

// some runs a statement that removes some rows, and counts them.
func (r *retention) some(ctx context.Context, count *int64, query string, args ...any) (n int64, err error) {
	err = r.store.db.write(ctx, func(t *tx) error {
		n, err = t.exec(ctx, query, args...)
		return err
	})
	if err == nil {
		*count += n
	}
	return n, err
}

// records removes those of before a moment that no verdict names, the oldest first, as long as more says so.
func (r *retention) records(ctx context.Context, cut int64, more func() (bool, error)) error {
	for {
		if goOn, err := more(); err != nil || !goOn {
			return err
		}
		n, err := r.some(ctx, &r.removed.Records, `DELETE FROM records WHERE id IN (SELECT r.id FROM records r
			WHERE r.created < $1 AND NOT EXISTS (SELECT 1 FROM verdicts v WHERE v.record = r.id) ORDER BY r.id LIMIT 100)`, cut)
		if err != nil || n == 0 {
			return err
		}
	}
}
