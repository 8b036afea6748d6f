package court

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/court/state"
	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/quotes"
)

// auditTrial audits one opinion. One goroutine traverses and merges; branches only read.
type auditTrial struct {
	proceeding // for what is asked outside of branches
	audit      *Audit
	opinion    *audit.Subject
	names      foreignNames // what documents and items of the case are called
	merged     func()       // says that the merges of a node are over
	branches   []*invoker
	ttl        context.Context //nolint:containedctx // the time of this audit, beside the traversal's

	documents  []abi.Document    // that collectors read: the opinion and those of the case
	quotes     *quotes.Documents // of documents
	caseQuotes *quotes.Documents // of the case's documents alone, by the names that they have there

	facts    audit.Facts
	dissents map[string]string // of the first round, by criterion
	findings []audit.Finding
}

// try audits one opinion; the recorder may be nil.
func (a *Audit) try(ctx context.Context, modules Modules, subject audit.Subject, recorder *Recorder) (*audit.Outcome, error) {
	subject.Documents = slices.Clone(subject.Documents)
	cuts := docket.CutDocuments(subject.Documents, abi.DefaultDocumentBytes, abi.DefaultCaseDocumentBytes)
	subject.Opinion.CaseID = cmp.Or(subject.Opinion.CaseID, trial.Unnamed)
	subject.Opinion.CourtName = cmp.Or(subject.Opinion.CourtName, trial.Unnamed)
	out := &audit.Outcome{
		Rubric: a.rubric.Name, CaseID: subject.Opinion.CaseID, CourtName: subject.Opinion.CourtName, Modules: a.digests(modules),
	}
	for _, c := range cuts {
		out.Cut = append(out.Cut, audit.Cut{Document: c.Name, Bytes: c.Bytes, Kept: c.Kept})
	}
	err := checkSubject(&subject)
	if err == nil {
		t := a.newTrial(modules, &subject, recorder)
		err = t.run(ctx, out)
	}
	if err != nil {
		return nil, fmt.Errorf("opinion on %q: %w", subject.Opinion.CaseID, err)
	}
	return out, nil
}

func (a *Audit) newTrial(modules Modules, subject *audit.Subject, recorder *Recorder) *auditTrial {
	names := foreignTo(subject)
	s := newSession(&a.config.Services, a.Runtime, modules, &abi.Case{ID: subject.Opinion.CaseID}, recorder)
	t := &auditTrial{
		proceeding: proceeding{invoker: s.invoker(a.graph), state: state.New()}, audit: a, opinion: subject, names: names,
		merged:     func() {},
		documents:  slices.Concat([]abi.Document{{Name: opinionName, Text: subject.Opinion.Text}}, names.documents(subject)),
		caseQuotes: quotes.Of(subject.Documents), dissents: make(map[string]string),
	}
	t.quotes = quotes.Of(t.documents)
	if recorder != nil { // it is told what the state is after all merges of a node: in between it depends on which branch came first
		var last [32]byte
		t.state = state.Watched(func(digest [32]byte) { last = digest })
		t.merged = func() { recorder.merged(last) }
	}
	weights := a.rubric.ScoreWeights()
	t.state.ScoreReports(func(results []abi.CriterionResult) float64 { return audit.GlobalScore(results, weights) })
	return t
}

// run goes through the graph. Errors are those of the caller's context, and faults of the graph.
func (t *auditTrial) run(ctx context.Context, out *audit.Outcome) error {
	ttl, cancel := context.WithTimeout(ctx, t.graph.Definition().Court.TTL)
	defer cancel()
	t.ttl = ttl
	if err := t.begin(); err != nil {
		return err
	}
	outcome, err := traverse.Run(ctx, t.graph, t, traverse.Config{})
	if err != nil {
		return err
	}
	out.Path, out.State, out.Findings = outcome.Path(), t.state.Snapshot(), t.findings
	if out.State.Report == nil {
		return fmt.Errorf("the traversal of %s ended at %s without a report", t.graph.Definition().Pipeline, outcome.End)
	}
	out.Report, out.Errors = *out.State.Report, out.State.Errors
	for _, branch := range t.branches {
		t.usage.spend(branch.usage.fuel)
	}
	out.Fuel = t.usage.fuel
	return nil
}

// checkSubject checks a subject against the rules that its types don't state.
func checkSubject(s *audit.Subject) error {
	var c abi.Collector
	if s.Opinion.Text == "" {
		c.Add(abi.CodeEmpty, "is empty", abi.Field("opinion"), abi.Field("text"))
	}
	for i := range s.Documents {
		name := s.Documents[i].Name
		if slices.ContainsFunc(s.Documents[:i], func(d abi.Document) bool { return d.Name == name }) {
			c.Add(abi.CodeDuplicateName, "a document of this name stands before", abi.Field("documents"), abi.Index(i), abi.Field("name"))
		}
	}
	return c.Err()
}

// begin puts the opinion and the evidence of the case into the state.
func (t *auditTrial) begin() error {
	update := &abi.Update{Opinions: []abi.OpinionEntry{{At: abi.Position{Node: t.graph.Start().Name}, Opinion: t.opinion.Opinion}}}
	if items := t.opinion.Evidence; len(items) > 0 {
		update.Evidences = map[string][]abi.Evidence{channelCase: mapItems(items, func(e *abi.Evidence) abi.Evidence {
			own := *e
			own.SourceRef = t.names.name(own.SourceRef)
			return own
		})}
	}
	// A judge may cite the text itself, above all to say what it accuses.
	t.facts.Add(opinionName, abi.QuoteUnclaimed, "")
	defer t.merged()
	return t.state.Apply(update)
}

// Visit does the work of a node.
func (t *auditTrial) Visit(ctx context.Context, node *pipeline.Node, visit int) (again bool, err error) {
	defer t.merged()
	switch node.Family {
	case abi.FamilyCollect:
		return false, t.collect(ctx, node, visit)
	case abi.FamilyJudge:
		return t.askJudges(ctx, node, visit)
	case abi.FamilySynthesize:
		return false, t.synthesize()
	default:
		return false, t.conclude()
	}
}

// Ask puts the edges of a node to their modules.
func (t *auditTrial) Ask(_ context.Context, node *pipeline.Node, edges []*pipeline.Edge) ([]traverse.Answer, error) {
	return t.edges(t.ttl, node, edges, abi.EdgeRequest{}) //nolint:contextcheck // it is the traversal's, with the time of the audit
}

// branch is what one persona or judge does at a node.
type branch struct {
	who string
	run func(v *invoker) (*abi.Update, error)
}

// maxBranches is how many branches run at once: each has an instance of its module, and so memory of its own.
const maxBranches = 32

// fanOut runs branches, each with a session of its own, which others do not influence, and merges what they give as it comes. limit is
// how many run at once.
func (t *auditTrial) fanOut(ctx context.Context, node *pipeline.Node, visit, limit int, branches []branch) error {
	type arrival struct {
		update *abi.Update
		err    error
	}
	runs := make([]func() arrival, len(branches))
	for i := range branches {
		b := &branches[i]
		v := newSession(t.services, t.runtime, t.modules, t.subject, t.recorder.branch(b.who)).invoker(t.graph)
		t.branches = append(t.branches, v)
		runs[i] = func() arrival {
			update, err := b.run(v)
			if err != nil && ctx.Err() == nil {
				at := abi.Position{Node: node.Name, Pass: visit, Sequence: i}
				update, err = &abi.Update{Errors: []abi.NodeError{nodeError(err, at, b.who)}}, nil
			}
			return arrival{update, err}
		}
	}
	var fatal error
	merge := func(a arrival) {
		if a.err == nil {
			a.err = t.state.Apply(a.update)
		}
		fatal = cmp.Or(fatal, a.err)
	}
	arrange := t.audit.config.Arrange
	if arrange == nil {
		traverse.FanOut(runs, limit, func(_ int, a arrival) { merge(a) })
		return fatal
	}
	held := make([]arrival, len(runs))
	traverse.FanOut(runs, limit, func(i int, a arrival) { held[i] = a })
	for _, i := range arrange(len(held)) {
		merge(held[i])
	}
	return fatal
}

// nodeError states the failure of a branch.
func nodeError(err error, at abi.Position, who string) abi.NodeError {
	if f, ok := errors.AsType[*trial.Failure](err); ok {
		return abi.NodeError{At: at, Persona: who, Digest: f.Module, Cause: string(f.Code), Detail: f.Detail}
	}
	cause := trial.CauseTTL
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		cause = trial.CauseHost
	}
	return abi.NodeError{At: at, Persona: who, Cause: string(cause), Detail: err.Error()}
}

// synthesize derives one result for each criterion.
func (t *auditTrial) synthesize() error {
	snapshot := t.state.Snapshot()
	missing := make(map[string]string)
	for i := range snapshot.Errors {
		e := &snapshot.Errors[i]
		at, _ := t.graph.Node(e.At.Node)
		if _, known := missing[e.Persona]; !known && at.Family == abi.FamilyJudge {
			missing[e.Persona] = e.Cause
		}
	}
	rubric := t.audit.rubric
	results := make(map[string]abi.CriterionResult, len(rubric.Criteria))
	t.findings = make([]audit.Finding, len(rubric.Criteria))
	for i := range rubric.Criteria {
		c := &rubric.Criteria[i]
		t.findings[i] = audit.Synthesize(c, &audit.Judgement{
			Opinions: snapshot.Judgements[c.ID], Missing: missing, Facts: &t.facts, Dissent: t.dissents[c.ID],
		})
		t.findings[i].Description, t.findings[i].Weighing = c.Description, t.audit.weighings[i]
		results[c.ID] = t.findings[i].Result
	}
	return t.state.Apply(&abi.Update{CriterionResults: results})
}

// conclude derives the report.
func (t *auditTrial) conclude() error {
	report, err := audit.Conclude(t.audit.rubric, t.findings, t.state.Snapshot().Errors)
	if err != nil {
		return err
	}
	return t.state.Apply(&abi.Update{Report: &report})
}
