// Package work tries the cases of the docket service: it takes batches from the queue of the store, opens hosts on the generation
// of modules that each batch has, gives them the casebook at the revision of the docket, and hands verdicts and signed records
// back in the transaction that completes the batch.
//
// A worker may be killed at any moment: a batch that it had is tried by another one, and of two workers with one batch only one
// can complete it.
package work

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/telemetry"
	"github.com/shadowcourt/shadowcourt/internal/service/webhook"
)

// Config of a Worker. Store, Open and Now are required.
type Config struct {
	Store *store.Store
	// Open opens a host. It must not ask models or read what a case names, and run no experiments but those of the opening: cases are
	// uploaded by strangers. Where there is a Key it sets host.Config.Record.
	Open func(context.Context, *Opening) (*host.Host, error)
	// Laboratories run experiments. Default: no docket runs any.
	Laboratories *Laboratories
	// Key signs the records of trials; nil for no records.
	Key *record.Key
	// Workers is how many trials go on at once. Default: one for each processor.
	Workers int
	// Formats are those for which hosts are opened before the first docket comes. Optional.
	Formats []string
	// Machine and Version describe the worker. Optional.
	Machine, Version string
	Now              func() time.Time
	Logger           *slog.Logger       // default: none; with telemetry.Handler its lines have the ids of batches and trials
	Tracing          *telemetry.Tracing // default: none
	// Keep says what the worker that leads removes at times. Default: nothing but unfinished uploads of which nothing comes any more.
	Keep store.Keep
	// Stop is how long batches may go on when the worker is told to stop. Default: 30 s.
	Stop time.Duration

	// Webhooks are told what happens; nil: this worker sends nothing.
	Webhooks *webhook.Sender

	// OnTrial, OnBatch and OnDelivery are called for what was committed, from several goroutines. OnDelivery is told of each attempt. Optional.
	OnTrial    func(Trial)
	OnBatch    func(Batch)
	OnDelivery func(store.Delivery)
}

// Trial is a trial that was committed.
type Trial struct {
	Docket, Generation int64
	Format             string
	Result             *trial.Result
	Took               time.Duration
}

// Batch is a batch that has ended.
type Batch struct {
	ID, Docket, Generation int64
	Attempt                int
	// Tried had a trial in this worker, Known had a verdict before, Faults could not be tried.
	Tried, Known, Faults int
	Took                 time.Duration
}

// Worker tries the batches of a store. See [New].
type Worker struct {
	config Config
	info   store.WorkerInfo
	fleet  *fleet
	books  *books
	slots  chan struct{} // of trials

	has      sync.Map     // the batches that it has: attempts by ids
	counting sync.RWMutex // held for reading while a batch is begun, for writing while those that it has are told to the store
}

const (
	defaultStop = 30 * time.Second
	// fetchPause is the least time between two looks into the queue, pollLite and pollPostgres the most. On PostgreSQL it tells its clients
	// of new jobs, and on SQLite a look is cheap.
	fetchPause   = 5 * time.Millisecond
	pollLite     = 50 * time.Millisecond
	pollPostgres = 500 * time.Millisecond
	// batchTime is the most that a batch may take: far above 32 trials that all run into their limits.
	batchTime = 50 * time.Minute
	// ticketTime is how long a ticket is good for further batches: the queue takes jobs that last too long for lost.
	ticketTime = 10 * time.Minute
	// tidyEvery is when a worker tidies up again, tidyTime the most that it takes. What is left then waits for the next time. The queue takes
	// a job that has lasted tidyLost for lost: until then nobody tidies up for a worker that was killed.
	tidyEvery = 10 * time.Minute
	tidyTime  = 9 * time.Minute
	tidyLost  = 10 * time.Minute
)

// New prepares a worker. [Worker.Run] runs it.
func New(config Config) *Worker {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Workers <= 0 {
		config.Workers = runtime.GOMAXPROCS(0)
	}
	if config.Stop <= 0 {
		config.Stop = defaultStop
	}
	id := config.Machine
	if id == "" {
		id = "worker"
	}
	return &Worker{
		config: config, info: store.WorkerInfo{ID: clean(id) + "-" + rand.Text()[:12], Machine: config.Machine, Version: config.Version},
		fleet: newFleet(&config), books: newBooks(config.Store),
		slots: make(chan struct{}, config.Workers),
	}
}

// clean leaves of the name of a machine what the queue takes in an ID.
func clean(name string) string {
	var b []byte
	for i := 0; i < len(name) && len(b) < 64; i++ {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' {
			b = append(b, c)
		}
	}
	return string(b)
}

// ID names the worker, for good.
func (w *Worker) ID() string { return w.info.ID }

// Run tries batches until the context ends. Then those that it has may go on for Config.Stop, and what is not done by then is
// left for other workers. ready is called when it begins. Errors: store.ErrInUse, or why the current generation can't be opened
// or the queue not be read; a database that goes away while it runs is no error, it waits.
func (w *Worker) Run(ctx context.Context, ready func()) (err error) {
	// What ends the work cleans up with a context of its own.
	last := context.WithoutCancel(ctx)
	releaseWork, err := w.config.Store.ClaimWork(ctx)
	if err != nil {
		return err
	}
	defer releaseWork()
	defer func() {
		_ = w.fleet.end() // what it leaves in temporary folders is removed later
		err = errors.Join(err, w.books.end())
	}()
	if err := w.warm(ctx); err != nil {
		return err
	}
	var sending *hooks
	if w.config.Webhooks != nil {
		sending = &hooks{worker: w, stopping: ctx.Done(), has: map[int64]bool{}, busy: map[string]int{}}
	}
	client, err := w.client(ctx.Done(), sending)
	if err != nil {
		return err
	}
	if _, err := w.beat(ctx); err != nil {
		return err
	}
	var upkeep sync.WaitGroup
	keeping, stopKeeping := context.WithCancel(last)
	upkeep.Go(func() { w.keep(keeping) })
	if sending != nil {
		upkeep.Go(func() { sending.keep(keeping) })
	}
	defer func() {
		stopKeeping()
		upkeep.Wait()
		leaving, cancel := context.WithTimeout(last, time.Second)
		defer cancel()
		_ = w.config.Store.RemoveWorker(leaving, w.info.ID) // else others notice that it is silent
	}()
	if err := client.Start(ctx); err != nil {
		return fmt.Errorf("start the queue: %w", err)
	}
	if ready != nil {
		ready()
	}
	<-ctx.Done()
	select {
	case <-client.Stopped():
		return nil
	case <-time.After(2 * w.config.Stop): // the queue has cancelled them long ago
		return errors.New("batches go on though they were cancelled")
	}
}

// warm opens the hosts of the current generation.
func (w *Worker) warm(ctx context.Context) error {
	generation, err := Begin(ctx, w.config.Store)
	if err != nil {
		return err
	}
	for _, format := range w.config.Formats {
		_, release, err := w.fleet.get(ctx, hostKey{generation: generation, format: format})
		if err != nil {
			return fmt.Errorf("open generation %d for %s: %w", generation, format, err)
		}
		release()
	}
	return nil
}

// client is that of the queue. Its leader has some worker tidy up at times.
func (w *Worker) client(stopping <-chan struct{}, sending *hooks) (*river.Client[*sql.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &ticketWorker{worker: w, stopping: stopping})
	river.AddWorker(workers, &tidyWorker{worker: w})
	poll := pollPostgres
	if w.config.Store.Database() == "sqlite" {
		poll = pollLite
	}
	queues := map[string]river.QueueConfig{
		river.QueueDefault: {MaxWorkers: w.batches(), FetchCooldown: fetchPause, FetchPollInterval: poll},
		tidyQueue:          {MaxWorkers: 1},
	}
	if sending != nil {
		river.AddWorker(workers, &hookWorker{hooks: sending})
		queues[store.HookQueue] = river.QueueConfig{MaxWorkers: max(1, webhook.AtOnce*len(w.config.Webhooks.Names()))}
	}
	return w.config.Store.Worker(&river.Config{
		ID: w.info.ID, Logger: quiet(w.config.Logger), Workers: workers,
		Queues: queues,
		PeriodicJobs: []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(tidyEvery),
			func() (river.JobArgs, *river.InsertOpts) { return tidy{}, nil }, &river.PeriodicJobOpts{RunOnStart: true})},
		JobTimeout: tidyTime, RescueStuckJobsAfter: tidyLost, SoftStopTimeout: w.config.Stop, // tickets have a Timeout of their own
		CompletedJobRetentionPeriod: time.Hour,
	})
}

// batches is how many it has at once: one more than there are trials, so that one is read or committed while the others are tried.
func (w *Worker) batches() int { return w.config.Workers + 1 }

// quiet keeps the queue's own words below warnings out of the log, and of equal ones all but one a minute: it asks the database for
// jobs, and for news of them, many times a second, also while that is away. Its errors are warnings: it tries again what failed.
func quiet(logger *slog.Logger) *slog.Logger {
	return slog.New(warnings{logger.Handler(), &repeats{last: map[string]time.Time{}}})
}

type warnings struct {
	slog.Handler
	said *repeats
}

// repeats are when messages, which are constants, were last written.
type repeats struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// Enabled leaves out what is no warning.
func (h warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// Handle leaves out what was said a moment ago.
func (h warnings) Handle(ctx context.Context, r slog.Record) error {
	h.said.mu.Lock()
	last, ok := h.said.last[r.Message]
	again := ok && r.Time.Sub(last).Abs() < time.Minute
	if !again {
		h.said.last[r.Message] = r.Time
	}
	h.said.mu.Unlock()
	if again {
		return nil
	}
	r.Level = min(r.Level, slog.LevelWarn)
	return h.Handler.Handle(ctx, r)
}

// WithAttrs adds attributes.
func (h warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{h.Handler.WithAttrs(attrs), h.said}
}

// WithGroup begins a group.
func (h warnings) WithGroup(name string) slog.Handler {
	return warnings{h.Handler.WithGroup(name), h.said}
}
