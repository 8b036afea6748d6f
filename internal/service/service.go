// Package service is one process of the docket service: the HTTP API and the pages (role api), a worker that tries cases (role worker), or
// both. Any number of processes share a PostgreSQL database; one has a SQLite file to itself.
package service

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/telemetry"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// Role is what a process does.
type Role string

// The roles.
const (
	RoleAPI    Role = "api"    // answers requests
	RoleWorker Role = "worker" // tries cases; it answers requests for health and metrics alone
	RoleAll    Role = "all"
)

// Config of a process. Store, Open, Now and Random must be set.
type Config struct {
	Store *store.Store // open, with the tables of this program
	Role  Role         // default: RoleAll
	// Open opens a host; observe is to be its Config.Observe. It must not ask models or read what a case
	// names, and run no experiments but those of the opening.
	Open func(ctx context.Context, o *work.Opening, observe func(host.CallRecord)) (*host.Host, error)
	// Laboratories run experiments; nil: no docket runs any.
	Laboratories *work.Laboratories
	// Key signs the records of trials; nil for no records.
	Key *record.Key
	// ProofKeys are those whose signatures are accepted in results that are pushed; nil: every key.
	ProofKeys []*record.Key
	// Workers is how many trials go on at once; 0: one for each processor.
	Workers   int
	MaxUpload int64 // bytes of a docket; 0: 256 MiB
	// Trust decides about modules that are named by references; nil rejects them. Registries fetches those that it accepts; it must be set where
	// Trust is.
	Trust      *trust.Policy
	Registries *oci.Client
	// Webhooks get messages from all processes from now on; nil leaves the webhooks of the other processes.
	Webhooks []*work.Hook
	// Keep says what workers remove at times; zero fields keep everything.
	Keep store.Keep
	// Local is the token of whoever runs the process; empty: there is none.
	Local     string
	PublicURL *url.URL
	OIDC      *auth.OIDC
	TLS       *tls.Config // nil: without TLS. Its NextProtos must not name HTTP/2
	Rate      float64     // requests a second of a client; 0: 100
	// Connections is how many connections are open at a time; 0: half of the files that the process may have open, and at most 4096.
	Connections int
	Times       httplimit.Times // how long requests may take
	Machine     string          // name of this machine, for people
	Version     string
	Now         func() time.Time
	Random      io.Reader
	Log         *slog.Logger       // nil: nothing is logged
	Tracing     *telemetry.Tracing // nil: no spans
	// Stop is how long requests and trials may go on when the process is told to stop; 0: 30 s.
	Stop time.Duration
}

const defaultStop = 30 * time.Second

// mostConnections is how many connections a process has by default, where it may have more than twice as many files.
const mostConnections = 4096

// Service is a process. See [New].
type Service struct {
	config   Config
	metrics  *metrics
	labels   *labels
	auth     *auth.Authenticator
	handler  http.Handler
	worker   *work.Worker // nil for RoleAPI
	ready    atomic.Bool
	stop     chan struct{} // closed when the process is told to stop
	fetches  chan struct{} // of modules of registries: one for each generation
	reviewed atomic.Pointer[review]
}

// New prepares a process.
func New(ctx context.Context, config Config) (*Service, error) {
	config.Role = cmp.Or(config.Role, RoleAll)
	config.Log = cmp.Or(config.Log, slog.New(slog.DiscardHandler))
	config.Connections = cmp.Or(config.Connections, min(mostConnections, fileLimit()/2))
	config.Stop = cmp.Or(config.Stop, defaultStop)
	config.Log = slog.New(telemetry.Handler{Handler: config.Log.Handler()})
	if _, err := work.Begin(ctx, config.Store); err != nil {
		return nil, fmt.Errorf("the modules of this program: %w", err)
	}
	if err := setWebhooks(ctx, &config); err != nil {
		return nil, err
	}
	m := newMetrics(config.Store, config.Log) //nolint:contextcheck // they are read later, by requests of their own
	s := &Service{config: config, metrics: m, labels: &labels{store: config.Store}, stop: make(chan struct{}), fetches: make(chan struct{}, fetchesAtOnce)}
	if config.Role != RoleAPI {
		s.worker = work.New(work.Config{
			Store: config.Store, Open: s.open, Laboratories: config.Laboratories, Key: config.Key, Workers: config.Workers, Machine: config.Machine, Now: config.Now,
			Logger: config.Log, Tracing: config.Tracing, Keep: config.Keep, Stop: config.Stop, OnCase: s.metrics.done,
			Webhooks: config.Webhooks, PublicURL: config.PublicURL, OnMessage: func(hook, outcome string) { s.metrics.webhooks.WithLabelValues(hook, outcome).Inc() },
		})
	}
	handler, err := s.routes()
	if err != nil {
		return nil, err
	}
	s.handler = handler
	return s, nil
}

// setWebhooks gives the store the webhooks. One process has a SQLite file: without a list there are none.
func setWebhooks(ctx context.Context, config *Config) error {
	if config.Webhooks == nil && config.Store.Database() != "sqlite" {
		return nil
	}
	list := make([]store.Webhook, len(config.Webhooks))
	for i, h := range config.Webhooks {
		list[i] = h.Subscription()
	}
	if err := config.Store.SetWebhooks(ctx, list); err != nil {
		return fmt.Errorf("set the webhooks: %w", err)
	}
	return nil
}

func (s *Service) open(ctx context.Context, o *work.Opening) (*host.Host, error) {
	return s.config.Open(ctx, o, s.metrics.call)
}

// SignInAddress makes an address that signs in a browser once, as whoever has Config.Local: at an origin of the process, unless Config has a
// public URL.
func (s *Service) SignInAddress(origin string) (string, error) {
	address, err := s.auth.SignInAddress()
	if err == nil && s.config.PublicURL == nil {
		address = origin + address
	}
	return address, err
}

// Run answers requests at the listeners, and tries cases, until the context ends. Then it takes no new requests and cases, and those that
// it has may go on for Config.Stop. started is called when it is ready. It closes the listeners.
func (s *Service) Run(ctx context.Context, started func(), listeners ...net.Listener) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	server := s.config.Times.Server(s.handler)
	server.ErrorLog = slog.NewLogLogger(s.config.Log.Handler(), slog.LevelWarn)
	server.TLSConfig = s.config.TLS
	pool := httplimit.NewPool(s.config.Connections)
	var all sync.WaitGroup
	for _, l := range listeners {
		all.Go(func() {
			serve := server.Serve
			if s.config.TLS != nil {
				serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
			}
			if err := serve(pool.Listener(l)); !errors.Is(err, http.ErrServerClosed) {
				cancel(fmt.Errorf("serve at %s: %w", l.Addr(), err))
			}
		})
	}
	if s.config.Role != RoleWorker {
		all.Go(func() { s.checkIssuer(ctx) })
		all.Go(func() {
			s.every(ctx, reviewTick, s.decideAgain, "the trust policy could not decide about the modules in force")
		})
	}
	begin := sync.OnceFunc(func() {
		s.ready.Store(true)
		if started != nil {
			started()
		}
	})
	if s.worker == nil {
		begin()
	} else {
		all.Go(func() {
			if err := s.worker.Run(ctx, begin); err != nil && ctx.Err() == nil {
				cancel(err)
			}
		})
	}
	<-ctx.Done()
	s.ready.Store(false)
	close(s.stop)
	stopping, done := context.WithTimeout(context.WithoutCancel(ctx), s.config.Stop)
	defer done()
	if err := server.Shutdown(stopping); err != nil {
		_ = server.Close()
	}
	all.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// every does something at once and after each tick, until the context ends, and logs its errors.
func (s *Service) every(ctx context.Context, tick time.Duration, do func(context.Context) error, fault string) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := do(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrFull) { // of that the store tells
			s.config.Log.WarnContext(ctx, fault, "error", err) //nolint:sloglint // a constant of each caller
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}
