package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/input"
)

// Submission is what a docket is submitted with.
type Submission struct {
	Submitter                  string
	Name, Repository, Revision string
	Format                     string
	// Answered: Light's answers come with the cases, and no Light path of the service is asked.
	Answered bool
	// Key is the idempotency key of the submitter: with the same key and body there is one docket. Optional.
	Key string
	// Generation pins the docket; 0 doesn't. One that is not there is ErrNotFound.
	Generation int64
	// Remember adds the verdicts to the casebook when all cases are tried.
	Remember bool
	// Traceparent is the span of the submission in the form of that header. Optional.
	Traceparent string
}

// Limits of a submission.
const (
	// MaxEntries is the most entries of a docket.
	MaxEntries = 100_000
	// maxMembers is the most cases that one entry stands for.
	maxMembers = 100_000
	// chunkEntries and chunkBytes bound one transaction of an upload.
	chunkEntries = 500
	chunkBytes   = 16 << 20
)

// Upload receives the entries of a docket. Nobody sees the docket before [Upload.Finish]. Not safe for concurrent use. Call
// [Upload.Abort] in any case.
type Upload struct {
	store    *Store
	sent     Submission
	id       int64
	created  int64
	ordinal  int
	faults   int
	waiting  []row
	bytes    int
	finished bool
	sizes    []int32 // of the entries that can be tried, in their order: for batches; -1 for a fault
}

// row is an entry that is to be inserted.
type row struct {
	ordinal int
	entry   docket.Entry
	cases   []storedCase // the case, and its members
	fault   string
}

// Submit begins an upload.
func (s *Store) Submit(ctx context.Context, sent Submission) (*Upload, error) {
	for _, field := range []*string{&sent.Submitter, &sent.Name, &sent.Repository, &sent.Revision, &sent.Format, &sent.Key, &sent.Traceparent} {
		*field = text(*field, maxName)
	}
	u := &Upload{store: s, sent: sent, created: s.now()}
	err := s.write(ctx, func(t *tx) error {
		if sent.Generation != 0 {
			if _, err := readGeneration(ctx, t, sent.Generation); err != nil {
				return err
			}
		}
		return one(ctx, t, `INSERT INTO dockets (submitter, name, repository, revision, format, body_digest, generation, casebook, remember,
			suites, state, cases, tried, faults, created, finished, touched, traceparent, answered)
			VALUES ($1, $2, $3, $4, $5, '', $6, 0, $7, '', 'receiving', 0, 0, 0, $8, 0, $8, $9, $10) RETURNING id`,
			[]any{
				sent.Submitter, sent.Name, sent.Repository, sent.Revision, sent.Format, sent.Generation, number(sent.Remember), u.created, sent.Traceparent,
				number(sent.Answered),
			}, &u.id)
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

// Add adds the next entry of the docket; with a fault, one that could not be read. ErrTooLarge says that the docket or the case
// has more than a store takes.
func (u *Upload) Add(ctx context.Context, entry *docket.Entry, fault error) error {
	if u.ordinal >= MaxEntries {
		return fmt.Errorf("%w: a docket has at most %d cases", ErrTooLarge, MaxEntries)
	}
	u.ordinal++
	r := row{ordinal: u.ordinal, entry: docket.Entry{Source: entry.Source, Line: entry.Line}}
	if fault != nil {
		u.faults++
		r.fault = text(fault.Error(), maxText)
		u.sizes = append(u.sizes, -1)
	} else {
		if len(entry.Members) > maxMembers {
			return fmt.Errorf("%w: case %q stands for %d cases, and %d are allowed", ErrTooLarge, entry.Case.ID, len(entry.Members), maxMembers)
		}
		r.entry = *entry
		size := int64(0)
		for i := range len(entry.Members) + 1 {
			c := &entry.Case
			if i > 0 {
				c = &entry.Members[i-1]
			}
			stored, err := splitCase(c)
			if err != nil {
				return fmt.Errorf("case %q: %w", c.ID, err)
			}
			r.cases = append(r.cases, stored)
			size += stored.size
		}
		u.bytes += int(size)
		u.sizes = append(u.sizes, int32(r.cases[0].size))
	}
	u.waiting = append(u.waiting, r)
	if len(u.waiting) < chunkEntries && u.bytes < chunkBytes {
		return nil
	}
	return u.flush(ctx)
}

// flush inserts what waits.
func (u *Upload) flush(ctx context.Context) error {
	if len(u.waiting) == 0 {
		return nil
	}
	rows := make([][]any, len(u.waiting))
	var cases []storedCase
	for i := range u.waiting {
		rows[i] = u.columns(&u.waiting[i])
		cases = append(cases, u.waiting[i].cases...)
	}
	now := u.store.now()
	err := u.store.write(ctx, func(t *tx) error {
		n, err := t.exec(ctx, `UPDATE dockets SET touched = $1 WHERE id = $2 AND state = 'receiving'`, now, u.id)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("the upload was given up after a pause: %w", ErrState)
		}
		if err := t.insertCases(ctx, cases, now); err != nil {
			return err
		}
		in := inserter{head: `INSERT INTO entries (docket, ordinal, case_digest, members, truth, label_names, source, line,
			case_id, subject, suite, labels, member_count, grp, words, repository, created, fault,
			verdict, generation, status, label, confidence, light_label, light_confidence, beside_status, beside_label, doubt, tried,
			correction, corrected) VALUES `}
		for _, r := range rows {
			if err := in.add(ctx, t, r...); err != nil {
				return err
			}
		}
		if err := in.flush(ctx, t); err != nil {
			return err
		}
		return u.insertMembers(ctx, t)
	})
	if err != nil {
		return err
	}
	clear(u.waiting)
	u.waiting, u.bytes = u.waiting[:0], 0
	return nil
}

// insertMembers says which further cases the entries stand for.
func (u *Upload) insertMembers(ctx context.Context, t *tx) error {
	in := inserter{head: `INSERT INTO entry_members (case_digest, docket, ordinal) VALUES `, tail: ` ON CONFLICT DO NOTHING`}
	for i := range u.waiting {
		r := &u.waiting[i]
		for _, m := range r.cases[min(1, len(r.cases)):] {
			if err := in.add(ctx, t, m.digest, u.id, int64(r.ordinal)); err != nil {
				return err
			}
		}
	}
	return in.flush(ctx, t)
}

// columns are those of an entry that has no trial yet.
func (u *Upload) columns(r *row) []any {
	digest, members, truth, names, labels, grp := "", "", "", "", "", ""
	c := &r.entry.Case
	if r.fault == "" {
		digest = r.cases[0].digest
		var more []string
		for _, m := range r.cases[1:] {
			more = append(more, m.digest)
		}
		members, labels, grp = list(more), list(c.Labels), u.group(c, digest)
		if r.entry.Truth != nil {
			truth = object(r.entry.Truth)
		}
		if len(r.entry.LabelNames) > 0 {
			names = object(r.entry.LabelNames)
		}
	}
	words := strings.ToLower(text(c.ID+" "+c.Subject+" "+c.Group+" "+u.sent.Name, maxText))
	return []any{
		u.id, int64(r.ordinal), digest, members, truth, names, text(r.entry.Source, maxName), int64(r.entry.Line),
		text(c.ID, maxName), text(c.Subject, maxName), text(c.Group, maxName), labels, int64(len(r.entry.Members)), grp, words,
		u.sent.Repository, u.created, r.fault,
		"", int64(0), "", "", float64(0), "", float64(0), "", "", float64(0), int64(0), int64(0), "",
	}
}

// group is equal for failures of one kind, those that the rules put together or that have the same fingerprint, with the same labels: what is
// right of one is an answer to all.
func (u *Upload) group(c *abi.Case, digest string) string {
	kind := input.GroupKey(c)
	if kind == "" {
		f := casebook.Failure{Subject: c.Subject}
		for i := range c.Documents {
			f.Texts = append(f.Texts, c.Documents[i].Text)
		}
		kind = casebook.Take(f).Exact
	}
	if kind == "" {
		return digest
	}
	return digestOf([]byte(list(slices.Sorted(slices.Values(c.Labels))) + kind))
}

// Finish makes the docket visible and queues its cases. bodyDigest is the hexadecimal SHA-256 of what was sent, suites are those
// in which nothing failed, for Submission.Remember. If there is a docket with the same key and body already, that is given, with
// created false; with the same key and another body the error is ErrKeyReused.
func (u *Upload) Finish(ctx context.Context, bodyDigest string, suites []string) (d Docket, created bool, err error) {
	if err := u.flush(ctx); err != nil {
		return Docket{}, false, err
	}
	if d, err := u.store.byKey(ctx, u.sent.Submitter, u.sent.Key, bodyDigest); !isNotFound(err) {
		return d, false, err
	}
	err = u.store.write(ctx, func(t *tx) error {
		if err := u.queue(ctx, t, bodyDigest, suites); err != nil {
			return err
		}
		d, err = readDocket(ctx, t, u.id)
		return err
	})
	if err != nil && u.sent.Key != "" {
		// Another upload with this key may have come first.
		if d, byKey := u.store.byKey(ctx, u.sent.Submitter, u.sent.Key, bodyDigest); !isNotFound(byKey) {
			return d, false, byKey
		}
	}
	if err != nil {
		return Docket{}, false, err
	}
	u.finished = true
	return d, true, nil
}

// byKey gives the docket with an idempotency key; ErrNotFound for none, ErrKeyReused for another body.
func (s *Store) byKey(ctx context.Context, submitter, key, bodyDigest string) (Docket, error) {
	if key == "" {
		return Docket{}, ErrNotFound
	}
	var id int64
	if err := one(ctx, s.db, `SELECT id FROM dockets WHERE submitter = $1 AND idempotency_key = $2`, []any{submitter, key}, &id); err != nil {
		return Docket{}, err
	}
	d, err := readDocket(WithoutLimit(ctx), s.db, id) // the digest is also that of the repository
	if err == nil && d.BodyDigest != bodyDigest {
		return Docket{}, fmt.Errorf("docket %d: %w", id, ErrKeyReused)
	}
	return d, err
}

// queue turns the upload into a docket with batches.
func (u *Upload) queue(ctx context.Context, t *tx, bodyDigest string, suites []string) error {
	var key any // NULL for none: unique indexes leave it alone
	if u.sent.Key != "" {
		key = u.sent.Key
	}
	now := u.store.now()
	batches := batchesOf(u.sizes)
	state, finished := Queued, int64(0)
	if len(batches) == 0 {
		state, finished = Done, now
	}
	n, err := t.exec(ctx, `UPDATE dockets SET idempotency_key = $1, body_digest = $2, suites = $3, state = $4, cases = $5, faults = $6,
		casebook = (SELECT value FROM counters WHERE name = 'casebook'), finished = $7, touched = $8 WHERE id = $9 AND state = 'receiving'`,
		key, bodyDigest, list(suites), string(state), int64(u.ordinal), int64(u.faults), finished, now, u.id)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("the upload was given up after a pause: %w", ErrState)
	}
	if err := t.insertBatches(ctx, u.id, u.sent.Submitter, batches); err != nil {
		return err
	}
	return t.notify(ctx, Event{EventDocket, u.id})
}

// Abort removes an upload that did not come to its end. After Finish has made the docket, it does nothing.
func (u *Upload) Abort(ctx context.Context) error {
	if u.finished {
		return nil
	}
	u.finished = true
	return u.store.removeUpload(ctx, u.id)
}

func (s *Store) removeUpload(ctx context.Context, id int64) error {
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(ctx, `DELETE FROM dockets WHERE id = $1 AND state = 'receiving'`, id)
		if err == nil && n > 0 {
			_, err = t.exec(ctx, `DELETE FROM entries WHERE docket = $1`, id)
		}
		if err == nil && n > 0 {
			_, err = t.exec(ctx, `DELETE FROM entry_members WHERE docket = $1`, id)
		}
		return err
	})
}

// RemoveStaleUploads removes uploads of which nothing came for some time: their processes are gone. Their cases go with the
// next retention.
func (s *Store) RemoveStaleUploads(ctx context.Context, after time.Duration) error {
	var ids []int64
	err := each(ctx, s.db, `SELECT id FROM dockets WHERE state = 'receiving' AND touched < $1`, []any{s.now() - after.Microseconds()},
		func(scan func(...any) error) error {
			var id int64
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	for _, id := range ids {
		err = errors.Join(err, s.removeUpload(ctx, id))
	}
	return err
}

// span is a batch: entries from first to last.
type span struct{ first, last int }

// The bounds of a batch: entries that take about a second, and bytes that a worker holds at once.
const (
	maxBatch   = 32
	minBatch   = 4
	batchBytes = 16 << 20
	// batchesEach is how many batches a docket has at least, if it has enough cases: so that several workers share a small one.
	batchesEach = 16
)

// batchesOf cuts a docket into batches. sizes are those of its entries in bytes, -1 for one that can't be tried.
func batchesOf(sizes []int32) []span {
	count := 0
	for _, size := range sizes {
		if size >= 0 {
			count++
		}
	}
	most := min(max(count/batchesEach, minBatch), maxBatch)
	var spans []span
	n, bytes := 0, int64(0)
	for i, size := range sizes {
		if size < 0 {
			continue
		}
		if n == 0 || n >= most || bytes+int64(size) > batchBytes {
			spans = append(spans, span{i + 1, i + 1})
			n, bytes = 0, 0
		}
		spans[len(spans)-1].last = i + 1
		n++
		bytes += int64(size)
	}
	return spans
}

// insertBatch adds one that has no job yet: of a docket, a submitter, with a tag, from entry to entry.
const insertBatch = `INSERT INTO batches (docket, flow, tag, first, last, state, job, attempt, worker, generation, started, finished)
	VALUES ($1, $2, $3, $4, $5, 'queued', 0, 0, '', 0, 0, 0) RETURNING id`

// insertBatches queues batches in their fair order: see fairTags.
func (t *tx) insertBatches(ctx context.Context, docketID int64, submitter string, spans []span) error {
	if len(spans) == 0 {
		return nil
	}
	first, step, err := fairTags(ctx, t, submitter)
	if err != nil {
		return err
	}
	batches := make([]int64, len(spans))
	jobs := make([]river.InsertManyParams, len(spans))
	for i, span := range spans {
		tag := first + int64(i)*step
		if err := one(ctx, t, insertBatch,
			[]any{docketID, submitter, tag, int64(span.first), int64(span.last)}, &batches[i]); err != nil {
			return err
		}
		jobs[i] = jobOf(batches[i])
	}
	ids, err := t.db.insertJobs(ctx, t, jobs)
	if err != nil {
		return err
	}
	for i, batch := range batches {
		if _, err := t.exec(ctx, `UPDATE batches SET job = $1 WHERE id = $2`, ids[i], batch); err != nil {
			return err
		}
	}
	return t.order(ctx, ` AND batches.docket = $1`, docketID)
}
