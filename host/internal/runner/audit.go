package runner

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/auditing"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// AuditConfig is what an Audit needs. The zero value is useful.
type AuditConfig struct {
	// Pipeline of the audit. Default: the shipped audit.
	Pipeline *pipeline.Definition
	// Rubric to audit by. Default: the shipped court-opinions.
	Rubric *audit.Rubric
	// Logger gets one record for each rejected artifact. Default: none.
	Logger *slog.Logger
	// Arrange is for tests: the order in which branches are merged.
	Arrange func(n int) []int
}

// Audit audits opinions by a pipeline and a rubric. It is read-only: concurrent audits are safe. The modules are those of the
// generation that each call brings.
type Audit struct {
	graph  *pipeline.Graph
	audit  *auditing.Audit
	rubric *audit.Rubric
}

// NewAudit checks and indexes pipeline and rubric.
func NewAudit(config AuditConfig) (*Audit, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	a := &Audit{rubric: config.Rubric}
	var err error
	if a.graph, err = pipeline.NewGraph(config.Pipeline); err != nil {
		return nil, err
	}
	a.audit, err = auditing.New(a.graph, config.Rubric, auditing.Config{Logger: config.Logger, Arrange: config.Arrange})
	if err != nil {
		return nil, fmt.Errorf("pipeline %s: %w", config.Pipeline.Pipeline, err)
	}
	return a, nil
}

// complete fills in the defaults.
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

// Rubric in force.
func (a *Audit) Rubric() *audit.Rubric { return a.rubric }

// Modules names the modules of collectors and judges.
func (a *Audit) Modules() []string {
	needs := a.needs()
	names := make([]string, len(needs))
	for i := range needs {
		names[i] = needs[i].Module
	}
	return names
}

func (a *Audit) needs() []registry.Need { return runtime.AuditNeeds(a.graph.Definition(), a.rubric) }

// Install keeps files in the store, and makes them the current modules of a runtime, all or none.
func (a *Audit) Install(ctx context.Context, r *runtime.Runtime, files map[string]sandbox.File) error {
	if err := r.Keep(files); err != nil {
		return err
	}
	return r.Install(ctx, files, a.needs(), nil)
}

// Audit audits one opinion with the modules of a generation. The recorder may be nil. What goes wrong with a module is in the
// outcome; the error is an *abi.ValidationError of the subject, or the context's.
func (a *Audit) Audit(ctx context.Context, g *runtime.Generation, subject audit.Subject, recorder *runtime.Recorder) (*audit.Outcome, error) {
	subject.Documents = slices.Clone(subject.Documents)
	cuts := docket.CutDocuments(subject.Documents, abi.DefaultDocumentBytes, abi.DefaultCaseDocumentBytes)
	if subject.Opinion.CaseID == "" {
		subject.Opinion.CaseID = unknown
	}
	if subject.Opinion.CourtName == "" {
		subject.Opinion.CourtName = unknown
	}
	of := &abi.Case{ID: subject.Opinion.CaseID}
	s := &auditSession{Session: g.Trial(of, recorder).Session(a.graph), generation: g, graph: a.graph, subject: of, recorder: recorder}
	outcome, err := a.audit.Try(ctx, &subject, s)
	if err != nil {
		return nil, fmt.Errorf("opinion on %q: %w", subject.Opinion.CaseID, err)
	}
	outcome.Fuel = s.fuel()
	for _, c := range cuts {
		outcome.Cut = append(outcome.Cut, audit.Cut{Document: c.Name, Bytes: c.Bytes, Kept: c.Kept})
	}
	return outcome, nil
}

// unknown stands for a case and a court that an opinion does not name.
const unknown = trial.Unnamed

// AuditTrial audits the opinion of a trial's verdict, if there is one, and puts the audit into its result and its record.
// court is the name of the court. recorded and recorder are nil where nothing is recorded.
func (a *Audit) AuditTrial(ctx context.Context, g *runtime.Generation, trial *trial.Trial, court string, recorded *record.Trial, recorder *runtime.Recorder) error {
	subject, ok := OpinionOf(trial, court)
	if !ok {
		return nil
	}
	o, err := a.Audit(ctx, g, subject, recorder)
	if err != nil {
		return err
	}
	trial.Result.Audit = AuditOf(o)
	if recorder == nil {
		return nil
	}
	return recorder.EndAudit(recorded, court, runtime.Parts(g.Digests()), trial.Result.Audit)
}

// Configuration lists all that audits depend on besides the opinions: the pipeline, the rubric, the limits and the modules.
func (a *Audit) Configuration(g *runtime.Generation) ([]record.Part, error) {
	graph, rubric, err := a.texts()
	if err != nil {
		return nil, err
	}
	parts := []record.Part{
		{Name: "audit pipeline", Digest: record.DigestOf(graph)},
		{Name: "rubric", Digest: record.DigestOf(rubric)},
		{Name: "limits of audit calls", Digest: record.DigestOf(fmt.Appendf(nil, "%+v", g.Runtime().Limits()))},
	}
	digests := g.Digests()
	for _, name := range a.Modules() {
		parts = append(parts, record.Part{Name: "audit module " + name, Digest: record.Digest(digests[name])})
	}
	return parts, nil
}

// Header is what the header of a record of trials with audits has beside that of the court.
func (a *Audit) Header(calls record.CallLimits) (*record.AuditHeader, error) {
	graph, rubric, err := a.texts()
	if err != nil {
		return nil, err
	}
	return &record.AuditHeader{Pipeline: string(graph), Rubric: string(rubric), Limits: calls}, nil
}

// texts are pipeline and rubric in YAML.
func (a *Audit) texts() (graph, rubric []byte, err error) {
	if graph, err = pipeline.Marshal(a.graph.Definition()); err != nil {
		return nil, nil, err
	}
	rubric, err = audit.Marshal(a.rubric)
	return graph, rubric, err
}

// auditSession makes the calls of an audit outside of its branches, and forks the sessions of branches. One goroutine uses it.
type auditSession struct {
	*runtime.Session
	generation *runtime.Generation
	graph      *pipeline.Graph
	subject    *abi.Case
	recorder   *runtime.Recorder // nil where nothing is recorded
	branches   []*runtime.Session
}

// Fork makes the session of a branch, with a recorder and answers of its own: other branches do not influence it.
func (s *auditSession) Fork(who string) invoker.JudgeModules {
	branch := s.generation.Trial(s.subject, s.recorder.Branch(who)).Session(s.graph)
	s.branches = append(s.branches, branch)
	return branch
}

// fuel of the session and all branches, which have ended; nil where it is not metered.
func (s *auditSession) fuel() *uint64 {
	for _, branch := range s.branches {
		s.Join(branch.Trial)
	}
	return s.Usage().Fuel
}
