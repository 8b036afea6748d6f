package store

import (
	"context"
	"fmt"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
)

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
