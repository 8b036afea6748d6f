package court

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/internal/court/state"
	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// The bounds of one pass over a Light path.
const (
	// maxLoops is how often it may take an edge that goes back.
	maxLoops = 2
	// maxLightSteps is how many nodes it may visit.
	maxLightSteps = 100
)

// lightGraph is the checked graph of a Light path. It takes a case from the first look at it to a classification, with a persona's
// module at each node and the clerk at the edges, as the court does. Every item of evidence that is gathered there carries the element
// of its node. A case that the court sends back begins at the node of the family resolve, with the court's feedback.
type lightGraph struct {
	graph *pipeline.Graph
	again *pipeline.Node // where a case begins that came back
}

// newLightGraph checks a graph. It fails when that has a node that a Light path cannot traverse.
func newLightGraph(def *pipeline.Definition) (*lightGraph, error) {
	graph, err := pipeline.NewGraph(def)
	if err != nil {
		return nil, err
	}
	g := &lightGraph{graph: graph}
	for i := range def.Nodes {
		n := &def.Nodes[i]
		if _, ok := elementOfFamily(n.Family); !ok {
			err = fmt.Errorf("node %q: a Light path has no node of the family %q", n.Name, n.Family)
		} else {
			err = onePersona(n)
		}
		if err != nil {
			return nil, fmt.Errorf("pipeline %s: %w", def.Pipeline, err)
		}
		if n.Family == abi.FamilyResolve && g.again == nil {
			g.again = n
		}
	}
	g.again = cmp.Or(g.again, graph.Start())
	return g, nil
}

// elementOfFamily is that of the evidence of a family's nodes, where the pipeline
// names none; false for families that are none of a Light path.
func elementOfFamily(family abi.Family) (abi.Element, bool) {
	switch family {
	case abi.FamilyRecall, abi.FamilyTriage:
		return abi.Fire, true
	case abi.FamilyResolve:
		return abi.Earth, true
	case abi.FamilyInvestigate:
		return abi.Water, true
	case abi.FamilyCorrelate, abi.FamilyReport:
		return abi.Air, true
	case abi.FamilyReview:
		return abi.Diamond, true
	default:
		return "", false
	}
}

func elementOf(n *pipeline.Node) abi.Element {
	e, _ := elementOfFamily(n.Family)
	return cmp.Or(n.Element, e)
}

// lightPath is the Light of one trial: it answers by traversing the Light path, as often as the court asks. It is used by one goroutine.
type lightPath struct {
	proceeding
	path   *lightGraph
	domain *domain
	file   abi.LightFile // what the passes have come to
	passes []trial.LightPass

	// Of the pass that goes on:
	req      *LightRequest
	pass     *trial.LightPass
	before   []abi.Evidence // what was there before it
	gathered []abi.Evidence // what it brought
	channels []channel      // that hold it, one for each node
	profile  *abi.Profile   // what of it can count
	report   *abi.LightReport
	loops    int // that are left
}

// channel of the state that holds what a node gathered when it was last visited.
type channel struct{ node, name string }

func newLightPath(c *Court, s *session) *lightPath {
	return &lightPath{
		proceeding: proceeding{invoker: s.invoker(c.lightPath.graph), state: state.Watched(s.recorder.merges())},
		path:       c.lightPath, domain: &c.domain,
	}
}

// Answer traverses the graph: from its start, or after a remand from resolve. Its error is a *trial.Failure that names the module, or what
// else broke the traversal, or the context's.
func (l *lightPath) Answer(ctx context.Context, req LightRequest) (LightResponse, error) {
	l.passes = append(l.passes, trial.LightPass{})
	l.req, l.pass, l.before, l.channels = &req, &l.passes[len(l.passes)-1], req.Case.Evidence, nil
	l.loops, l.sequence = maxLoops, make(map[string]int)
	l.file.Feedback, l.report = req.Feedback, nil
	start, calls := l.graph.Start(), len(l.calls)
	if req.Feedback != nil {
		start, l.before = l.path.again, req.Evidence
	}
	l.refresh()
	outcome, err := traverse.Run(ctx, l.graph, l, traverse.Config{Start: start, MaxSteps: maxLightSteps, Ended: l.overdue, Moved: l.moved})
	l.pass.Path, l.pass.Steps, l.pass.Gathered, l.pass.Calls = outcome.Path(), stepsOf(outcome), l.gathered, l.calls[calls:]
	if err != nil {
		return LightResponse{}, stoppedLight(ctx, err)
	}
	response, err := l.conclude(outcome)
	if err != nil {
		return LightResponse{}, err
	}
	l.pass.Answer = &response.Answer
	return response, nil
}

// overdue stops a traversal whose time is over.
func (l *lightPath) overdue(ctx context.Context) error {
	switch over := l.recorder.isOver(ctx.Err() != nil); {
	case !over:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return context.DeadlineExceeded // as in the trial that is replayed
	}
}

// moved counts the edges that go back.
func (l *lightPath) moved(step *traverse.Step) {
	if e, ok := l.graph.Edge(step.EdgeID); ok && e.Loop {
		l.loops--
	}
}

// stoppedLight says what broke a traversal.
func stoppedLight(ctx context.Context, err error) error {
	var failure *trial.Failure
	var noEdge *traverse.NoEdgeError
	var limit *traverse.StepLimitError
	switch {
	case ctx.Err() != nil:
		return err
	case errors.As(err, &failure):
		return failure
	case errors.As(err, &noEdge):
		return brokenPath(trial.CauseNoEdge, noEdge.Node, noEdge.Error())
	case errors.As(err, &limit):
		return brokenPath(trial.CauseStepLimit, limit.Node, limit.Error())
	default:
		return err
	}
}

// brokenPath is a failure that no module is to blame for.
func brokenPath(cause trial.Cause, node, message string) error {
	return trial.NewFailure(cause, node, "", "pipeline", "", message)
}

// conclude draws the consequence of a traversal that came to an end: the report is the
// answer, or the conclusion of the node that the traversal ended at.
func (l *lightPath) conclude(outcome *traverse.Outcome) (LightResponse, error) {
	last := outcome.Steps[len(outcome.Steps)-1]
	if outcome.End != pipeline.EndDone {
		return LightResponse{}, brokenPath(trial.CauseGraph, last.Node, "a Light path ends at "+pipeline.EndDone+", not at "+outcome.End)
	}
	response := LightResponse{Evidence: l.gathered}
	if l.report != nil {
		response.Answer = abi.LightAnswer{
			Classification: l.report.Classification, Confidence: l.report.Confidence, Reasoning: l.report.Summary,
		}
		response.Remand = l.report.Remand
		return response, nil
	}
	answer, ok := l.conclusion(last.Node)
	if !ok {
		return LightResponse{}, brokenPath(trial.CauseGraph, last.Node, "the traversal is done and nothing names a label of the case")
	}
	response.Answer = answer
	if l.req.Feedback != nil {
		response.Remand = unanswered(l.req.Feedback)
	}
	return response, nil
}

// conclusion is what the node says that a traversal ended at without a report.
func (l *lightPath) conclusion(name string) (abi.LightAnswer, bool) {
	node, _ := l.graph.Node(name)
	answer := abi.LightAnswer{}
	switch node.Family { //nolint:exhaustive // the others conclude nothing
	case abi.FamilyCorrelate:
		c := l.file.Correlate
		answer = abi.LightAnswer{Classification: c.Classification, Confidence: c.Confidence, Reasoning: c.Reasoning}
		if i := l.file.Investigate; answer.Classification == "" && i != nil {
			answer.Classification = i.Classification // the linked case names no label of this one
		}
	case abi.FamilyRecall:
		r := l.file.Recall
		answer = abi.LightAnswer{Classification: r.Classification, Confidence: r.Confidence, Reasoning: r.Reasoning}
	case abi.FamilyInvestigate:
		i := l.file.Investigate
		answer = abi.LightAnswer{Classification: i.Classification, Confidence: i.ConvergenceScore, Reasoning: i.Summary}
	}
	return answer, answer.Classification != ""
}

// unanswered replies to a remand that nobody looked into.
func unanswered(feedback *abi.RemandFeedback) *abi.RemandAnswer {
	a := &abi.RemandAnswer{Answers: []abi.RemandReply{}, Challenged: []abi.ChallengedReply{}}
	for _, q := range feedback.Questions {
		a.Answers = append(a.Answers, abi.RemandReply{QuestionID: q.ID, Status: abi.NotFound})
	}
	seen := make(map[int]bool)
	for _, item := range feedback.Challenged {
		if !seen[item.EvidenceIndex] {
			seen[item.EvidenceIndex] = true
			a.Challenged = append(a.Challenged, abi.ChallengedReply{EvidenceIndex: item.EvidenceIndex, Status: abi.ItemStands})
		}
	}
	return a
}

// Visit asks the node's persona for its artifact. The family decides which, never the name.
func (l *lightPath) Visit(ctx context.Context, node *pipeline.Node, _ int) (again bool, err error) {
	p := l.persona(node, 0)
	artifact, err := l.node(ctx, node, p, l.request(node, p), func(a *abi.Artifact, c *abi.Collector) {
		abi.CheckLight(a, l.req.Feedback, l.req.Case.Labels, l.evidence(), c)
	})
	if err != nil {
		return false, err
	}
	entry, err := l.keep(node, len(l.passes)-1, p.ID, artifact)
	if err != nil {
		return false, err
	}
	l.pass.Artifacts = append(l.pass.Artifacts, entry)
	return false, l.take(node, artifact)
}

// request is what the node's masks let a persona see.
func (l *lightPath) request(node *pipeline.Node, p *pipeline.Persona) *abi.NodeRequest {
	subject := l.req.Case
	req, complete := l.nodeRequest(node, p, subject, l.domain)
	if complete {
		return req
	}
	file := l.file
	file.LoopsLeft = l.loops
	req.Case = abi.CaseView{
		Subject: subject.Subject, Labels: subject.Labels, Evidence: l.evidence(), Documents: subject.Documents, Light: l.req.Previous,
	}
	req.File, req.Profile = &file, l.profile
	return req
}

// evidence is all that there is, what was there before first.
func (l *lightPath) evidence() []abi.Evidence { return slices.Concat(l.before, l.gathered) }

// take puts an artifact into the file, and what it says of the case into the evidence.
func (l *lightPath) take(node *pipeline.Node, a *abi.Artifact) error {
	switch {
	case a.Recall != nil:
		l.file.Recall = a.Recall
		if r := a.Recall; r.Match {
			return l.gatherAt(node, precedent(r.PriorCase, r.Classification, r.Reasoning, r.Confidence, r.Confirmed))
		}
	case a.Triage != nil:
		l.file.Triage = a.Triage
	case a.Resolve != nil:
		l.file.Resolve = a.Resolve
	case a.Investigate != nil:
		l.file.Investigate = a.Investigate
		return l.gatherAt(node, a.Investigate.Evidence)
	case a.Correlate != nil:
		l.file.Correlate = a.Correlate
		if r := a.Correlate; r.LinkedCase != "" {
			return l.gatherAt(node, precedent(r.LinkedCase, r.Classification, r.Reasoning, r.Confidence, r.Confirmed))
		}
	case a.Review != nil:
		l.file.Review = review(node, a.Review)
		l.last = &abi.Artifact{Review: l.file.Review}
	case a.Report != nil:
		// The items of a remand's answers are those of the node that gathered them, or the report's.
		report := *a.Report
		report.Remand = mapReplies(report.Remand, func(e *abi.Evidence) abi.Evidence { return l.attributed(node, e) })
		l.report, l.last = &report, &abi.Artifact{Report: &report}
	}
	return nil
}

// precedent is the evidence that an earlier case is, where its verdict names a label of this one. It supports the label only where
// that is known to be right. What a machine decided it decided from text like this, which speaks for itself: it is no second observation.
func precedent(prior, label, reasoning string, confidence float64, confirmed bool) []abi.Evidence {
	if prior == "" || label == "" {
		return nil
	}
	e := abi.Evidence{SourceRef: abi.CasebookSource + ":" + prior, Content: reasoning, RelevanceConfidence: confidence}
	e.Content = cmp.Or(e.Content, "an earlier case, "+prior+", was "+label)
	if confirmed {
		e.Supports = label
	}
	return []abi.Evidence{e}
}

// review is a decision as far as it counts: without the mask of judgment a
// review only recommends, and the case continues as if it had approved.
func review(node *pipeline.Node, r *abi.ReviewDecision) *abi.ReviewDecision {
	if slices.Contains(node.Masks, pipeline.MaskJudgment) {
		return r
	}
	return &abi.ReviewDecision{Decision: abi.Approve, Confidence: r.Confidence}
}

// gatherAt merges what a node found, with the element of the node. It stands in place of what the node found earlier in the traversal: what
// it doesn't give again, it has withdrawn.
func (l *lightPath) gatherAt(node *pipeline.Node, items []abi.Evidence) error {
	l.channels = slices.DeleteFunc(l.channels, func(c channel) bool { return c.node == node.Name })
	if len(items) > 0 {
		name := fmt.Sprintf("pass-%d/%s/%d", len(l.passes), node.Name, l.sequence[node.Name])
		if err := l.gather(name, mapItems(items, func(e *abi.Evidence) abi.Evidence { return l.attributed(node, e) })); err != nil {
			return err
		}
		l.channels = append(l.channels, channel{node.Name, name})
	}
	l.refresh()
	return nil
}

// attributed is an item that a node brings, with the node's element and named after the node's module; one that is there already stays
// as it is. The host writes the casebook's items itself.
func (l *lightPath) attributed(node *pipeline.Node, item *abi.Evidence) abi.Evidence {
	if same := abi.FindEvidence(l.evidence(), item.SourceRef, item.Content); same != nil {
		return *same
	}
	own := *item
	own.Element = elementOf(node)
	if !abi.IsReserved(own.SourceRef) {
		own.SourceRef = odds.Attributed(own.SourceRef, l.persona(node, 0).Module)
	}
	return own
}

// refresh takes over what a merge has changed.
func (l *lightPath) refresh() {
	l.gathered = nil
	evidences := l.state.Snapshot().Evidences
	for _, c := range l.channels {
		for _, e := range evidences[c.name] {
			if abi.FindEvidence(l.before, e.SourceRef, e.Content) == nil && abi.FindEvidence(l.gathered, e.SourceRef, e.Content) == nil {
				l.gathered = append(l.gathered, e)
			}
		}
	}
	standing, _ := l.domain.standing(l.req.Case, l.evidence())
	l.profile = l.hasInstead(l.profile, standing)
}

// Ask puts the edges of a node to the modules that evaluate them. The host keeps the budget of loops itself.
func (l *lightPath) Ask(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge) ([]traverse.Answer, error) {
	answers, err := l.edges(ctx, node, edges, abi.EdgeRequest{
		Artifact: l.last, LoopsLeft: l.loops, Limits: abi.Limits{Handoffs: len(l.pass.Artifacts), MaxHandoffs: maxLightSteps},
	})
	if err != nil {
		return nil, err
	}
	for i, e := range edges {
		if e.Loop && l.loops <= 0 && answers[i].Fires {
			answers[i] = traverse.Answer{Why: "no loop is left: " + answers[i].Why}
		}
	}
	return answers, nil
}
