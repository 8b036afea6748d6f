package host

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"time"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// AuditConfig of an Auditor. Its zero value is useful: the shipped pipeline and rubric with the shipped modules.
type AuditConfig struct {
	// Pipeline of the audit. Default: the shipped audit.
	Pipeline *pipeline.Definition
	// Rubric to audit by. Default: the shipped court-opinions.
	Rubric *audit.Rubric
	// Modules, Signed, CacheDir, Limits, Store and Logger are as those of a [Config].
	Modules  fs.FS
	Signed   map[record.Digest]Signature
	CacheDir string
	Limits   Limits
	Store    *record.Store
	Logger   *slog.Logger
	// Now is the clock of the duration of calls. Default: time.Now.
	Now func() time.Time
	// Observe is called after every call of a module, from several goroutines at once. Optional.
	Observe func(CallRecord)

	forTests
}

// Auditor audits opinions. It is safe for concurrent use; the caller closes it.
type Auditor struct{ audit *court.Audit }

// OpenAuditor loads the modules of collectors and judges, checks them against
// pipeline and rubric, and warms them. Its errors are those of Open.
func OpenAuditor(ctx context.Context, config AuditConfig) (*Auditor, error) {
	a, err := court.OpenAudit(ctx, court.AuditConfig{
		Sandbox:  sandboxOf(config.CacheDir, nil, config.Limits, config.Store, config.Signed, &config.forTests),
		Services: court.Services{Logger: config.Logger, Now: clock(config.Now), Observe: config.Observe},
		Pipeline: config.Pipeline, Rubric: config.Rubric, Arrange: config.arrange,
	})
	if err != nil {
		return nil, err
	}
	files, err := a.Read(ctx, config.Modules)
	if err == nil {
		err = a.Install(ctx, files)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	return &Auditor{a}, nil
}

// Audit audits one opinion. What goes wrong with a module is in the outcome, whose errors name it; a subject that breaks the contract is a
// *abi.ValidationError.
func (a *Auditor) Audit(ctx context.Context, subject audit.Subject) (*audit.Outcome, error) {
	return a.audit.Try(ctx, nil, subject)
}

// Probe finds parameters of the rubric that a judge's module rejects, before any opinion is audited. Each judge that has parameters is
// asked for its opinion on a sentence: one that fails with them, and does not without, rejects them. The error is a pipeline.Errors with
// every such judge, by its place in the rubric; or the context's. The calls are seen by Observe.
func (a *Auditor) Probe(ctx context.Context) error { return a.audit.Probe(ctx) }

// Rubric in force.
func (a *Auditor) Rubric() *audit.Rubric { return a.audit.Rubric() }

// Modules are the digests of the modules in force, by name; a fresh map. Nil when the Auditor is closed.
func (a *Auditor) Modules(ctx context.Context) map[string]string { return a.audit.Digests(ctx) }

// Configuration lists all that audits depend on besides the opinions, as that
// of a Host: the pipeline, the rubric, the limits and the modules in force.
func (a *Auditor) Configuration(ctx context.Context) ([]record.Part, error) {
	return a.audit.Configuration(ctx)
}

// RecordHeader gives what records of trials with audits by this Auditor need to
// have in their header besides what [Host.RecordHeader] gives.
func (a *Auditor) RecordHeader() (*record.AuditHeader, error) { return a.audit.Header() }

// Follow is [Host.Follow] for the modules of collectors and judges: an audit keeps those that it began with. Watch.Modules has all
// NAME.wasm files that pipeline and rubric name.
func (a *Auditor) Follow(ctx context.Context, w Watch) { follow(ctx, a.audit.Runtime, w) }

// Close waits for the audits that are going on and frees everything.
func (a *Auditor) Close(ctx context.Context) error { return a.audit.Close(ctx) }

// Audited is what came of one opinion of a file: an Audit, or an Err that says why there is none.
type Audited struct {
	Entry docket.OpinionEntry
	Audit *trial.Audit
	Err   error
}

// AuditAll audits opinions with a number of workers (0: one for each processor) and returns them in order. An error of an entry is passed
// on in its place.
func (a *Auditor) AuditAll(ctx context.Context, entries iter.Seq2[docket.OpinionEntry, error], workers int) iter.Seq[Audited] {
	in := func(yield func(Audited) bool) {
		for entry, err := range entries {
			if !yield(Audited{Entry: entry, Err: err}) {
				return
			}
		}
	}
	return court.Ordered(ctx, in, workers, func(ctx context.Context, one Audited) Audited {
		if one.Err != nil {
			return one
		}
		e := &one.Entry
		var o *audit.Outcome
		o, one.Err = a.Audit(ctx, audit.Subject{Opinion: e.Opinion, Evidence: e.Evidence, Documents: e.Documents})
		if one.Err == nil {
			one.Audit = court.AuditOf(o)
			one.Audit.Source, one.Audit.Line, one.Audit.Item = e.Source, e.Line, e.Item
			one.Audit.CutDocuments = docket.CutAgain(e.Cut, one.Audit.CutDocuments)
		}
		return one
	})
}

// AuditTrials audits the opinion of every verdict of trials, and puts it into their results, and into their records where they have one.
// courtName is the name of the court. Trials pass in order. A trial whose audit the end of the context interrupted has that as its Err.
func (a *Auditor) AuditTrials(ctx context.Context, trials iter.Seq[Tried], courtName string, workers int) iter.Seq[Tried] {
	return court.Ordered(ctx, trials, workers, func(ctx context.Context, tried Tried) Tried {
		if tried.Err != nil || tried.Trial == nil {
			return tried
		}
		var recorder *court.Recorder
		if tried.Record != nil {
			recorder = court.NewRecorder(tried.Record.Kept)
		}
		if err := a.audit.AuditTrial(ctx, nil, tried.Trial, courtName, tried.Record, recorder); err != nil {
			return Tried{Entry: tried.Entry, Err: err}
		}
		return tried
	})
}
