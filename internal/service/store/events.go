package store

import (
	"context"
	"strconv"
	"strings"
	"sync"
)

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

func newHub() *hub { return &hub{subs: map[*subscriber]bool{}} }

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
