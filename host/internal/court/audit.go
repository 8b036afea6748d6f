package court

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// maxJudgeRounds is how often judges are asked: once, and again after a dissent.
const maxJudgeRounds = 2

// AuditConfig is what an Audit needs. Only Now is required.
type AuditConfig struct {
	Sandbox
	Services
	// Pipeline of the audit. Default: the shipped audit.
	Pipeline *pipeline.Definition
	// Rubric to audit by. Default: the shipped court-opinions.
	Rubric *audit.Rubric
	// Arrange says for tests in which order the results of n branches are merged, in place of that in which they come. Optional.
	Arrange func(n int) []int
}

// Audit audits opinions by a graph and a rubric: collectors read the documents, judges score the criteria of the rubric, the host
// synthesizes and concludes. It is read-only: concurrent audits are safe.
//
// Collectors and judges are branches that run side by side. Each gives an update of the state, and the reducers merge the updates in
// the order in which they come: no order changes a byte of the outcome. A branch that fails is an entry in the channel errors, and
// leaves the audit degraded.
type Audit struct {
	*Runtime
	config    AuditConfig
	graph     *pipeline.Graph
	rubric    *audit.Rubric
	scored    map[string][]*audit.Criterion // by judge
	weighings []audit.Weighing              // of the rubric's criteria
}

// OpenAudit checks pipeline and rubric, and opens a sandbox, which has no modules yet. Its errors are pipeline.Errors, what makes the
// pipeline none of an audit, and a *CacheError.
func OpenAudit(ctx context.Context, config AuditConfig) (*Audit, error) {
	a, err := NewAudit(config)
	if err != nil {
		return nil, err
	}
	a.Runtime = &Runtime{needs: AuditNeeds(a.graph.Definition(), a.rubric)}
	for i := range a.needs {
		a.names = append(a.names, a.needs[i].Module)
	}
	return a, a.open(ctx, config.Sandbox, a.config.Logger)
}

// NewAudit makes an Audit without a sandbox: it audits with modules that its caller gives.
func NewAudit(config AuditConfig) (*Audit, error) {
	var err error
	if config.Pipeline == nil {
		if config.Pipeline, err = pipeline.LoadFS(pipelines.FS, pipelines.Audit); err != nil {
			return nil, fmt.Errorf("the shipped pipeline: %w", err)
		}
	}
	if config.Rubric == nil {
		if config.Rubric, err = audit.LoadFS(pipelines.FS, pipelines.CourtOpinions); err != nil {
			return nil, fmt.Errorf("the shipped rubric: %w", err)
		}
	}
	if err := config.Rubric.Validate(); err != nil {
		return nil, err
	}
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	a := &Audit{config: config, rubric: config.Rubric, scored: config.Rubric.Scored(), weighings: config.Rubric.Weighings()}
	if a.graph, err = pipeline.NewGraph(config.Pipeline); err != nil {
		return nil, err
	}
	if err := checkAuditGraph(config.Pipeline, config.Rubric); err != nil {
		return nil, fmt.Errorf("pipeline %s: %w", config.Pipeline.Pipeline, err)
	}
	return a, nil
}

// checkAuditGraph checks that a pipeline is one of an audit.
func checkAuditGraph(def *pipeline.Definition, rubric *audit.Rubric) error {
	var faults []error
	count := make(map[abi.Family]int)
	for i := range def.Nodes {
		n := &def.Nodes[i]
		count[n.Family]++
		switch n.Family {
		case abi.FamilyCollect:
			if len(n.Personas) == 0 {
				faults = append(faults, fmt.Errorf("node %q names nobody who collects", n.Name))
			}
		case abi.FamilyJudge, abi.FamilySynthesize, pipeline.FamilyConclude:
			if len(n.Personas) > 0 {
				faults = append(faults, fmt.Errorf("node %q names personas: at a node of the family %s the rubric says who acts", n.Name, n.Family))
			}
			if n.Rounds > maxJudgeRounds {
				faults = append(faults, fmt.Errorf("node %q has %d rounds: judges are asked %d times at most", n.Name, n.Rounds, maxJudgeRounds))
			}
		default:
			faults = append(faults, fmt.Errorf("node %q is of the family %s, which has no part in an audit", n.Name, n.Family))
		}
	}
	for _, family := range []abi.Family{abi.FamilyJudge, abi.FamilySynthesize, pipeline.FamilyConclude} {
		if count[family] != 1 {
			faults = append(faults, fmt.Errorf("an audit has one node of the family %s, this pipeline has %d", family, count[family]))
		}
	}
	for i := range rubric.Judges {
		if _, taken := def.Persona(rubric.Judges[i].ID); taken {
			faults = append(faults, fmt.Errorf("the judge %q has the name of a persona of the pipeline", rubric.Judges[i].ID))
		}
	}
	return errors.Join(faults...)
}

// Rubric in force.
func (a *Audit) Rubric() *audit.Rubric { return a.rubric }

// Try audits one opinion; nil modules mean those in force. What goes wrong with a module is in the outcome; the error is
// registry.ErrClosed, an *abi.ValidationError of the subject, or the context's.
func (a *Audit) Try(ctx context.Context, modules Modules, subject audit.Subject) (*audit.Outcome, error) {
	modules, release, err := a.orInForce(ctx, modules)
	if err != nil {
		return nil, err
	}
	defer release()
	return a.try(ctx, modules, subject, nil)
}

// AuditTrial audits the opinion of a trial's verdict, if there is one, and puts the audit into its result and its record.
// courtName is the name of the court; nil modules mean those in force. recorded and recorder are nil where nothing is recorded.
func (a *Audit) AuditTrial(ctx context.Context, modules Modules, t *trial.Trial, courtName string, recorded *record.Trial, recorder *Recorder) error {
	subject, ok := OpinionOf(t, courtName)
	if !ok {
		return nil
	}
	modules, release, err := a.orInForce(ctx, modules)
	if err != nil {
		return err
	}
	defer release()
	o, err := a.try(ctx, modules, subject, recorder)
	if err != nil {
		return err
	}
	t.Result.Audit = AuditOf(o)
	if recorder == nil {
		return nil
	}
	return recorder.endAudit(recorded, courtName, a.parts(modules), t.Result.Audit)
}

// Configuration lists all that audits depend on besides the opinions: the pipeline, the rubric, the limits and the modules.
func (a *Audit) Configuration(ctx context.Context) ([]record.Part, error) {
	graph, rubric, err := a.texts()
	if err != nil {
		return nil, err
	}
	parts := []record.Part{
		{Name: "audit pipeline", Digest: record.DigestOf(graph)},
		{Name: "rubric", Digest: record.DigestOf(rubric)},
		{Name: "limits of audit calls", Digest: record.DigestOf(a.limitsText())},
	}
	return a.appendModules(ctx, parts, "audit module ")
}

// Header is what the header of a record of trials with audits has besides that of the court.
func (a *Audit) Header() (*record.AuditHeader, error) {
	graph, rubric, err := a.texts()
	if err != nil {
		return nil, err
	}
	return &record.AuditHeader{Pipeline: string(graph), Rubric: string(rubric), Limits: a.CallLimits()}, nil
}

// texts are pipeline and rubric in YAML.
func (a *Audit) texts() (graph, rubric []byte, err error) {
	if graph, err = pipeline.Marshal(a.graph.Definition()); err != nil {
		return nil, nil, err
	}
	rubric, err = audit.Marshal(a.rubric)
	return graph, rubric, err
}

// digests maps collectors and judges to the digests of their modules.
func (a *Audit) digests(modules Modules) map[string]string {
	m := make(map[string]string)
	def := a.graph.Definition()
	for i := range def.Personas {
		m[def.Personas[i].ID] = modules.Digest(def.Personas[i].Module)
	}
	for i := range a.rubric.Judges {
		m[a.rubric.Judges[i].ID] = modules.Digest(a.rubric.Judges[i].Module)
	}
	return m
}
