package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Host tries cases. It is safe for concurrent use; the caller closes it.
type Host struct {
	court    *court.Court
	contents record.Contents // of records
	// borrowed says that the court's modules belong to another Host, see WithCasebook.
	borrowed bool
}

// Open checks the pipeline, loads the modules that it needs, checks them against it and warms them. The error is a
// pipeline.Errors, a *RejectedError with every fault of every module, a *CandidateError, a *CacheError, bundle.ErrNotBuilt, or
// one of the file system or the context.
func Open(ctx context.Context, config Config) (*Host, error) {
	c, err := court.Open(ctx, config.court())
	if err != nil {
		return nil, err
	}
	h := &Host{court: c, contents: config.Record}
	if err := h.Swap(ctx, config.Modules); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	return h, nil
}

// CheckSwap tells whether Open would accept config.Modules in which only the changed modules, by name, are new: those are
// compiled and called once, the others are checked by their manifests. The error is that of Open.
func CheckSwap(ctx context.Context, config Config, changed []string) error {
	c, err := court.Open(ctx, config.court())
	if err != nil {
		return err
	}
	files, err := c.Read(ctx, config.Modules)
	if err == nil {
		err = c.CheckSwap(ctx, files, changed)
	}
	return errors.Join(err, c.Close(context.WithoutCancel(ctx)))
}

// Modules are the digests of the modules in force, by name; a fresh map. Nil when the host is closed.
func (h *Host) Modules(ctx context.Context) map[string]string { return h.court.Digests(ctx) }

// Swap replaces modules by name, all or none, while trials go on: a trial keeps the modules that it began with. modules holds
// all NAME.wasm files that the pipeline names; unchanged ones are not loaded again. The error is a *RejectedError with every
// fault; then nothing has changed.
func (h *Host) Swap(ctx context.Context, modules fs.FS) error {
	files, err := h.court.Read(ctx, modules)
	if err != nil {
		return err
	}
	return h.court.Install(ctx, files)
}

// Try tries one case. An invalid case is an *abi.ValidationError, a case that nobody has classified is [ErrNoLight]; whatever
// goes wrong inside the trial is a mistrial in the result.
func (h *Host) Try(ctx context.Context, subject abi.Case) (*trial.Trial, error) {
	out, err := h.court.Try(ctx, subject, court.Options{})
	return out.Trial, err
}

// TryRecorded is [Host.Try] with the record of the trial, which is nil where Config.Record is empty.
func (h *Host) TryRecorded(ctx context.Context, subject abi.Case) (*trial.Trial, *record.Trial, error) {
	out, err := h.court.Try(ctx, subject, court.Options{Recorder: h.recorder()})
	return out.Trial, out.Record, err
}

// recorder of a trial; nil where none is recorded.
func (h *Host) recorder() *court.Recorder {
	if h.contents == "" {
		return nil
	}
	return court.NewRecorder(h.contents)
}

// Pipeline is the definition in force.
func (h *Host) Pipeline() *pipeline.Definition { return h.court.Graph().Definition() }

// Configuration lists all that results depend on besides the cases: the pipelines, the modules in force, the profile, the limits, the
// casebook and the source. Hosts with equal configurations give equal results. What a
// [Light] of the caller's own depends on is the caller's to add.
func (h *Host) Configuration(ctx context.Context) ([]record.Part, error) {
	return h.court.Configuration(ctx)
}

// RecordHeader gives the header of a record of this host's trials. configuration is that of the host, and what the caller adds to it.
func (h *Host) RecordHeader(configuration []record.Part) (*record.Header, error) {
	return h.court.Header(h.contents, configuration)
}

// WithCasebook gives a Host that answers modules from another casebook, nil for none. Both have the same modules, which a Swap of
// either replaces, and both may try cases at the same time: so that each of many dockets sees its own revision of a casebook.
// Closing it does nothing; it can't be used after the one that it was made from is closed.
func (h *Host) WithCasebook(c Casebook) *Host { return h.borrow(h.court.WithCasebook(c)) }

// WithObserver gives a Host that tells observe of every call of a module, after Config.Observe: so that each of many trials can be told apart.
// It shares everything else with the one that it was made from, as one of [Host.WithCasebook] does.
func (h *Host) WithObserver(observe func(CallRecord)) *Host {
	return h.borrow(h.court.WithObserver(observe))
}

func (h *Host) borrow(c *court.Court) *Host {
	other := *h
	other.court, other.borrowed = c, true
	return &other
}

// Close waits for the trials that are going on and frees everything.
func (h *Host) Close(ctx context.Context) error {
	if h.borrowed {
		return nil
	}
	return h.court.Close(ctx)
}

// Tried is what came of one entry of a docket: a Trial, or an Err that says why there is none.
type Tried struct {
	Entry docket.Entry
	Trial *trial.Trial
	// Record of the trial; nil unless Config.Record asks for it.
	Record *record.Trial
	Err    error
}

// TryAll tries the entries of a docket with a number of workers (0: one for each processor) and yields them in docket order. Entries are
// read as they are needed, so that a docket may be larger than memory. An error of an entry is passed on in its place. When the context
// ends, no further entry is read, and every entry that was read is yielded: one that was not tried to the end has an Err that wraps the
// cause of the context.
func (h *Host) TryAll(ctx context.Context, entries iter.Seq2[docket.Entry, error], workers int) iter.Seq[Tried] {
	read := func(yield func(Tried) bool) {
		for entry, err := range entries {
			if !yield(Tried{Entry: entry, Err: err}) {
				return
			}
		}
	}
	return court.Ordered(ctx, read, workers, func(ctx context.Context, tried Tried) Tried {
		h.tryEntry(ctx, &tried)
		return tried
	})
}

// tryEntry tries an entry that has no error.
func (h *Host) tryEntry(ctx context.Context, tried *Tried) {
	if tried.Err == nil && ctx.Err() != nil {
		tried.Err = fmt.Errorf("case %q: %w", tried.Entry.Case.ID, context.Cause(ctx))
	}
	if tried.Err != nil {
		return
	}
	out, err := h.court.Try(ctx, tried.Entry.Case, court.Options{Recorder: h.recorder()})
	tried.Trial, tried.Record, tried.Err = out.Trial, out.Record, err
	if t := tried.Trial; t != nil {
		t.Truth = tried.Entry.Truth
		t.Stand(tried.Entry.Members)
		maps.Copy(t.LabelNames, tried.Entry.LabelNames)
	}
}
