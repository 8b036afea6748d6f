package auditing

import (
	"context"
	"errors"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/internal/state"
	"github.com/shadowcourt/shadowcourt/host/internal/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/quotes"
)

// runner audits one opinion. One goroutine traverses and merges; branches
// only read.
type runner struct {
	audit   *Audit
	modules Modules
	own     invoker.Invoker // for what is asked outside of branches
	subject *audit.Subject
	names   foreign // what documents and items of the case are called
	state   *state.State
	merged  func()          // says that the merges of a node are over
	calls   context.Context //nolint:containedctx // the time of this audit, beside the traversal's

	documents  []abi.Document    // that collectors read: the opinion and those of the case
	quotes     *quotes.Documents // of documents
	caseQuotes *quotes.Documents // of the case's documents alone, by the names that they have there

	facts    audit.Facts
	dissents map[string]string // of the first round, by criterion
	findings []audit.Finding
	out      *audit.Outcome
}

// watch begins the state. Only what it is after all merges of a node is told: in
// between it depends on which branch came first.
func (t *runner) watch() {
	if told := invoker.Merged(t.modules); told == nil {
		t.state, t.merged = state.New(), func() {}
	} else {
		var last [32]byte
		t.state = state.Watched(func(digest [32]byte) { last = digest })
		t.merged = func() { told(last) }
	}
	weights := t.audit.rubric.ScoreWeights()
	t.state.ScoreReports(func(results []abi.CriterionResult) float64 { return audit.GlobalScore(results, weights) })
}

// begin puts the opinion and the evidence of the case into the state.
func (t *runner) begin() error {
	update := &abi.Update{Opinions: []abi.OpinionEntry{{At: abi.Position{Node: t.audit.graph.Start().Name}, Opinion: t.subject.Opinion}}}
	if items := t.subject.Evidence; len(items) > 0 {
		own := make([]abi.Evidence, len(items))
		for i := range items {
			own[i] = items[i]
			own[i].SourceRef = t.names.name(own[i].SourceRef)
		}
		update.Evidences = map[string][]abi.Evidence{channelCase: own}
	}
	// A judge may cite the text itself, above all to say what it accuses.
	t.facts.Add(opinionName, abi.QuoteUnclaimed, "")
	defer t.merged()
	return t.state.Apply(update)
}

// Visit does the work of a node.
func (t *runner) Visit(ctx context.Context, node *pipeline.Node, visit int) (again bool, err error) {
	defer t.merged()
	switch node.Family {
	case pipeline.FamilyCollect:
		return false, t.collect(ctx, node, visit)
	case pipeline.FamilyJudge:
		return t.judge(ctx, node, visit)
	case pipeline.FamilySynthesize:
		return false, t.synthesize()
	default:
		return false, t.conclude()
	}
}

// Ask puts the edges of a node to their modules.
func (t *runner) Ask(_ context.Context, node *pipeline.Node, edges []*pipeline.Edge) ([]traverse.Answer, error) {
	return t.own.Edges(t.calls, node, edges, &abi.EdgeRequest{Node: node.Name, Family: abi.Family(node.Family)}) //nolint:contextcheck // it is the traversal's, with the time of the audit
}

// branch is what one persona or judge does at a node.
type branch struct {
	who, module string
	run         func(p invoker.Invoker, modules invoker.JudgeModules) (*abi.Update, error)
}

// arrived is what came of a branch.
type arrived struct {
	update *abi.Update
	err    error
}

// maxBranches is how many branches run at once: each has an instance of its
// module, and so memory of its own.
const maxBranches = 32

// fan runs branches, and merges what they give as it comes. limit is how many
// run at once.
func (t *runner) fan(ctx context.Context, node *pipeline.Node, visit, limit int, branches []branch) error {
	runs := make([]func() arrived, len(branches))
	for i := range branches {
		modules := t.modules.Fork(branches[i].who)
		runs[i] = func() arrived {
			update, err := branches[i].run(invoker.Invoker{Modules: modules, Log: t.audit.log}, modules)
			if err != nil && ctx.Err() == nil {
				at := abi.Position{Node: node.Name, Pass: visit, Sequence: i}
				update, err = &abi.Update{Errors: []abi.NodeError{nodeError(err, at, &branches[i])}}, nil
			}
			return arrived{update, err}
		}
	}
	var fatal error
	merge := func(a arrived) {
		if a.err == nil {
			a.err = t.state.Apply(a.update)
		}
		if fatal == nil {
			fatal = a.err
		}
	}
	if t.audit.arrange == nil {
		traverse.FanOut(runs, limit, func(_ int, a arrived) { merge(a) })
		return fatal
	}
	held := make([]arrived, len(runs))
	traverse.FanOut(runs, limit, func(i int, a arrived) { held[i] = a })
	for _, i := range t.audit.arrange(len(held)) {
		merge(held[i])
	}
	return fatal
}

// nodeError states the failure of a branch.
func nodeError(err error, at abi.Position, b *branch) abi.NodeError {
	if f, ok := errors.AsType[*trial.Failure](err); ok {
		return abi.NodeError{At: at, Persona: b.who, Digest: f.Module, Cause: string(f.Code), Detail: f.Detail}
	}
	cause := trial.CauseTTL
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		cause = trial.CauseHost
	}
	return abi.NodeError{At: at, Persona: b.who, Cause: string(cause), Detail: err.Error()}
}

// synthesize derives one result for each criterion.
func (t *runner) synthesize() error {
	snapshot := t.state.Snapshot()
	missing := make(map[string]string)
	for i := range snapshot.Errors {
		e := &snapshot.Errors[i]
		if _, known := missing[e.Persona]; !known && e.At.Node == t.judges().Name {
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

// judges is the node of the judges.
func (t *runner) judges() *pipeline.Node {
	nodes := t.audit.graph.Definition().Nodes
	for i := range nodes {
		if nodes[i].Family == pipeline.FamilyJudge {
			return &nodes[i]
		}
	}
	return nil // New has seen one
}

// conclude derives the report.
func (t *runner) conclude() error {
	report, err := audit.Conclude(t.audit.rubric, t.findings, t.state.Snapshot().Errors)
	if err != nil {
		return err
	}
	t.out.Findings = t.findings
	return t.state.Apply(&abi.Update{Report: &report})
}
