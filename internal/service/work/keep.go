package work

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

const (
	beatPause = 2 * time.Second // between two signs of life
	// slowestBeat is how long one may take: a database that does not answer must not stop the clock.
	slowestBeat = 5 * time.Second
	// uploadPause is how long nothing must have come of an upload to be removed: far longer than a request may stand still, and than a
	// clock may jump.
	uploadPause = 24 * time.Hour
)

// keeper says that its worker lives, loads generations that are to be activated, and notices when other workers are silent. Times are
// measured by this process alone, so that clocks may jump.
type keeper struct {
	worker *Worker
	seen   map[string]sight // of other workers

	closing sync.Mutex // held while laboratories are closed
	closed  sync.WaitGroup
}

// sight is when a worker was last seen to say that it lives.
type sight struct {
	beats int64
	since time.Time
}

// keep runs until the context ends.
func (w *Worker) keep(ctx context.Context) {
	k := &keeper{worker: w, seen: map[string]sight{}}
	changes := w.config.Store.Subscribe(ctx)
	ticker := time.NewTicker(beatPause)
	defer ticker.Stop()
	defer k.closed.Wait()
	for ctx.Err() == nil {
		k.try(ctx, "see to the queue", k.beat)
		if k.closing.TryLock() { // beside the beats: it may take longer than a worker may be silent
			k.closed.Go(func() {
				defer k.closing.Unlock()
				k.try(ctx, "close laboratories", w.fleet.closeEnded)
			})
		}
		k.try(ctx, "load a generation", w.loadPending)
		k.wait(ctx, ticker, &changes)
	}
}

// wait waits for the next beat, and loads generations meanwhile.
func (k *keeper) wait(ctx context.Context, ticker *time.Ticker, changes *<-chan store.Event) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			return
		case e, ok := <-*changes:
			if !ok {
				*changes = nil
			} else if e.Kind == store.EventGeneration || e.Kind == store.EventResync {
				k.try(ctx, "load a generation", k.worker.loadPending)
			}
		}
	}
}

func (k *keeper) try(ctx context.Context, what string, do func(context.Context) error) {
	if err := do(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrFull) { // of that the store tells
		k.worker.config.Logger.WarnContext(ctx, "a worker could not "+what, "error", err) //nolint:sloglint // one of two
	}
}

// beat says that the worker lives, and what it has.
func (w *Worker) beat(ctx context.Context) (beats map[string]int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, slowestBeat)
	defer cancel()
	if !w.counting.TryLock() {
		// A batch is being begun, of which it is not known yet whether the worker has it. That may wait for the database longer than a worker
		// may be silent, and a later beat tells.
		return w.config.Store.Beat(ctx, w.info, nil, 0)
	}
	defer w.counting.Unlock()
	has := []int64{}
	w.has.Range(func(id, _ any) bool {
		has = append(has, id.(int64)) //nolint:forcetypeassert // only begin stores any
		return true
	})
	return w.config.Store.Beat(ctx, w.info, has, w.batches()-len(has))
}

// beat also removes workers that have been silent for store.WorkerTimeout, whose batches others then try.
func (k *keeper) beat(ctx context.Context) error {
	beats, err := k.worker.beat(ctx)
	if err != nil {
		clear(k.seen) // others may have been silent for the same reason
		return err
	}
	maps.DeleteFunc(k.seen, func(id string, _ sight) bool { _, there := beats[id]; return !there })
	now := time.Now() //nolint:forbidigo // monotonic: nothing is kept of it
	for id, n := range beats {
		last, ok := k.seen[id]
		switch {
		case !ok || last.beats != n:
			k.seen[id] = sight{n, now}
		case now.Sub(last.since) >= store.WorkerTimeout:
			delete(k.seen, id)
			k.worker.config.Logger.WarnContext(ctx, "a worker is silent, and its batches are tried by others", "worker", id)
			err = errors.Join(err, k.worker.config.Store.RemoveWorker(ctx, id))
		}
	}
	return errors.Join(err, k.worker.config.Store.SettleActivation(ctx))
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

// Work removes unfinished uploads of which nothing comes any more, old deliveries, and what Config.Keep does not keep.
func (t *tidyWorker) Work(ctx context.Context, _ *river.Job[tidy]) error {
	config := &t.worker.config
	err := config.Store.RemoveStaleUploads(ctx, uploadPause)
	if config.Keep != (store.Keep{}) {
		removed, retained := config.Store.Retain(ctx, config.Keep)
		if removed != (store.Removed{}) {
			config.Logger.InfoContext(ctx, "old dockets were removed", "dockets", removed.Dockets, "records", removed.Records)
		}
		err = errors.Join(err, retained)
	}
	err = errors.Join(err, t.worker.removeDeliveries(ctx))
	if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrFull) { // of that the store tells
		config.Logger.WarnContext(ctx, "a worker could not remove what need not be kept", "error", err)
	}
	return nil // the next one tries again
}

// loadPending loads the generation that is to be activated, for the formats that this worker has hosts for, and says what came
// of it.
func (w *Worker) loadPending(ctx context.Context) error {
	id, generation, err := w.config.Store.PendingActivation(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	answered, err := w.config.Store.Activation(ctx, id)
	if err != nil {
		return err
	}
	for _, l := range answered.Loads {
		if l.Worker == w.info.ID && l.Loaded {
			return nil
		}
	}
	formats := append(w.fleet.formats(), w.config.Formats...)
	slices.Sort(formats)
	if formats = slices.Compact(formats); len(formats) == 0 {
		formats = []string{""}
	}
	var fault error
	for _, format := range formats {
		_, release, err := w.fleet.get(ctx, hostKey{generation: generation, format: format})
		if _, unread := errors.AsType[*readError](err); unread && !errors.Is(err, store.ErrNotFound) {
			return err // the database is away: the next beat tries again
		}
		if err != nil {
			fault = errors.Join(fault, err)
			continue
		}
		release()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return w.config.Store.Loaded(ctx, id, w.info.ID, fault)
}
