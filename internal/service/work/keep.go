package work

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

const (
	// lookEvery is between two looks for queues of cases, and lookPause the least time between them: each trial tells of its docket.
	lookEvery = 2 * time.Second
	lookPause = 200 * time.Millisecond
	// queueIdle is how long a queue stays in which no case waits, and queueStop the most that it takes to leave one.
	queueIdle = 30 * time.Second
	queueStop = 5 * time.Second
	// uploadPause is how long nothing must have come of an upload to be removed: far longer than a request may stand still, and than a
	// clock may jump.
	uploadPause = 24 * time.Hour
)

// keeper has its worker work on the queues in which cases wait, and closes laboratories of dockets that have ended.
type keeper struct {
	worker  *Worker
	queues  *river.QueueBundle
	used    map[string]time.Time // when cases last waited in a queue, by the monotonic clock
	closing sync.Mutex           // held while laboratories are closed
	closed  sync.WaitGroup
}

// keep runs until the context ends.
func (w *Worker) keep(ctx context.Context, client *river.Client[*sql.Tx]) {
	k := &keeper{worker: w, queues: client.Queues(), used: map[string]time.Time{}}
	changes := w.config.Store.Subscribe(ctx)
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	defer k.closed.Wait()
	for ctx.Err() == nil {
		k.try(ctx, "look for cases", k.look)
		if k.closing.TryLock() { // beside: experiments that are stopped may take longer
			k.closed.Go(func() {
				defer k.closing.Unlock()
				k.try(ctx, "close laboratories", w.fleet.closeEnded)
			})
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookPause):
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case _, ok := <-changes:
			if !ok {
				changes = nil
			}
		}
	}
}

func (k *keeper) try(ctx context.Context, what string, do func(context.Context) error) {
	if err := do(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrFull) { // of that the store tells
		k.worker.config.Logger.WarnContext(ctx, "a worker could not "+what, "error", err) //nolint:sloglint // one of two
	}
}

// look works on the queues in which cases wait, and leaves others.
func (k *keeper) look(ctx context.Context) error {
	list, err := k.worker.config.Store.CaseQueues(ctx)
	if err != nil {
		return err
	}
	now := time.Now() //nolint:forbidigo // monotonic: nothing is kept of it
	var faults []error
	for _, queue := range list {
		if _, has := k.used[queue]; !has {
			// One more than there are trials, so that a case is read or kept while the others are tried.
			if err := k.queues.Add(queue, river.QueueConfig{MaxWorkers: k.worker.config.Workers + 1, FetchCooldown: fetchPause}); err != nil {
				// River has the queue all the same, but does not work on it. The next look adds it again.
				faults = append(faults, err, k.leave(ctx, queue))
				continue
			}
		}
		k.used[queue] = now
	}
	for queue, last := range k.used {
		if now.Sub(last) >= queueIdle {
			faults = append(faults, k.leave(ctx, queue))
		}
	}
	return errors.Join(faults...)
}

// leave removes a queue. If that takes too long, River works on it no more, but has it until it is left again.
func (k *keeper) leave(ctx context.Context, queue string) error {
	delete(k.used, queue)
	stopping, cancel := context.WithTimeout(ctx, queueStop)
	defer cancel()
	return k.queues.Remove(stopping, queue)
}

// tidy is the job of the queue to remove what need not be kept: one at a time, however many workers there are.
type tidy struct{}

// Kind names the jobs in the queue.
func (tidy) Kind() string { return "shadowcourt_tidy" }

// tidyQueue is a queue of its own, so that no trial waits for it.
const tidyQueue = "tidy"

// InsertOpts leaves out a job while another one waits or runs.
func (tidy) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: tidyQueue, UniqueOpts: river.UniqueOpts{ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}}}
}

type tidyWorker struct {
	river.WorkerDefaults[tidy]
	worker *Worker
}

// Timeout is how long it may take; what is left then waits for the next time.
func (*tidyWorker) Timeout(*river.Job[tidy]) time.Duration { return tidyTime }

// Work ends cases that the queue gave up, and removes unfinished uploads of which nothing comes any more, and what Config.Keep does not keep.
func (t *tidyWorker) Work(ctx context.Context, _ *river.Job[tidy]) error {
	config := &t.worker.config
	err := errors.Join(config.Store.RemoveStaleUploads(ctx, uploadPause), config.Store.EndDiscarded(ctx))
	if config.Keep != (store.Keep{}) {
		removed, retained := config.Store.Retain(ctx, config.Keep)
		if removed != (store.Removed{}) {
			config.Logger.InfoContext(ctx, "old dockets were removed", "dockets", removed.Dockets, "records", removed.Records)
		}
		err = errors.Join(err, retained)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrFull) { // of that the store tells
		config.Logger.WarnContext(ctx, "a worker could not remove what need not be kept", "error", err)
	}
	return nil // the next one tries again
}
