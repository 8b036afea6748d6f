package store

import (
	"context"
	"time"

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

// tagEpoch is the moment of tag 0: jobs are taken in the order of their times, which are tags and not times.
var tagEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// jobOf is the job of a batch.
func jobOf(batch, tag int64) river.InsertManyParams {
	return river.InsertManyParams{Args: BatchArgs{Batch: batch}, InsertOpts: &river.InsertOpts{
		ScheduledAt: tagEpoch.Add(time.Duration(tag) * time.Millisecond), MaxAttempts: 1000, // see MaxAttempts
	}}
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
