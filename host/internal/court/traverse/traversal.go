// Package traverse goes through a pipeline's graph from its start to an end. It knows nothing of courts: what happens at
// a node and how edges are answered is the caller's.
//
// At each node the [Visitor] is called once, then all edges that leave the node, those of every node first, are put to
// the [EdgeEvaluator] in one call. The rules:
//
//   - Answers are taken in file order and the first yes wins.
//   - Edges of any node come before the node's own. They count before a move to a node, never before a move to an
//     end: an own edge that has been answered with yes and leads to an end is taken.
//   - Without a yes the same node is visited again if the visitor asked for it; else the traversal continues with the next node
//     in file order; at the last node it fails with [ErrNoEdge].
//   - An edge whose evaluator is [pipeline.Always] fires without being asked.
package traverse

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// DefaultMaxSteps is the step limit of a Config that states none.
const DefaultMaxSteps = 1000

// Visitor does the work of a node. visit counts the visits of this traversal to this node from 1, repetitions and returns
// over edges alike. again asks for another visit if no edge fires, as a hearing does that has rounds left.
type Visitor interface {
	Visit(ctx context.Context, node *pipeline.Node, visit int) (again bool, err error)
}

// EdgeEvaluator answers for all edges of a node at once: answers[i] belongs to edges[i]. The edges of any node come first
// (see [pipeline.Edge.FromAny]), each group in file order; there is at least one.
type EdgeEvaluator interface {
	Ask(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge) (answers []Answer, err error)
}

// Answer says whether an edge fires, and why.
type Answer struct {
	Fires bool
	Why   string
}

// Config bounds a traversal.
type Config struct {
	// MaxSteps is how many visits a traversal may take; 0 means DefaultMaxSteps.
	MaxSteps int
	// Ended gives the error that a traversal ends with before its next step, or nil. Default: the cause of a context that is done.
	Ended func(ctx context.Context) error
	// Moved is told of each step when its move is decided. Optional.
	Moved func(*Step)
}

// Traversal goes through one graph. It keeps nothing between traversals, and may be used by several goroutines at once if its
// visitor and evaluator may.
type Traversal struct {
	graph     *pipeline.Graph
	visitor   Visitor
	evaluator EdgeEvaluator
	maxSteps  int
	ended     func(ctx context.Context) error
	moved     func(*Step)
}

// New makes a Traversal.
func New(graph *pipeline.Graph, visitor Visitor, evaluator EdgeEvaluator, config Config) *Traversal {
	w := &Traversal{graph: graph, visitor: visitor, evaluator: evaluator, maxSteps: config.MaxSteps, ended: config.Ended, moved: config.Moved}
	if w.maxSteps <= 0 {
		w.maxSteps = DefaultMaxSteps
	}
	if w.ended == nil {
		w.ended = context.Cause
	}
	if w.moved == nil {
		w.moved = func(*Step) {}
	}
	return w
}

// Run goes from the graph's start to an end; see RunFrom.
func (w *Traversal) Run(ctx context.Context) (*Outcome, error) {
	return w.RunFrom(ctx, w.graph.Start())
}

// RunFrom goes from a node of the graph to an end. The Outcome is never nil: with an error it holds the steps so far and no end.
// Errors: [*NoEdgeError], [*StepLimitError], [*AnswerCountError], the cause of a context that is done between two
// steps, or what Config.Ended gives in its place, and whatever visitor and evaluator return, wrapped. A context that is done during a step does not end the traversal
// before the step's edges were asked.
func (w *Traversal) RunFrom(ctx context.Context, node *pipeline.Node) (*Outcome, error) {
	out := &Outcome{Start: node.Name}
	visits := make(map[string]int)
	for {
		if err := w.ended(ctx); err != nil {
			return out, err
		}
		if len(out.Steps) >= w.maxSteps {
			return out, &StepLimitError{Limit: w.maxSteps, Node: node.Name}
		}
		visits[node.Name]++
		again, err := w.visitor.Visit(ctx, node, visits[node.Name])
		if err != nil {
			return out, fmt.Errorf("visit node %q: %w", node.Name, err)
		}
		answers, err := w.ask(ctx, node)
		if err != nil {
			return out, err
		}
		step := Step{Node: node.Name, Visit: visits[node.Name], Answers: answers}
		err = w.decide(&step, again)
		out.Steps = append(out.Steps, step)
		if err != nil {
			return out, err
		}
		w.moved(&step)
		if pipeline.IsEnd(step.To) {
			out.End = step.To
			return out, nil
		}
		node, _ = w.graph.Node(step.To) // a checked graph leads to nodes and ends only
	}
}

// decide says where a step goes. Its error is a *NoEdgeError.
func (w *Traversal) decide(step *Step, again bool) error {
	if edge := choose(step.Answers); edge != nil {
		step.EdgeID, step.To = edge.ID, edge.To
		return nil
	}
	if again {
		step.Again, step.To = true, step.Node
		return nil
	}
	next, ok := w.graph.Next(step.Node)
	if !ok {
		return &NoEdgeError{Node: step.Node}
	}
	step.Fallthrough, step.To = true, next.Name
	return nil
}

// ask collects the answers of all edges that leave a node, asking only for those that don't answer themselves.
func (w *Traversal) ask(ctx context.Context, node *pipeline.Node) ([]EdgeAnswer, error) {
	anyEdges, own := w.graph.AnyEdges(), w.graph.EdgesFrom(node.Name)
	all := make([]EdgeAnswer, 0, len(anyEdges)+len(own))
	open := make([]*pipeline.Edge, 0, cap(all))
	for _, edges := range [][]*pipeline.Edge{anyEdges, own} {
		for _, e := range edges {
			all = append(all, EdgeAnswer{Edge: e, Answer: Answer{Fires: e.Unconditional(), Why: "always"}})
			if !e.Unconditional() {
				open = append(open, e)
			}
		}
	}
	if len(open) == 0 {
		return all, nil
	}
	answers, err := w.evaluator.Ask(ctx, node, open)
	if err != nil {
		return nil, fmt.Errorf("ask the edges of node %q: %w", node.Name, err)
	}
	if len(answers) != len(open) {
		return nil, &AnswerCountError{Node: node.Name, Edges: len(open), Answers: len(answers)}
	}
	for i := range all {
		if !all[i].Edge.Unconditional() {
			all[i].Answer, answers = answers[0], answers[1:]
		}
	}
	return all, nil
}

// choose gives the edge that is taken, or nil.
func choose(answers []EdgeAnswer) *pipeline.Edge {
	var fromAny, own *pipeline.Edge
	for _, a := range answers {
		switch {
		case !a.Fires:
		case a.Edge.FromAny():
			if fromAny == nil {
				fromAny = a.Edge
			}
		case own == nil:
			own = a.Edge
		}
	}
	if own != nil && (fromAny == nil || pipeline.IsEnd(own.To)) {
		return own
	}
	return fromAny
}
