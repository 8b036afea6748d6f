package work

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

const (
	// beatPause is between two signs of life, lookPause between two looks for activations that no event told of.
	beatPause = 2 * time.Second
	// repairEvery is how many beats lie between two looks for jobs and batches that nobody has.
	repairEvery = 5
	// slowestBeat is how long one may take: a database that does not answer must not stop the clock.
	slowestBeat = 5 * time.Second
	// tidyEvery is how many beats lie between two removals of what need not be kept, and uploadPause how long nothing must have come of
	// an upload to be removed: far longer than a request may stand still, and than a clock may jump.
	tidyEvery   = 300
	uploadPause = 24 * time.Hour
)

// keeper looks after the queue: it says that its worker lives, loads generations that are to be activated, and makes the batches
// of dead workers available again. Times are measured by this process alone, so that clocks may jump.
type keeper struct {
	worker *Worker
	seen   map[string]sight // of other workers, as long as this one leads
	silent map[int64]sight  // running jobs that no live worker has
	lost   map[int64]int    // jobs that the queue thinks this worker has, by attempt
	beats  int
	leads  bool // at the last beat

	tidying sync.Mutex // held while something is removed
	closing sync.Mutex // held while laboratories are closed
	tidied  sync.WaitGroup
}

// sight is when something was last seen to change.
type sight struct {
	state int64
	since time.Time
}

// keep runs until the context ends.
func (w *Worker) keep(ctx context.Context) {
	k := &keeper{worker: w, seen: map[string]sight{}, silent: map[int64]sight{}, lost: map[int64]int{}}
	changes := w.config.Store.Subscribe(ctx)
	ticker := time.NewTicker(beatPause)
	defer ticker.Stop()
	defer k.tidied.Wait()
	for {
		if ctx.Err() != nil {
			return
		}
		k.try(ctx, "see to the queue", k.beat)
		if k.leads && k.beats%tidyEvery == 1 && k.tidying.TryLock() {
			k.tidied.Go(func() { // beside the beats: it may take longer than a worker may be silent
				defer k.tidying.Unlock()
				k.try(ctx, "remove what need not be kept", w.tidy)
			})
		}
		if k.closing.TryLock() {
			k.tidied.Go(func() {
				defer k.closing.Unlock()
				k.try(ctx, "close laboratories", w.fleet.closeEnded)
			})
		}
		k.try(ctx, "load a generation", w.loadPending)
		if !k.wait(ctx, ticker, &changes) {
			return
		}
	}
}

// wait waits for the next beat, and loads generations meanwhile.
func (k *keeper) wait(ctx context.Context, ticker *time.Ticker, changes *<-chan store.Event) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
			return true
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

func (k *keeper) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, slowestBeat)
	defer cancel()
	s := k.worker.config.Store
	beats, leads, err := s.Beat(ctx, k.worker.info)
	if err != nil {
		return err
	}
	k.beats++
	k.leads = leads
	if k.beats%repairEvery == 0 {
		err = k.recoverOwn(ctx)
	}
	if !leads {
		clear(k.seen)
		clear(k.silent)
		return err
	}
	err = errors.Join(err, k.recover(ctx, beats), s.SettleActivation(ctx), s.RestoreOrder(ctx))
	if k.beats%repairEvery == 0 {
		n, repaired := s.RepairQueue(ctx)
		if n > 0 {
			k.worker.config.Logger.WarnContext(ctx, "batches were queued again whose jobs had ended", "batches", n)
		}
		err = errors.Join(err, repaired)
	}
	return err
}

// tidy removes unfinished uploads of which nothing comes any more, and what Config.Keep does not keep.
func (w *Worker) tidy(ctx context.Context) error {
	err := w.config.Store.RemoveStaleUploads(ctx, uploadPause)
	if w.config.Keep == (store.Keep{}) {
		return err
	}
	removed, retained := w.config.Store.Retain(ctx, w.config.Keep)
	if removed != (store.Removed{}) {
		w.config.Logger.InfoContext(ctx, "old dockets were removed", "dockets", removed.Dockets, "records", removed.Records)
	}
	return errors.Join(err, retained)
}

// recover releases the jobs of workers that have been silent for store.WorkerTimeout.
func (k *keeper) recover(ctx context.Context, beats map[string]int64) error {
	s := k.worker.config.Store
	now := time.Now() //nolint:forbidigo // monotonic: nothing is kept of it
	for id, n := range beats {
		if before, ok := k.seen[id]; !ok || before.state != n {
			k.seen[id] = sight{n, now}
		}
	}
	var err error
	for id, last := range k.seen {
		_, there := beats[id]
		if !there || now.Sub(last.since) >= store.WorkerTimeout {
			delete(k.seen, id)
			if there {
				delete(beats, id)
				k.worker.config.Logger.WarnContext(ctx, "a worker is silent, and its batches are tried by others", "worker", id)
				err = errors.Join(err, s.RemoveWorker(ctx, id))
				err = errors.Join(err, k.release(ctx, id))
			}
		}
	}
	jobs, listed := s.RunningJobs(ctx, "")
	if listed != nil {
		return errors.Join(err, listed)
	}
	return errors.Join(err, k.recoverOrphans(ctx, jobs, beats, now))
}

// release releases all jobs of a worker.
func (k *keeper) release(ctx context.Context, worker string) error {
	jobs, err := k.worker.config.Store.RunningJobs(ctx, worker)
	for _, j := range jobs {
		err = errors.Join(err, k.worker.config.Store.Release(ctx, j))
	}
	return err
}

// recoverOrphans releases jobs of workers that are not registered at all, when they have been so for store.WorkerTimeout.
func (k *keeper) recoverOrphans(ctx context.Context, jobs []store.RunningJob, beats map[string]int64, now time.Time) error {
	var err error
	there := map[int64]bool{}
	for _, j := range jobs {
		if _, lives := beats[j.Worker]; lives {
			continue
		}
		there[j.ID] = true
		before, ok := k.silent[j.ID]
		if !ok || before.state != int64(j.Attempt) {
			k.silent[j.ID] = sight{int64(j.Attempt), now}
		} else if now.Sub(before.since) >= store.WorkerTimeout {
			err = errors.Join(err, k.worker.config.Store.Release(ctx, j))
		}
	}
	for id := range k.silent {
		if !there[id] {
			delete(k.silent, id)
		}
	}
	return err
}

// recoverOwn releases jobs that the queue thinks this worker has, and that it has not: a connection was cut when they were handed
// over, or when their end was told. Twice in a row it must be so: a job may be on its way.
func (k *keeper) recoverOwn(ctx context.Context) error {
	w := k.worker
	jobs, err := w.config.Store.RunningJobs(ctx, w.info.ID)
	if err != nil {
		return err
	}
	w.mu.Lock()
	jobs = slices.DeleteFunc(jobs, func(j store.RunningJob) bool { return w.running[j.ID] })
	w.mu.Unlock()
	before := k.lost
	k.lost = map[int64]int{}
	for _, j := range jobs {
		if before[j.ID] == j.Attempt {
			err = errors.Join(err, w.config.Store.Release(ctx, j))
		} else {
			k.lost[j.ID] = j.Attempt
		}
	}
	return err
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
