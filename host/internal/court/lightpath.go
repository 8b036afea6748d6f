package court

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/shadowcourt/shadowcourt/abi"
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
		if _, ok := elementOfFamily(abi.Family(n.Family)); !ok {
			err = fmt.Errorf("node %q: a Light path has no node of the family %q", n.Name, n.Family)
		} else {
			err = onePersona(n)
		}
		if err != nil {
			return nil, fmt.Errorf("pipeline %s: %w", def.Pipeline, err)
		}
		if abi.Family(n.Family) == abi.FamilyResolve && g.again == nil {
			g.again = n
		}
	}
	if g.again == nil {
		g.again = graph.Start()
	}
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
	e, _ := elementOfFamily(abi.Family(n.Family))
	return cmp.Or(abi.Element(n.Element), e)
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

// Answer traverses the graph: from its start, or after a remand from resolve. Its
// error is a *trial.Failure that names the module, or what else broke the
// traversal, or the context's.
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
	switch abi.Family(node.Family) { //nolint:exhaustive // the others conclude nothing
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
