package work

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Opening is what a host of one generation and one format is opened on.
type Opening struct {
	// Format is that of the dockets whose cases it tries, as internal/run names it: it decides on classifier and profile.
	Format string
	// Answered: Light's answers come with the cases, so that no Light path is asked.
	Answered bool
	// Modules are those of the generation; nil for those that this program embeds.
	Modules fs.FS
	// Signed says who signed those that came from a registry, and by which policy, by their digests.
	Signed map[record.Digest]host.Signature
	// Files are its pipelines, profiles and rubrics, by the names of store.Parts.Files. One that is not there is the embedded one.
	Files map[string][]byte
	// Canary and Share are those of a host.Candidate; none where Canary is empty.
	Canary map[string][]byte
	Share  float64
	// Experiments that its trials may run; nil for none.
	Experiments host.Experiments
}

// fleet are the open hosts of a worker, by generation and format; a docket that may run experiments has one of its own. It is safe for concurrent use.
type fleet struct {
	shelf[hostKey, *fleetHost]
	store        *store.Store
	open         func(context.Context, *Opening) (*host.Host, error)
	laboratories *Laboratories // nil: no docket runs experiments
	logger       *slog.Logger
}

func newFleet(config *Config) *fleet {
	f := &fleet{store: config.Store, open: config.Open, laboratories: config.Laboratories, logger: config.Logger}
	f.openOne, f.close = f.openHost, (*fleetHost).close
	return f
}

type hostKey struct {
	generation int64
	format     string
	answered   bool   // Light's answers come with the cases
	docket     int64  // with experiments; else 0
	revision   string // of the docket
}

// fleetHost is an open host.
type fleetHost struct {
	host       *host.Host
	laboratory Laboratory // nil for none
	docket     int64      // that has the laboratory

	mu      sync.Mutex
	configs map[bookKey]*configured
}

func (f *fleet) openHost(ctx context.Context, key hostKey) (*fleetHost, error) {
	o, err := readOpening(ctx, f.store, key.generation, key.format)
	if err != nil {
		return nil, err
	}
	h := &fleetHost{docket: key.docket, configs: map[bookKey]*configured{}}
	o.Answered = key.answered
	if key.docket != 0 {
		if h.laboratory, err = f.openLaboratory(ctx, key); err != nil {
			return nil, err
		}
		o.Experiments = h.laboratory
	}
	if h.host, err = f.open(ctx, o); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

func (h *fleetHost) close() (err error) {
	if h.host != nil {
		err = h.host.Close(context.Background())
	}
	if h.laboratory != nil {
		err = errors.Join(err, h.laboratory.Close())
	}
	return err
}
