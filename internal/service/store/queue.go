package store

import (
	"context"
	"slices"

	"github.com/riverqueue/river"
)

// BatchArgs is the job of a batch.
type BatchArgs struct {
	Batch int64 `json:"batch"`
}

// Kind names the jobs in the queue.
func (BatchArgs) Kind() string { return "shadowcourt_batch" }

// MaxAttempts is how often a batch is begun. What it could not try by then gets a fault, so that every docket ends. The queue's
// own limit is far above: it would drop the job, and nobody would hear of it.
const MaxAttempts = 25

// jobOf is the job of a batch.
func jobOf(batch int64) river.InsertManyParams {
	return river.InsertManyParams{Args: BatchArgs{Batch: batch}, InsertOpts: &river.InsertOpts{MaxAttempts: 1000}} // see MaxAttempts
}

// insertJobs queues jobs in a transaction of the database that a client is for, and gives their IDs.
func insertJobs[T any](ctx context.Context, queue *river.Client[T], t T, jobs []river.InsertManyParams) ([]int64, error) {
	results, err := queue.InsertManyTx(ctx, t, jobs)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(results))
	for i, r := range results {
		ids[i] = r.Job.ID
	}
	return ids, nil
}

// order gives jobs that wait their moments: 2000-01-01 and as many milliseconds as the tag of the batch says. The queue takes jobs in
// the order of these. It is no option of the insertion: a job that is inserted with a moment waits for the queue's scheduler, which
// looks every five seconds. which is a condition on batches.
func (t *tx) order(ctx context.Context, which string, args ...any) error {
	moment := `to_timestamp(946684800 + batches.tag / 1000.0)`
	if t.pg == nil {
		moment = `strftime('%Y-%m-%d %H:%M:%f', 946684800 + batches.tag / 1000.0, 'unixepoch')`
	}
	_, err := t.exec(ctx, `UPDATE river_job SET state = 'available', scheduled_at = `+moment+` FROM batches
		WHERE batches.job = river_job.id AND batches.state IN ('queued', 'running') AND river_job.queue = 'default' AND river_job.priority = 1
			AND river_job.state IN ('available', 'retryable', 'scheduled') AND river_job.scheduled_at > '2015-01-01'`+which, args...)
	return err
}

// fairTags gives the tag of the first batch of a docket, and the step to each further one.
//
// It is start-time fair queueing by submitter. Virtual time is the smallest tag of a batch that is not done. The batches of a
// docket begin one step behind it, and are one step apart; the step is the number of dockets that the submitter has in the
// queue, this one included. So the dockets of several submitters take turns batch by batch, however large they are; a second
// docket of one submitter waits for two batches of the first and not for all of them; and a thousand dockets of three cases
// are served as one of three thousand, and not a thousand times as often as the docket of somebody else.
func fairTags(ctx context.Context, t *tx, submitter string) (first, step int64, err error) {
	var now int64
	if err := one(ctx, t, `SELECT coalesce(min(tag), 0) FROM batches WHERE state IN ('queued', 'running')`, nil, &now); err != nil {
		return 0, 0, err
	}
	if err := one(ctx, t, `SELECT count(*) FROM dockets WHERE submitter = $1 AND state IN ('queued', 'running')`, []any{submitter}, &step); err != nil {
		return 0, 0, err
	}
	step = max(step, 1)
	return now + step, step, nil
}

// OthersWait says whether batches of other dockets are in the queue.
func (s *Store) OthersWait(ctx context.Context, docketID int64) (bool, error) {
	var n int64
	err := one(ctx, s.db, `SELECT count(*) FROM (SELECT 1 FROM batches WHERE state IN ('queued', 'running') AND state <> 'running' AND docket <> $1 LIMIT 1) others`, []any{docketID}, &n)
	return n > 0, err
}

// split leaves the entries of a batch from an ordinal on to a new one. That has the tag of a batch further behind, and so have all of the
// submitter that wait: a batch takes about a second (see batchesOf), and one that took longer has had more than its turn.
func (t *tx) split(ctx context.Context, b *Batch, rest int) error {
	var flow string
	var tag, last, step, id int64
	if err := one(ctx, t, `SELECT flow, tag, last FROM batches WHERE id = $1`, []any{b.ID}, &flow, &tag, &last); err != nil {
		return err
	}
	if err := one(ctx, t, `SELECT count(*) FROM dockets WHERE submitter = $1 AND state IN ('queued', 'running')`, []any{flow}, &step); err != nil {
		return err
	}
	step = max(step, 1)
	if _, err := t.exec(ctx, `UPDATE batches SET tag = tag + $1 WHERE flow = $2 AND state = 'queued' AND tag >= $3`, step, flow, tag); err != nil {
		return err
	}
	if _, err := t.exec(ctx, `UPDATE batches SET last = $1 WHERE id = $2`, int64(rest-1), b.ID); err != nil {
		return err
	}
	b.Entries = slices.DeleteFunc(slices.Clone(b.Entries), func(e BatchEntry) bool { return e.Ordinal >= rest })
	if err := one(ctx, t, insertBatch, []any{b.Docket.ID, flow, tag + step, int64(rest), last}, &id); err != nil {
		return err
	}
	ids, err := t.db.insertJobs(ctx, t, []river.InsertManyParams{jobOf(id)})
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, `UPDATE batches SET job = $1 WHERE id = $2`, ids[0], id); err != nil {
		return err
	}
	return t.order(ctx, ` AND batches.flow = $1`, flow)
}
