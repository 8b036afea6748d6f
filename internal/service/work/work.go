package work

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/telemetry"
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

	// OnTrial and OnBatch are called for what was committed, from several goroutines. Optional.
	OnTrial func(Trial)
	OnBatch func(Batch)
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
	fleet  fleet
	books  books
	slots  chan struct{} // of trials

	mu      sync.Mutex
	running map[int64]bool // jobs of the queue
}

const (
	defaultStop = 30 * time.Second
	// fetchPause is the least time between two looks into the queue, pollLite and pollPostgres the most. The queue tells its clients of new
	// jobs, and tells nobody of those that are queued again: a slow batch that gives way would wait for the next look. On SQLite a look is cheap.
	fetchPause   = 5 * time.Millisecond
	pollLite     = 50 * time.Millisecond
	pollPostgres = 500 * time.Millisecond
	// batchTime is the most that a batch may take: far above 32 trials that all run into their limits.
	batchTime = 50 * time.Minute
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
		fleet: fleet{
			store: config.Store, open: config.Open, laboratories: config.Laboratories, logger: config.Logger, hosts: map[hostKey]*fleetHost{},
		},
		books: books{store: config.Store, open: map[bookKey]*openBook{}, of: map[string]*replayed{}},
		slots: make(chan struct{}, config.Workers), running: map[int64]bool{},
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
	defer func() { err = errors.Join(err, w.books.close()) }()
	defer w.fleet.close()
	if err := w.warm(ctx); err != nil {
		return err
	}
	client, err := w.client()
	if err != nil {
		return err
	}
	if err := w.config.Store.RegisterWorker(ctx, w.info); err != nil {
		return err
	}
	var upkeep sync.WaitGroup
	keeping, stopKeeping := context.WithCancel(last)
	upkeep.Go(func() { w.keep(keeping) })
	defer func() {
		stopKeeping()
		upkeep.Wait()
		leaving, cancel := context.WithTimeout(last, time.Second)
		defer cancel()
		_ = w.config.Store.RemoveWorker(leaving, w.info.ID) // else others notice that it is silent
	}()
	if err := client.Start(last); err != nil {
		return fmt.Errorf("start the queue: %w", err)
	}
	if ready != nil {
		ready()
	}
	<-ctx.Done()
	stopping, cancel := context.WithTimeout(last, w.config.Stop)
	defer cancel()
	if err := client.Stop(stopping); err != nil {
		cancelling, cancel := context.WithTimeout(last, w.config.Stop)
		defer cancel()
		return client.StopAndCancel(cancelling)
	}
	return nil
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

// client is that of the queue.
func (w *Worker) client() (store.Worker, error) {
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &batchWorker{worker: w}); err != nil {
		return nil, err
	}
	poll := pollPostgres
	if w.config.Store.Database() == "sqlite" {
		poll = pollLite
	}
	return w.config.Store.Worker(&river.Config{
		ID: w.info.ID, Logger: quiet(w.config.Logger), Workers: workers,
		// One more than there are trials at once, so that one batch is read or committed while the others are tried.
		Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: w.config.Workers + 1}},
		FetchCooldown: fetchPause, FetchPollInterval: poll, JobTimeout: batchTime, RescueStuckJobsAfter: 2 * batchTime,
		CompletedJobRetentionPeriod: time.Hour, RetryPolicy: atOnce{w.config.Now},
	})
}

// quiet keeps the queue's own words below warnings out of the log, and of equal ones all but one a minute: it asks the database for
// jobs, and for news of them, many times a second, also while that is away.
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

// atOnce tries a batch again at once: it has waited before it gave up.
type atOnce struct{ now func() time.Time }

// NextRetry is now.
func (r atOnce) NextRetry(*rivertype.JobRow) time.Time { return r.now().Add(time.Second) }
