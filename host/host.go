package host

import (
	"context"
	"errors"
	"io/fs"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/runner"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Host tries cases. It is safe for concurrent use; the caller closes it.
type Host struct {
	court    *runner.Court
	runtime  *runtime.Runtime
	contents record.Contents // of records
	sleep    runtime.Sleep
	// borrowed says that the runtime belongs to another Host, see WithCasebook.
	borrowed bool
	// scheduled says that trials compete for experiments, so that each is first tried by reading. A Light of the caller's own and language
	// models may cost more than it is worth to be asked twice.
	scheduled bool
}

// Open checks the pipeline, loads the modules that it needs, checks them against it and warms them. The error is a
// pipeline.Errors, a *RejectedError with every fault of every module, a *CandidateError, a *CacheError, bundle.ErrNotBuilt, or
// one of the file system or the context.
func Open(ctx context.Context, config Config) (*Host, error) {
	h, files, err := open(ctx, &config)
	if err != nil {
		return nil, err
	}
	if err := h.court.Install(ctx, h.runtime, files); err != nil {
		return nil, errors.Join(rejected(err), h.runtime.Close(ctx))
	}
	return h, nil
}

// open prepares a Host, and reads its modules without installing them.
func open(ctx context.Context, config *Config) (*Host, map[string]sandbox.File, error) {
	h := &Host{contents: config.Record, sleep: config.sleep, scheduled: config.Experiments != nil && config.Light == nil && config.Models == nil}
	var err error
	if h.court, err = config.court(); err != nil {
		return nil, nil, err
	}
	files, err := runtime.ReadModules(ctx, config.Modules, h.court.Modules(), config.sleep)
	if err != nil {
		return nil, nil, err
	}
	h.runtime, err = openRuntime(ctx, config.runtime())
	return h, files, err
}

func openRuntime(ctx context.Context, config runtime.Config) (*runtime.Runtime, error) {
	r, err := runtime.Open(ctx, config)
	if err != nil {
		return nil, &CacheError{Dir: config.CacheDir, Err: err}
	}
	return r, nil
}

// CheckSwap tells whether Open would accept config.Modules in which only the changed modules, by name, are new: those are
// compiled and called once, the others are checked by their manifests. The error is that of Open.
func CheckSwap(ctx context.Context, config Config, changed []string) error {
	h, files, err := open(ctx, &config)
	if err != nil {
		return err
	}
	err = rejected(h.court.CheckSwap(ctx, h.runtime, files, changed))
	return errors.Join(err, h.runtime.Close(context.WithoutCancel(ctx)))
}

// Modules are the digests of the modules in force, by name; a fresh map. Nil
// when the host is closed.
func (h *Host) Modules(ctx context.Context) (digests map[string]string) {
	_ = h.runtime.With(ctx, func(g *runtime.Generation) error {
		digests = h.court.Digests(g)
		return nil
	})
	return digests
}

// Swap replaces modules by name, all or none, while trials go on: a trial keeps the modules that it began with. modules holds
// all NAME.wasm files that the pipeline names; unchanged ones are not loaded again. The error is a *RejectedError with every
// fault; then nothing has changed.
func (h *Host) Swap(ctx context.Context, modules fs.FS) error {
	files, err := runtime.ReadModules(ctx, modules, h.court.Modules(), h.sleep)
	if err != nil {
		return err
	}
	return h.install(ctx, files)
}

func (h *Host) install(ctx context.Context, files map[string]sandbox.File) error {
	return rejected(h.court.Install(ctx, h.runtime, files))
}

// needed names the modules of the pipelines.
func (h *Host) needed() []string { return h.court.Modules() }

// Try tries one case. An invalid case is an *abi.ValidationError, a case that nobody has classified is [ErrNoLight]; whatever
// goes wrong inside the trial is a mistrial in the result.
func (h *Host) Try(ctx context.Context, subject abi.Case) (*trial.Trial, error) {
	t, _, err := h.try(ctx, subject, nil, nil)
	return t, err
}

// TryRecorded is [Host.Try] with the record of the trial, which is nil where
// Config.Record is empty.
func (h *Host) TryRecorded(ctx context.Context, subject abi.Case) (*trial.Trial, *record.Trial, error) {
	return h.try(ctx, subject, h.recorder(), nil)
}

// recorder of a trial; nil where none is recorded.
func (h *Host) recorder() *runtime.Recorder {
	if h.contents == "" {
		return nil
	}
	return runtime.NewRecorder(h.contents)
}

// try tries a case. Where asked is not nil, no experiments are run, and it says whether a persona asked for one.
func (h *Host) try(ctx context.Context, subject abi.Case, recorder *runtime.Recorder, asked *bool) (t *trial.Trial, recorded *record.Trial, err error) {
	err = h.runtime.With(ctx, func(g *runtime.Generation) error {
		t, recorded, err = h.court.Try(ctx, g, subject, recorder, asked)
		return err
	})
	return t, recorded, err
}

// Pipeline is the definition in force.
func (h *Host) Pipeline() *pipeline.Definition { return h.court.Graph().Definition() }

// Graph of the court, for drawing.
func (h *Host) Graph() *pipeline.Graph { return h.court.Graph() }

// Configuration lists all that results depend on besides the cases: the
// pipelines, the modules in force, the profile, the limits, the casebook and
// the source. Hosts with equal configurations give equal results. What a
// [Light] of the caller's own depends on is the caller's to add.
func (h *Host) Configuration(ctx context.Context) (parts []record.Part, err error) {
	err = h.runtime.With(ctx, func(g *runtime.Generation) error {
		parts, err = h.court.Configuration(g)
		return err
	})
	return parts, err
}

// RecordHeader gives the header of a record of this host's trials.
// configuration is that of the host, and what the caller adds to it.
func (h *Host) RecordHeader(configuration []record.Part) (*record.Header, error) {
	return h.court.Header(h.contents, configuration, h.runtime.CallLimits())
}

// WithCasebook gives a Host that answers modules from another casebook, nil for none. Both have the same modules, which a Swap of
// either replaces, and both may try cases at the same time: so that each of many dockets sees its own revision of a casebook.
// Closing it does nothing; it can't be used after the one that it was made from is closed.
func (h *Host) WithCasebook(c Casebook) *Host {
	other := *h
	other.runtime, other.borrowed = h.runtime.WithCasebook(c), true
	return &other
}

// WithObserver gives a Host that tells observe of every call of a module, after Config.Observe: so that each of many trials can be told apart.
// It shares everything else with the one that it was made from, as one of [Host.WithCasebook] does.
func (h *Host) WithObserver(observe func(CallRecord)) *Host {
	other := *h
	other.runtime, other.borrowed = h.runtime.WithObserver(observer(observe)), true
	return &other
}

// Close waits for the trials that are going on and frees everything.
func (h *Host) Close(ctx context.Context) error {
	if h.borrowed {
		return nil
	}
	return h.runtime.Close(ctx)
}
