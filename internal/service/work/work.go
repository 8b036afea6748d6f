// Package work tries the cases of the docket service. Each is a job of River's queue in the store, which names the generation of modules that it
// is tried with: a worker opens a host on it, gives it the casebook at the revision of the docket, and hands verdict and signed record back
// in one transaction.
//
// A worker may be killed at any moment: River has another one try the case. Of two workers with one case only one can complete it.
package work

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"runtime"
	"sync"
	"time"

	"github.com/riverqueue/river"

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
	Machine string // of the worker; optional
	Now     func() time.Time
	Logger  *slog.Logger       // default: none; with telemetry.Handler its lines have the ids of dockets and trials
	Tracing *telemetry.Tracing // default: none
	// Keep says what the worker that leads removes at times. Default: nothing but unfinished uploads of which nothing comes any more.
	Keep store.Keep
	// Stop is how long trials may go on when the worker is told to stop. Default: 30 s.
	Stop time.Duration
	// CaseTime is how long the first attempt to try a case may take, and how long a case waits whose worker was killed. Default: 1 minute, or 50
	// with experiments.
	CaseTime time.Duration

	// Webhooks get messages, whose links are below PublicURL. Default: this worker sends none. HookTime limits an attempt (default: 10 s), HookPause
	// is the time between two attempts (default: ever longer).
	Webhooks            []*Hook
	PublicURL           *url.URL
	HookTime, HookPause time.Duration

	// OnCase is called for what was committed, OnMessage for what came of an attempt to send: delivered, pending (it is sent again) or dead. From
	// several goroutines. Optional.
	OnCase    func(Done)
	OnMessage func(hook, outcome string)
}

// Done is a case that has a verdict or a fault.
type Done struct {
	// Result is that of the trial; nil where it was Known from an earlier one, or has a Fault.
	Result       *trial.Result
	Known, Fault bool
	Took         time.Duration
}

// Worker tries the cases of a store. See [New].
type Worker struct {
	config Config
	id     string
	fleet  *fleet
	books  *books
	slots  chan struct{} // of trials
}

const (
	defaultStop     = 30 * time.Second
	defaultCaseTime = time.Minute
	// fetchPause is the least time between two looks into a queue. The database tells of new jobs.
	fetchPause = 5 * time.Millisecond
	// tidyEvery is when a worker tidies up again, tidyTime the most that it takes.
	tidyEvery = 10 * time.Minute
	tidyTime  = 9 * time.Minute
)

// New prepares a worker. [Worker.Run] runs it.
func New(config Config) *Worker {
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	if config.Workers <= 0 {
		config.Workers = runtime.GOMAXPROCS(0)
	}
	if config.Stop <= 0 {
		config.Stop = defaultStop
	}
	if config.CaseTime <= 0 {
		config.CaseTime = defaultCaseTime
		if config.Laboratories != nil {
			config.CaseTime = longestCase
		}
	}
	return &Worker{
		config: config, id: fmt.Sprintf("%.64s-%s", unclean.ReplaceAllString(cmp.Or(config.Machine, "worker"), ""), rand.Text()[:12]), fleet: newFleet(&config), books: newBooks(config.Store),
		slots: make(chan struct{}, config.Workers),
	}
}

// unclean is what the queue does not take in an ID.
var unclean = regexp.MustCompile(`[^a-zA-Z0-9._-]+`)

// ID names the worker, for good.
func (w *Worker) ID() string { return w.id }

// Run tries cases until the context ends. Then those that it has may go on for Config.Stop, and what is not done by then is
// left for other workers. ready is called when it begins. Errors: store.ErrInUse, or why the modules of this program can't be kept
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
	if _, err := Begin(ctx, w.config.Store); err != nil {
		return err
	}
	client, err := w.client()
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return fmt.Errorf("start the queue: %w", err)
	}
	keeping, stopKeeping := context.WithCancel(last)
	var upkeep sync.WaitGroup
	upkeep.Go(func() { w.keep(keeping, client) })
	defer func() {
		stopKeeping()
		upkeep.Wait()
	}()
	if ready != nil {
		ready()
	}
	<-ctx.Done()
	select {
	case <-client.Stopped():
		return nil
	case <-time.After(2 * w.config.Stop): // the queue has cancelled them long ago
		return errors.New("trials go on though they were cancelled")
	}
}

// client is that of the queue. Its leader has some worker tidy up at times, and finds jobs whose worker was killed.
func (w *Worker) client() (*river.Client[*sql.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, caseWorker{worker: w})
	river.AddWorker(workers, &tidyWorker{worker: w})
	river.AddWorker(workers, messageWorker{worker: w, sender: newSender(&w.config, nil, nil)}) // also without webhooks: the leader gives up jobs of a kind that it doesn't know
	queues := map[string]river.QueueConfig{tidyQueue: {MaxWorkers: 1}}                         // those of cases: see keeper
	for _, h := range w.config.Webhooks {
		queues[store.HookQueue(h.Name)] = river.QueueConfig{MaxWorkers: hooksAtOnce, FetchCooldown: fetchPause}
	}
	return w.config.Store.Worker(&river.Config{
		ID: w.id, Logger: quiet(w.config.Logger), Workers: workers, Queues: queues, FetchOnlyKnownKinds: true,
		PeriodicJobs: []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(tidyEvery),
			func() (river.JobArgs, *river.InsertOpts) { return tidy{}, nil }, &river.PeriodicJobOpts{RunOnStart: true})},
		ErrorHandler: w, RetryPolicy: w,
		JobTimeout: w.config.CaseTime, RescueStuckJobsAfter: w.config.CaseTime + time.Second, SoftStopTimeout: w.config.Stop,
		CompletedJobRetentionPeriod: time.Hour,
	})
}

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
