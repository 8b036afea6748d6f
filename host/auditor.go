package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/auditing"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/registry"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// AuditConfig says what an Auditor is opened on. Its zero value is useful: the
// shipped pipeline and rubric with the shipped modules.
type AuditConfig struct {
	// Pipeline to walk. Default: the shipped audit.
	Pipeline *pipeline.Definition
	// Rubric to audit by. Default: the shipped court-opinions.
	Rubric *audit.Rubric
	// Host has what an audit shares with a court: Modules, CacheDir, Limits, Store,
	// Logger, Now, Observe. The rest of it is not looked at. Observe may be called
	// from several goroutines at once.
	Host Config

	arrange func(n int) []int // for tests: the order in which branches are merged
}

// Auditor audits opinions. It is safe for concurrent use; the caller closes it.
type Auditor struct {
	host   *Host
	audit  *auditing.Audit
	rubric *audit.Rubric
}

// OpenAuditor loads the modules of collectors and judges, checks them against
// pipeline and rubric, and warms them. Its errors are those of Open.
func OpenAuditor(ctx context.Context, config AuditConfig) (*Auditor, error) {
	a, err := preparedAuditor(config)
	if err != nil {
		return nil, err
	}
	if err := a.load(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// preparedAuditor is an Auditor without a sandbox.
func preparedAuditor(config AuditConfig) (*Auditor, error) {
	if config.Host.Now == nil {
		config.Host.Now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	if err := config.complete(); err != nil {
		return nil, err
	}
	h := &Host{config: config.Host}
	var err error
	if h.graph, err = pipeline.NewGraph(config.Pipeline); err != nil {
		return nil, err
	}
	a := &Auditor{host: h, rubric: config.Rubric}
	a.audit, err = auditing.New(h.graph, config.Rubric, auditing.Config{Logger: config.Host.Logger, Arrange: config.arrange})
	if err != nil {
		return nil, fmt.Errorf("pipeline %s: %w", config.Pipeline.Pipeline, err)
	}
	return a, nil
}

// complete takes what is shipped for what is not given.
func (c *AuditConfig) complete() error {
	var err error
	if c.Pipeline == nil {
		if c.Pipeline, err = pipeline.LoadFS(pipelines.FS, pipelines.Audit); err != nil {
			return fmt.Errorf("the shipped pipeline: %w", err)
		}
	}
	if c.Rubric == nil {
		if c.Rubric, err = audit.LoadFS(pipelines.FS, pipelines.CourtOpinions); err != nil {
			return fmt.Errorf("the shipped rubric: %w", err)
		}
	}
	return c.Rubric.Validate()
}

func (a *Auditor) load(ctx context.Context) error {
	files, err := runtime.ReadModules(ctx, a.host.config.Modules, a.modules(), a.host.config.sleep)
	if err != nil {
		return err
	}
	if err := a.host.openSandbox(ctx); err != nil {
		return err
	}
	if err := a.replace(ctx, files); err != nil {
		return errors.Join(err, a.host.engine.Close(ctx))
	}
	return nil
}

// needs are what the pipeline wants of the collectors, and the rubric of the judges.
func (a *Auditor) needs() []registry.Need {
	return runtime.AuditNeeds(a.host.graph.Definition(), a.rubric)
}

// Audit audits one opinion. What goes wrong with a module is in the outcome,
// whose errors name it; a subject that breaks the contract is a
// *abi.ValidationError.
func (a *Auditor) Audit(ctx context.Context, subject audit.Subject) (*audit.Outcome, error) {
	o, _, err := a.audited(ctx, subject, nil)
	return o, err
}

// audited is Audit on a trail, which may be nil; with one it gives the modules, too.
func (a *Auditor) audited(ctx context.Context, subject audit.Subject, trail *trail) (*audit.Outcome, []record.Part, error) {
	generation, err := a.host.registry.Acquire()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = generation.Release(context.WithoutCancel(ctx)) }()
	return a.auditIn(ctx, generation, subject, trail)
}

// auditIn is audited with the modules of a generation.
func (a *Auditor) auditIn(ctx context.Context, generation *registry.Generation, subject audit.Subject, trail *trail) (*audit.Outcome, []record.Part, error) {
	subject.Documents = slices.Clone(subject.Documents)
	cuts := docket.CutDocuments(subject.Documents, abi.DefaultDocumentBytes, abi.DefaultCaseDocumentBytes)
	if subject.Opinion.CaseID == "" {
		subject.Opinion.CaseID = unknown
	}
	if subject.Opinion.CourtName == "" {
		subject.Opinion.CourtName = unknown
	}
	s := &auditSession{session: &session{
		host: a.host, generation: generation, graph: a.host.graph, account: newAccount(), subject: &abi.Case{ID: subject.Opinion.CaseID},
	}}
	s.trail = trail
	outcome, err := a.audit.Try(ctx, &subject, s)
	if err != nil {
		return nil, nil, fmt.Errorf("opinion on %q: %w", subject.Opinion.CaseID, err)
	}
	outcome.Fuel = s.spent()
	for _, c := range cuts {
		outcome.Cut = append(outcome.Cut, audit.Cut{Document: c.Name, Bytes: c.Bytes, Kept: c.Kept})
	}
	if trail == nil {
		return outcome, nil, nil
	}
	return outcome, a.host.parts(generation), nil
}

// unknown stands for a case and a court that an opinion does not name.
const unknown = trial.Unnamed

// Rubric gives the rubric in force.
func (a *Auditor) Rubric() *audit.Rubric { return a.rubric }

// Modules are the digests of the modules in force, by name; a fresh map. Nil
// when the Auditor is closed.
func (a *Auditor) Modules(ctx context.Context) map[string]string {
	generation, err := a.host.registry.Acquire()
	if err != nil {
		return nil
	}
	defer func() { _ = generation.Release(context.WithoutCancel(ctx)) }()
	return generation.Digests()
}

// Close waits for the audits that are going on and frees everything.
func (a *Auditor) Close(ctx context.Context) error { return a.host.Close(ctx) }
