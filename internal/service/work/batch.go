package work

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// ticketWorker works on the tickets of the queue.
type ticketWorker struct {
	river.WorkerDefaults[store.Ticket]
	worker   *Worker
	stopping <-chan struct{}
}

const (
	// firstPause and mostPause bound how long a worker keeps a batch that failed, before it is tried again.
	firstPause = 100 * time.Millisecond
	mostPause  = 10 * time.Second
	// sliceTime is after what time a batch lets others go first. Batches are made to take about that.
	sliceTime = time.Second
	// mostHeld is the longest pause before a database that could not be written is tried again.
	mostHeld = 2 * time.Second
	// beginTime bounds the beginning of a batch.
	beginTime = time.Minute
)

// Work tries batches until none waits, or the worker is to stop.
func (t *ticketWorker) Work(ctx context.Context, _ *river.Job[store.Ticket]) error {
	for begun := time.Now(); time.Since(begun) < ticketTime; { //nolint:forbidigo // a duration, by the monotonic clock
		select {
		case <-t.stopping:
			return nil
		default:
		}
		err := t.worker.next(ctx)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return river.JobSnooze(0)
}

// Timeout is how long a ticket may take.
func (*ticketWorker) Timeout(*river.Job[store.Ticket]) time.Duration { return ticketTime + batchTime }

// next tries the next batch; store.ErrNotFound where none waits. A batch that fails waits again when the worker next says which it has.
func (w *Worker) next(ctx context.Context) error {
	b, err := w.begin(ctx)
	if err != nil {
		return err
	}
	defer w.has.CompareAndDelete(b.ID, b.Attempt) // a later attempt may be this worker's, too
	limited, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	err = w.batch(limited, b)
	switch {
	case err == nil, errors.Is(err, store.ErrEnded), errors.Is(err, store.ErrTaken):
		return nil // what is kept is kept, and what is not is another's
	case ctx.Err() != nil:
		return err
	}
	if !errors.Is(err, store.ErrFull) { // the store has said so
		w.config.Logger.WarnContext(ctx, "a batch is tried again", "batch", b.ID, "attempt", b.Attempt, "error", err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(min(firstPause<<min(b.Attempt-1, 10), mostPause)):
	}
	return nil
}

func (w *Worker) begin(ctx context.Context) (*store.Batch, error) {
	ctx, cancel := context.WithTimeout(ctx, beginTime)
	defer cancel()
	w.counting.RLock()
	defer w.counting.RUnlock()
	b, err := w.config.Store.BeginBatch(ctx, w.info.ID)
	if err == nil {
		w.has.Store(b.ID, b.Attempt)
	}
	return b, err
}

// configured is a host with the casebook of a revision, and the digest of what its verdicts depend on.
type configured struct {
	digest string
	parts  []record.Part
}

func (w *Worker) batch(ctx context.Context, b *store.Batch) error {
	begun := w.config.Now()
	if b.Attempt > store.MaxAttempts {
		return w.giveUp(ctx, b)
	}
	done := Batch{ID: b.ID, Docket: b.Docket.ID, Generation: b.Generation, Attempt: b.Attempt}
	ctx, span := w.beginBatch(ctx, b)
	defer span.End()
	watched, unwatch := w.watched(ctx, b)
	o, err := w.try(watched, b, &done)
	unwatch()
	if err == nil {
		err = w.complete(ctx, b, o)
	}
	if err != nil {
		span.Fail("the batch was not completed")
		return err
	}
	done.Took = w.config.Now().Sub(begun)
	w.endBatch(ctx, span, &done)
	w.tell(b, o, done)
	return nil
}

// complete keeps what came of a batch. While the database can't be written it holds the batch, and goes on when there is room again: its
// trials need not be repeated, and its attempts are not used up.
func (w *Worker) complete(ctx context.Context, b *store.Batch, o *store.Outcome) error {
	return w.config.Store.KeepTrying(ctx, firstPause, mostHeld, func() error {
		return w.config.Store.CompleteBatch(ctx, b, w.info.ID, o)
	})
}

// tell tells the callbacks of what was committed.
func (w *Worker) tell(b *store.Batch, o *store.Outcome, done Batch) {
	if w.config.OnTrial != nil {
		for i := range o.Verdicts {
			v := &o.Verdicts[i]
			w.config.OnTrial(Trial{Docket: b.Docket.ID, Generation: b.Generation, Format: b.Docket.Format, Result: &v.Trial.Result, Took: v.Took})
		}
	}
	if w.config.OnBatch != nil {
		w.config.OnBatch(done)
	}
}

// giveUp ends a batch whose workers died or failed each time.
func (w *Worker) giveUp(ctx context.Context, b *store.Batch) error {
	o := &store.Outcome{Faults: map[int]string{}}
	for i := range b.Entries {
		o.Faults[b.Entries[i].Ordinal] = fmt.Sprintf("case %q: not tried: %d workers failed or died before the batch was done", b.Entries[i].Case.ID, store.MaxAttempts)
	}
	return w.config.Store.CompleteBatch(ctx, b, w.info.ID, o)
}

// try tries the entries of a batch that have no verdict yet, one after the other.
func (w *Worker) try(ctx context.Context, b *store.Batch, done *Batch) (*store.Outcome, error) {
	h, release, err := w.fleet.get(ctx, w.fleet.key(b))
	if err != nil {
		return nil, fmt.Errorf("open generation %d for %s: %w", b.Generation, b.Docket.Format, err)
	}
	defer release()
	seen := bookKey{b.Docket.Casebook, b.Docket.Repository}
	if seen.revision == 0 {
		seen.repository = "" // nothing is known of any: one entry for all, so that they don't drive casebooks off the shelf
	}
	book, returnBook, err := w.books.get(ctx, seen)
	if err != nil {
		return nil, err
	}
	defer returnBook()
	court := h.host
	if book != nil {
		court = court.WithCasebook(run.Casebook(book))
	}
	config, err := h.configuration(ctx, court, seen)
	if err != nil {
		return nil, err
	}
	known, err := w.config.Store.Known(ctx, b, config.digest)
	if err != nil {
		return nil, err
	}
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return w.tryEntries(ctx, b, court, config, known, done)
}

func (w *Worker) tryEntries(ctx context.Context, b *store.Batch, court *host.Host, config *configured, known map[string]bool, done *Batch) (*store.Outcome, error) {
	o := &store.Outcome{Configuration: config.digest, Faults: map[int]string{}}
	records := &recording{key: w.config.Key, court: court, parts: config.parts}
	begun := w.config.Now()
	for i := range b.Entries {
		e := &b.Entries[i]
		if known[e.Digest] {
			done.Known++
			continue
		}
		if yields, err := w.yields(ctx, b, begun, done); err != nil {
			return nil, err
		} else if yields {
			o.Rest = e.Ordinal
			break
		}
		began := w.config.Now()
		t, recorded, err := w.tryEntry(ctx, b, e, court)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			o.Faults[e.Ordinal] = err.Error()
			done.Faults++
			continue
		}
		if err := records.append(recorded); err != nil {
			return nil, err
		}
		t.Result.Timings = nil // results depend on the case alone
		known[e.Digest] = true // for the same case further down
		o.Verdicts = append(o.Verdicts, store.NewVerdict{Digest: e.Digest, Trial: t, Took: w.config.Now().Sub(began)})
		done.Tried++
	}
	var err error
	o.Record, err = records.end()
	return o, err
}

// yields says whether a batch leaves what it has not tried yet to a later one: it had its time, such as with cases that run into their limits,
// and dockets wait that had none. It has tried one case at least.
func (w *Worker) yields(ctx context.Context, b *store.Batch, begun time.Time, done *Batch) (bool, error) {
	if done.Tried+done.Faults == 0 || w.config.Now().Sub(begun) < sliceTime {
		return false, nil
	}
	return w.config.Store.OthersWait(ctx, b.Docket.ID)
}

// recording is the signed record of a batch.
type recording struct {
	key    *record.Key
	court  *host.Host
	parts  []record.Part
	out    bytes.Buffer
	writer *record.Writer
}

// append adds a trial; nil is left out: the host records nothing.
func (r *recording) append(t *record.Trial) error {
	if r.key == nil || t == nil {
		return nil
	}
	if r.writer == nil {
		header, err := r.court.RecordHeader(r.parts)
		if err == nil {
			r.writer, err = record.Begin(&r.out, r.key, header)
		}
		if err != nil {
			return err
		}
	}
	return r.writer.Append(t)
}

// end closes the record; nil where nothing was recorded.
func (r *recording) end() ([]byte, error) {
	if r.writer == nil {
		return nil, nil
	}
	if err := r.writer.Finish(); err != nil {
		return nil, err
	}
	return r.out.Bytes(), nil
}

// configuration gives what verdicts of a host depend on. It is the same for all batches that see the same of the casebook.
func (h *fleetHost) configuration(ctx context.Context, court *host.Host, seen bookKey) (*configured, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.configs[seen]; c != nil {
		return c, nil
	}
	parts, err := court.Configuration(ctx)
	if err != nil {
		return nil, err
	}
	if h.docket != 0 { // the docket's budget decides what is run: others must not take over what a used-up one left
		parts = append(slices.Clip(parts), record.Part{Name: "docket", Digest: record.DigestOf(fmt.Appendf(nil, "docket %d", h.docket))})
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return nil, err
	}
	c := &configured{digest: record.DigestOf(text).Hex(), parts: parts}
	h.configs[seen] = c
	return c, nil
}
