package host

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/runner"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// AuditConfig of an Auditor. Its zero value is useful: the shipped pipeline and rubric with the shipped modules.
type AuditConfig struct {
	// Pipeline of the audit. Default: the shipped audit.
	Pipeline *pipeline.Definition
	// Rubric to audit by. Default: the shipped court-opinions.
	Rubric *audit.Rubric
	// Modules, CacheDir, Limits, Store and Logger are as those of a [Config].
	Modules  fs.FS
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
type Auditor struct {
	audit   *runner.Audit
	runtime *runtime.Runtime
}

// OpenAuditor loads the modules of collectors and judges, checks them against
// pipeline and rubric, and warms them. Its errors are those of Open.
func OpenAuditor(ctx context.Context, config AuditConfig) (*Auditor, error) {
	a := &Auditor{}
	var err error
	a.audit, err = runner.NewAudit(runner.AuditConfig{
		Pipeline: config.Pipeline, Rubric: config.Rubric, Logger: config.Logger, Arrange: config.arrange,
	})
	if err != nil {
		return nil, err
	}
	files, err := runtime.ReadModules(ctx, config.Modules, a.audit.Modules(), config.sleep)
	if err != nil {
		return nil, err
	}
	a.runtime, err = openRuntime(ctx, runtime.Config{
		CacheDir: config.CacheDir, Limits: sandboxLimits(config.Limits), Store: config.Store,
		Logger: config.Logger, Now: clock(config.Now), Observe: observer(config.Observe), Reset: config.reset, CallClock: config.callClock,
	})
	if err != nil {
		return nil, err
	}
	if err := a.install(ctx, files); err != nil {
		return nil, errors.Join(err, a.runtime.Close(ctx))
	}
	return a, nil
}

// Audit audits one opinion. What goes wrong with a module is in the outcome,
// whose errors name it; a subject that breaks the contract is a
// *abi.ValidationError.
func (a *Auditor) Audit(ctx context.Context, subject audit.Subject) (o *audit.Outcome, err error) {
	err = a.runtime.With(ctx, func(g *runtime.Generation) error {
		o, err = a.audit.Audit(ctx, g, subject, nil)
		return err
	})
	return o, err
}

// Probe finds parameters of the rubric that a judge's module rejects, before any
// opinion is audited. Each judge that has parameters is asked for its opinion on a
// sentence: one that fails with them, and does not without, rejects them. The
// error is a pipeline.Errors with every such judge, by its place in the
// rubric; or the context's. The calls are seen by Observe.
func (a *Auditor) Probe(ctx context.Context) error {
	return a.runtime.With(ctx, func(g *runtime.Generation) error { return a.audit.Probe(ctx, g) })
}

// Rubric in force.
func (a *Auditor) Rubric() *audit.Rubric { return a.audit.Rubric() }

// Modules are the digests of the modules in force, by name; a fresh map. Nil
// when the Auditor is closed.
func (a *Auditor) Modules(ctx context.Context) (digests map[string]string) {
	_ = a.runtime.With(ctx, func(g *runtime.Generation) error {
		digests = g.Digests()
		return nil
	})
	return digests
}

// Configuration lists all that audits depend on besides the opinions, as that
// of a Host: the pipeline, the rubric, the limits and the modules in force.
func (a *Auditor) Configuration(ctx context.Context) (parts []record.Part, err error) {
	err = a.runtime.With(ctx, func(g *runtime.Generation) error {
		parts, err = a.audit.Configuration(g)
		return err
	})
	return parts, err
}

// RecordHeader gives what records of trials with audits by this Auditor need to
// have in their header beside what [Host.RecordHeader] gives.
func (a *Auditor) RecordHeader() (*record.AuditHeader, error) {
	return a.audit.Header(a.runtime.CallLimits())
}

// Follow is [Host.Follow] for the modules of collectors and judges: an audit
// keeps those that it began with. Watch.Modules has all NAME.wasm files that
// pipeline and rubric name.
func (a *Auditor) Follow(ctx context.Context, w Watch) { follow(ctx, a, w) }

func (a *Auditor) install(ctx context.Context, files map[string]sandbox.File) error {
	return rejected(a.audit.Install(ctx, a.runtime, files))
}

func (a *Auditor) needed() []string { return a.audit.Modules() }

// Close waits for the audits that are going on and frees everything.
func (a *Auditor) Close(ctx context.Context) error { return a.runtime.Close(ctx) }
