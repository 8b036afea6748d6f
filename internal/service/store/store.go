// Package store keeps what the docket service knows: dockets with their cases and verdicts, corrections, generations of
// modules, tokens and the audit log, in SQLite or in PostgreSQL. All SQL of the service is here, one text for both databases.
//
// Cases and their documents are content-addressed: equal ones are kept once. A verdict is one row, unique by the digest of its
// case, the generation of modules and the digest of the configuration. Every change is one transaction, which notifies
// subscribers.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config of a Store.
type Config struct {
	// Database is a postgres:// or postgresql:// URL, or the name of a SQLite file, which is made where it is missing. Its folder must exist.
	Database string
	// Now is the clock. Required.
	Now func() time.Time
	// Logger gets lost connections and what retention removes. Default: none.
	Logger *slog.Logger
}

// Store keeps what the service knows. It is safe for concurrent use; the caller closes it.
type Store struct {
	config Config
	db     *database
	hub    *hub
	full   atomic.Bool  // whether a change failed with ErrFull, and none was made since fullPause after the last that did
	begun  time.Time    // for times by the monotonic clock
	failed atomic.Int64 // when a change last failed with ErrFull, in nanoseconds since begun
	held   atomic.Int64 // changes that wait for room: small ones that succeed meanwhile say nothing about them
	stop   context.CancelFunc
	done   chan struct{}
}

// IsPostgres says whether a Config.Database names a PostgreSQL server.
func IsPostgres(database string) bool {
	return strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://")
}

// Open connects to a database without looking at its tables: call [Store.Migrate] or [Store.CheckSchema] next. The context
// limits the connecting alone.
func Open(ctx context.Context, config Config) (*Store, error) {
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	s := &Store{config: config, hub: &hub{subs: map[*subscriber]bool{}}, begun: time.Now(), done: make(chan struct{})} //nolint:forbidigo // a duration, by the monotonic clock
	var err error
	if IsPostgres(config.Database) {
		s.db, err = openPostgres(ctx, &config, s.hub.send)
	} else {
		s.db, err = openSQLite(ctx, &config, s.hub.send)
	}
	if err != nil {
		return nil, err
	}
	listening, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	go func() {
		defer close(s.done)
		s.db.listen(listening, s.hub.send, func(err error) {
			config.Logger.Warn("the connection that listens for changes was lost", "error", err)
			s.hub.send(Event{Kind: EventResync})
		})
	}()
	return s, nil
}

// Close closes the connections. Subscriptions end.
func (s *Store) Close() {
	s.stop()
	<-s.done
	s.hub.close()
	s.db.close()
}

// Database is "sqlite" or "postgres".
func (s *Store) Database() string { return s.db.name() }

// Ping says whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	var n int64
	return one(ctx, s.db, `SELECT 1`, nil, &n)
}

// fullPause is how long no change must have failed for want of room until the database counts as written again: small changes
// succeed on a disk that has no room for large ones.
const fullPause = 10 * time.Second

// write changes the database, and says in the log when it can't be written any more, and when it can again.
func (s *Store) write(ctx context.Context, do func(*tx) error) error {
	err := s.db.write(ctx, do)
	now := time.Since(s.begun)
	switch {
	case errors.Is(err, ErrFull):
		s.failed.Store(int64(now))
		if s.full.CompareAndSwap(false, true) {
			s.config.Logger.ErrorContext(ctx, "changes fail until the database can be written again", "error", err)
		}
	case err == nil && s.full.Load() && s.held.Load() == 0 && now-time.Duration(s.failed.Load()) >= fullPause && s.full.CompareAndSwap(true, false):
		s.config.Logger.WarnContext(ctx, "the database can be written again")
	}
	return err
}

// change runs one statement.
func (s *Store) change(ctx context.Context, query string, args ...any) error {
	return s.write(ctx, func(t *tx) error {
		t.run(ctx, query, args...)
		return nil
	})
}

// Writable says whether the database takes changes, as far as is known: ErrFull while a change waits for room, and for some time after
// one failed; then it tries another.
func (s *Store) Writable(ctx context.Context) error {
	if s.held.Load() > 0 {
		return ErrFull
	}
	if !s.full.Load() {
		return nil
	}
	// SQLite does not write what stays the same.
	err := s.change(ctx, `INSERT INTO counters (name, value) VALUES ('writable', 1) ON CONFLICT (name) DO UPDATE SET value = counters.value + 1`)
	if err == nil && s.full.Load() {
		return ErrFull
	}
	return err
}

// now is the time in microseconds since 1970, as the tables have it.
func (s *Store) now() int64 { return s.config.Now().UnixMicro() }

// Errors that callers may distinguish.
var (
	// ErrNotFound: there is no such row.
	ErrNotFound = errors.New("not found")
	// ErrKeyReused: a docket with this idempotency key has another body, or other parameters.
	ErrKeyReused = errors.New("the idempotency key belongs to a docket with another body or other parameters")
	// ErrTooLarge: an upload has more cases, or a case has more bytes, than the store takes.
	ErrTooLarge = errors.New("too large")
	// ErrState: what was asked for is not possible in this state.
	ErrState = errors.New("not possible in this state")
	// ErrLabel: a correction with a label that a case doesn't have.
	ErrLabel = errors.New("not a label of the case")
	// ErrFull: the database's disk is full or can't be written, or the server takes no changes. What was committed before is kept,
	// and nothing is lost that is tried again.
	ErrFull = errors.New("the database can't be written: its disk is full, or it is read-only")
)

// MigrationError says that the tables of the database are not those of this program.
type MigrationError struct {
	Database string
	// Pending are the migrations to run; empty where the database is of a newer program, or TooOld.
	Pending []string
	// TooOld: it is of a version before the first release.
	TooOld bool
}

func (e *MigrationError) Error() string {
	if e.TooOld {
		return fmt.Sprintf("the %s database is of a version before the first release: begin with a new one", e.Database)
	}
	if len(e.Pending) == 0 {
		return fmt.Sprintf("the %s database belongs to a newer version of shadowcourt: update this program", e.Database)
	}
	return fmt.Sprintf("the %s database lacks %d migrations (%s): run `shadowcourt serve migrate` with the same --database or --data",
		e.Database, len(e.Pending), strings.Join(e.Pending, ", "))
}

// channel is that of PostgreSQL's NOTIFY.
const channel = "shadowcourt"

// EventKind says what changed.
type EventKind string

// The kinds of events.
const (
	EventDocket     EventKind = "docket"     // ID: trials, state or counts of a docket
	EventGeneration EventKind = "generation" // ID: a generation was added or put in force
	EventCorrection EventKind = "correction" // ID: a correction, or its undoing
	// EventResync: changes may have been missed. Read again what you show.
	EventResync EventKind = "resync"
)

// Event says that something changed; what, is in the tables.
type Event struct {
	Kind EventKind
	ID   int64
}

// String gives the event as it is notified.
func (e Event) String() string { return string(e.Kind) + ":" + strconv.FormatInt(e.ID, 10) }

func parseEvent(s string) (Event, bool) {
	kind, id, ok := strings.Cut(s, ":")
	n, err := strconv.ParseInt(id, 10, 64)
	return Event{EventKind(kind), n}, ok && err == nil
}

// hub passes events on to the subscribers of this process.
type hub struct {
	mu     sync.Mutex
	subs   map[*subscriber]bool
	closed bool
}

type subscriber struct{ out chan Event }

// subscriberBuffer is how many events wait for a subscriber. One that is slower gets an EventResync in their place.
const subscriberBuffer = 64

func (h *hub) send(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		select {
		case s.out <- e:
			continue
		default:
		}
		for len(s.out) > 0 { // only send, which holds the lock, fills it
			select {
			case <-s.out:
			default:
			}
		}
		s.out <- Event{Kind: EventResync}
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.subs {
		close(s.out)
		delete(h.subs, s)
	}
}

// Subscribe gives the changes from now on, of this process and of all others, until the context ends or the store is closed;
// then the channel is closed. A subscriber that falls behind by 64 events gets an EventResync in place of those that it missed.
// Within a limit the events of dockets and corrections beyond it are left out.
func (s *Store) Subscribe(ctx context.Context) <-chan Event {
	all := s.subscribe(ctx)
	if limitOf(ctx) == nil {
		return all
	}
	own := make(chan Event)
	go func() {
		defer close(own)
		for e := range all {
			var err error
			switch e.Kind {
			case EventDocket:
				_, err = s.Docket(ctx, e.ID)
			case EventCorrection:
				_, err = s.Correction(ctx, e.ID)
			case EventGeneration, EventResync: // they are about all repositories
			}
			if isNotFound(err) {
				continue // one that retention removed is in no list either
			}
			select {
			case own <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return own
}

func (s *Store) subscribe(ctx context.Context) <-chan Event {
	sub := &subscriber{out: make(chan Event, subscriberBuffer)}
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(sub.out)
		return sub.out
	}
	h.subs[sub] = true
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.subs[sub] {
			delete(h.subs, sub)
			close(sub.out)
		}
	})
	return sub.out
}
