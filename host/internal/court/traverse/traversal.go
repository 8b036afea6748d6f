// Package traverse goes through a pipeline's graph from its start to an end. It knows nothing of courts: what happens at
// a node and how edges are answered is the caller's.
//
// At each node the [Visitor] is called once, then all edges that leave the node, those of every node first, are put to
// it in one call. The rules:
//
//   - Answers are taken in file order and the first yes wins.
//   - Edges of any node come before the node's own. They count before a move to a node, never before a move to an
//     end: an own edge that has been answered with yes and leads to an end is taken.
//   - Without a yes the same node is visited again if the visitor asked for it; else the traversal continues with the next node
//     in file order; at the last node it fails with [ErrNoEdge].
//   - An edge whose evaluator is [pipeline.Always] fires without being asked.
package traverse

import (
	"cmp"
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// DefaultMaxSteps is the step limit of a Config that states none.
const DefaultMaxSteps = 1000

// Visitor does the work of the nodes of one traversal, and says which edges fire.
type Visitor interface {
	// Visit does the work of a node. visit counts the visits of this traversal to this node from 1, repetitions and returns
	// over edges alike. again asks for another visit if no edge fires, as a hearing does that has rounds left.
	Visit(ctx context.Context, node *pipeline.Node, visit int) (again bool, err error)
	// Ask answers for all edges of a node at once: answers[i] belongs to edges[i]. The edges of any node come first
	// (see [pipeline.Edge.FromAny]), each group in file order; there is at least one.
	Ask(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge) (answers []Answer, err error)
}

// Answer says whether an edge fires, and why.
type Answer struct {
	Fires bool
	Why   string
}

// Config of a traversal. The zero value is useful.
type Config struct {
	// Start is the first node. Default: that of the graph.
	Start *pipeline.Node
	// MaxSteps is how many visits it may take; 0 means DefaultMaxSteps.
	MaxSteps int
	// Ended gives the error that it ends with before its next step, or nil. Default: the cause of a context that is done.
	Ended func(ctx context.Context) error
	// Moved is told of each step when its move is decided. Optional.
	Moved func(*Step)
}

// Run goes through a graph to an end. The Outcome is never nil: with an error it holds the steps so far and no end.
// Errors: [*NoEdgeError], [*StepLimitError], the cause of a context that is done between two
// steps, or what Config.Ended gives in its place, and whatever the visitor returns, wrapped. A context that is done during a step does
// not end the traversal before the step's edges were asked.
func Run(ctx context.Context, graph *pipeline.Graph, visitor Visitor, config Config) (*Outcome, error) {
	node := config.Start
	if node == nil {
		node = graph.Start()
	}
	ended := config.Ended
	if ended == nil {
		ended = context.Cause
	}
	limit := cmp.Or(config.MaxSteps, DefaultMaxSteps)
	out := &Outcome{Start: node.Name}
	visits := make(map[string]int)
	for {
		if err := ended(ctx); err != nil {
			return out, err
		}
		if len(out.Steps) >= limit {
			return out, &StepLimitError{Limit: limit, Node: node.Name}
		}
		visits[node.Name]++
		again, err := visitor.Visit(ctx, node, visits[node.Name])
		if err != nil {
			return out, fmt.Errorf("visit node %q: %w", node.Name, err)
		}
		answers, err := ask(ctx, graph, visitor, node)
		if err != nil {
			return out, err
		}
		step := Step{Node: node.Name, Visit: visits[node.Name], Answers: answers}
		err = decide(graph, &step, again)
		out.Steps = append(out.Steps, step)
		if err != nil {
			return out, err
		}
		if config.Moved != nil {
			config.Moved(&step)
		}
		if pipeline.IsEnd(step.To) {
			out.End = step.To
			return out, nil
		}
		node, _ = graph.Node(step.To) // a checked graph leads to nodes and ends only
	}
}

// decide says where a step goes. Its error is a *NoEdgeError.
func decide(graph *pipeline.Graph, step *Step, again bool) error {
	if edge := choose(step.Answers); edge != nil {
		step.EdgeID, step.To = edge.ID, edge.To
		return nil
	}
	if again {
		step.Again, step.To = true, step.Node
		return nil
	}
	next, ok := graph.Next(step.Node)
	if !ok {
		return &NoEdgeError{Node: step.Node}
	}
	step.Fallthrough, step.To = true, next.Name
	return nil
}

// ask collects the answers of all edges that leave a node, asking only for those that don't answer themselves.
func ask(ctx context.Context, graph *pipeline.Graph, visitor Visitor, node *pipeline.Node) ([]EdgeAnswer, error) {
	anyEdges, own := graph.AnyEdges(), graph.EdgesFrom(node.Name)
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
	answers, err := visitor.Ask(ctx, node, open)
	if err != nil {
		return nil, fmt.Errorf("ask the edges of node %q: %w", node.Name, err)
	}
	if len(answers) != len(open) {
		return nil, fmt.Errorf("%d answers for %d edges of node %q", len(answers), len(open), node.Name)
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
