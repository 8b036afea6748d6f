package work

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"sync"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Opening is what a host of one generation and one format is opened on.
type Opening struct {
	// Format is that of the dockets whose cases it tries, as internal/run/input names it: it decides on classifier and profile.
	Format string
	// Answered: Light's answers come with the cases, so that no Light path is asked.
	Answered bool
	// Modules are those of the generation; nil for those that this program embeds.
	Modules fs.FS
	// Files are its pipelines, profiles and rubrics, by the names of store.Parts.Files. One that is not there is the embedded one.
	Files map[string][]byte
	// Canary and Share are those of a host.Candidate; none where Canary is empty.
	Canary map[string][]byte
	Share  float64
	// Experiments that its trials may run; nil for none.
	Experiments host.Experiments
}

// idleHosts is how many hosts stay open that nobody uses: a swap opens one beside those of dockets that are pinned.
const idleHosts = 4

// fleet are the open hosts of a worker, by generation and format; a docket that may run experiments has one of its own. It is safe for concurrent use.
type fleet struct {
	store        *store.Store
	open         func(context.Context, *Opening) (*host.Host, error)
	laboratories *Laboratories // nil: no docket runs experiments
	logger       *slog.Logger

	mu     sync.Mutex
	hosts  map[hostKey]*fleetHost
	clock  int64
	closed bool
}

type hostKey struct {
	generation int64
	format     string
	answered   bool   // Light's answers come with the cases
	docket     int64  // with experiments; else 0
	revision   string // of the docket
}

// fleetHost is a host that is open, or being opened.
type fleetHost struct {
	ready      chan struct{} // closed when host or err is set
	host       *host.Host
	laboratory Laboratory // nil for none
	docket     int64      // that has the laboratory
	err        error
	users      int
	used       int64 // the fleet's clock when it was last used
	configs    map[bookKey]*configured
}

var errFleetClosed = errors.New("the worker is stopping")

// get gives a host, opened if need be. The caller calls release once.
func (f *fleet) get(ctx context.Context, key hostKey) (h *fleetHost, release func(), err error) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, nil, errFleetClosed
	}
	h = f.hosts[key]
	opens := h == nil
	if opens {
		h = &fleetHost{ready: make(chan struct{}), configs: map[bookKey]*configured{}}
		f.hosts[key] = h
	}
	h.users++
	f.mu.Unlock()
	if opens {
		h.err = f.openHost(ctx, key, h)
		close(h.ready)
	}
	release = func() { f.release(key, h) }
	select {
	case <-h.ready:
	case <-ctx.Done():
		release()
		return nil, nil, context.Cause(ctx)
	}
	if h.err != nil {
		release()
		return nil, nil, h.err
	}
	return h, release, nil
}

func (f *fleet) openHost(ctx context.Context, key hostKey, h *fleetHost) error {
	o, err := readOpening(ctx, f.store, key.generation, key.format)
	if err != nil {
		return &readError{err}
	}
	o.Answered = key.answered
	if key.docket != 0 {
		if h.laboratory, err = f.openLaboratory(ctx, key); err != nil {
			return err
		}
		h.docket = key.docket
		o.Experiments = h.laboratory
	}
	if h.host, err = f.open(ctx, o); err != nil && h.laboratory != nil {
		err = errors.Join(err, h.laboratory.Close())
	}
	return err
}

// readError: a generation could not be read, which says nothing of its modules.
type readError struct{ err error }

// Error says why.
func (e *readError) Error() string { return e.err.Error() }

// Unwrap gives the reason.
func (e *readError) Unwrap() error { return e.err }

// release gives a host back. One that could not be opened is forgotten, to be tried again; of those that nobody uses the ones
// that were used last stay.
func (f *fleet) release(key hostKey, h *fleetHost) {
	f.mu.Lock()
	h.users--
	f.clock++
	h.used = f.clock
	var old []*fleetHost
	if h.err != nil && f.hosts[key] == h {
		delete(f.hosts, key)
	}
	old = f.idle(idleHosts)
	f.mu.Unlock()
	closeHosts(old)
}

// idle takes hosts that nobody uses out of the fleet, until at most so many are left.
func (f *fleet) idle(most int) []*fleetHost {
	var keys []hostKey
	for key, h := range f.hosts {
		if h.users == 0 {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b hostKey) int { return int(f.hosts[a].used - f.hosts[b].used) })
	var old []*fleetHost
	for _, key := range keys[:max(len(keys)-most, 0)] {
		old = append(old, f.hosts[key])
		delete(f.hosts, key)
	}
	return old
}

func closeHosts(list []*fleetHost) {
	for _, h := range list {
		if h.host != nil {
			_ = h.host.Close(context.Background())
		}
		if h.laboratory != nil {
			_ = h.laboratory.Close() // what it leaves in its temporary folder is removed later
		}
	}
}

// formats are those of the hosts that are open.
func (f *fleet) formats() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []string
	for key := range f.hosts {
		list = append(list, key.format)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// close closes the hosts that nobody uses; there are no others when the worker has stopped.
func (f *fleet) close() {
	f.mu.Lock()
	f.closed = true
	old := f.idle(0)
	f.mu.Unlock()
	closeHosts(old)
}
