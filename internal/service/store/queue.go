package store

import (
	"context"
	"database/sql"
	"slices"

	"github.com/riverqueue/river"
)

// Ticket is a job of the queue: whoever gets one tries batches until none waits. Which batch is next, who has it and what comes of it is in
// the table batches alone. So a ticket that is lost, or worked on twice, does no harm; Beat replaces it.
type Ticket struct{}

// Kind names the jobs in the queue.
func (Ticket) Kind() string { return "shadowcourt_batch" }

// maxTickets is how many tickets are added at once: there need not be more than a fleet tries batches at a time.
const maxTickets = 64

func tickets(n int) []river.InsertManyParams {
	return slices.Repeat([]river.InsertManyParams{{Args: Ticket{}}}, min(n, maxTickets))
}

// wake adds tickets for so many batches.
func (t *tx) wake(ctx context.Context, batches int) error {
	if batches == 0 {
		return nil
	}
	return t.insertJobs(ctx, tickets(batches))
}

// MaxAttempts is how often a batch is begun. What it could not try by then gets a fault, so that every docket ends.
const MaxAttempts = 25

// fairTags gives the tag of the first batch of a docket, and the step to each further one. Batches are begun in the order of their tags.
//
// It is start-time fair queueing by submitter. Virtual time is the smallest tag of a batch that is not done. The batches of a
// docket begin one step behind it, and are one step apart; the step is the number of dockets that the submitter has in the
// queue, this one included. So the dockets of several submitters take turns batch by batch, however large they are; a second
// docket of one submitter waits for two batches of the first and not for all of them; and a thousand dockets of three cases
// are served as one of three thousand, and not a thousand times as often as the docket of somebody else.
func fairTags(ctx context.Context, t *tx, submitter string) (first, step int64, err error) {
	var now int64
	if err := one(ctx, t, `SELECT coalesce(min(tag), 0) FROM
		(SELECT min(tag) AS tag FROM batches WHERE state = 'queued' UNION ALL SELECT min(tag) FROM batches WHERE state = 'running') open`, nil, &now); err != nil {
		return 0, 0, err
	}
	step, err = fairStep(ctx, t, submitter)
	return now + step, step, err
}

func fairStep(ctx context.Context, t *tx, submitter string) (step int64, err error) {
	err = one(ctx, t, `SELECT count(*) FROM dockets WHERE submitter = $1 AND state IN ('queued', 'running')`, []any{submitter}, &step)
	return max(step, 1), err
}

// insertBatches queues batches in their fair order: see fairTags.
func (t *tx) insertBatches(ctx context.Context, docketID int64, submitter string, spans []span) error {
	if len(spans) == 0 {
		return nil
	}
	tag, step, err := fairTags(ctx, t, submitter)
	if err != nil {
		return err
	}
	for _, span := range spans {
		t.insertBatch(ctx, docketID, submitter, tag, span)
		tag += step
	}
	return t.wake(ctx, len(spans))
}

func (t *tx) insertBatch(ctx context.Context, docketID int64, flow string, tag int64, s span) {
	t.run(ctx, `INSERT INTO batches (docket, flow, tag, first, last, state, attempt, worker, generation, started, finished)
		VALUES ($1, $2, $3, $4, $5, 'queued', 0, '', 0, 0, 0)`, docketID, flow, tag, int64(s.first), int64(s.last))
}

// OthersWait says whether batches of other dockets wait.
func (s *Store) OthersWait(ctx context.Context, docketID int64) (bool, error) {
	var n int64
	err := one(ctx, s.db, `SELECT count(*) FROM (SELECT 1 FROM batches WHERE state = 'queued' AND docket <> $1 LIMIT 1) others`, []any{docketID}, &n)
	return n > 0, err
}

// split leaves the entries of a batch from an ordinal on to a new one. That has the tag of a batch further behind, and so have all of the
// submitter that wait: a batch takes about a second (see batchesOf), and one that took longer has had more than its turn.
func (t *tx) split(ctx context.Context, b *Batch, rest int) error {
	var flow string
	var tag int64
	s := span{first: rest}
	if err := one(ctx, t, `SELECT flow, tag, last FROM batches WHERE id = $1`, []any{b.ID}, &flow, &tag, &s.last); err != nil {
		return err
	}
	step, err := fairStep(ctx, t, flow)
	if err != nil {
		return err
	}
	t.run(ctx, `UPDATE batches SET tag = tag + $1 WHERE flow = $2 AND state = 'queued' AND tag >= $3`, step, flow, tag)
	t.run(ctx, `UPDATE batches SET last = $1 WHERE id = $2`, int64(rest-1), b.ID)
	b.Entries = slices.DeleteFunc(slices.Clone(b.Entries), func(e BatchEntry) bool { return e.Ordinal >= rest })
	t.insertBatch(ctx, b.Docket.ID, flow, tag+step, s)
	return t.wake(ctx, 1)
}

// QueueDepth is what waits to be tried.
type QueueDepth struct {
	Queued, Running int // batches
	Cases           int // of dockets that have not ended
}

// Depth measures the queue.
func (s *Store) Depth(ctx context.Context) (d QueueDepth, err error) {
	err = one(ctx, s.db, `SELECT (SELECT count(*) FROM batches WHERE state = 'queued'), (SELECT count(*) FROM batches WHERE state = 'running'),
		(SELECT CAST(coalesce(sum(cases - tried - faults), 0) AS BIGINT) FROM dockets WHERE state IN ('queued', 'running'))`, nil, &d.Queued, &d.Running, &d.Cases)
	return d, err
}

// Worker opens a client of the queue that works.
func (s *Store) Worker(config *river.Config) (*river.Client[*sql.Tx], error) {
	return river.NewClient(s.db.driver, config)
}

// CountVerdicts counts all verdicts.
func (s *Store) CountVerdicts(ctx context.Context) (n int, err error) {
	err = one(ctx, s.db, `SELECT count(*) FROM verdicts`, nil, &n)
	return n, err
}
