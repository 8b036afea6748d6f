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
	"errors"
	"fmt"
	"sync"

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

// Run goes through a graph to an end. The Outcome is never nil: with an error it holds the steps so far and no end. Errors: [*NoEdgeError],
// [*StepLimitError], the cause of a context that is done between two steps, or what Config.Ended gives in its place, and whatever the
// visitor returns, wrapped. A context that is done during a step does not end the traversal before the step's edges were asked.
func Run(ctx context.Context, graph *pipeline.Graph, visitor Visitor, config Config) (*Outcome, error) {
	node := cmp.Or(config.Start, graph.Start())
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
			fromAny = cmp.Or(fromAny, a.Edge)
		case own == nil:
			own = a.Edge
		}
	}
	if own != nil && (fromAny == nil || pipeline.IsEnd(own.To)) {
		return own
	}
	return fromAny
}

// Sentinels for errors.Is; the types hold the data.
var (
	// ErrNoEdge: no edge of the last node fired.
	ErrNoEdge = errors.New("no edge fires at the last node")
	// ErrStepLimit: the traversal took more steps than allowed.
	ErrStepLimit = errors.New("step limit exceeded")
)

// NoEdgeError names the last node, at which no edge fired.
type NoEdgeError struct{ Node string }

func (e *NoEdgeError) Error() string {
	return fmt.Sprintf("no edge of the last node %q fires", e.Node)
}

// Is makes errors.Is(err, ErrNoEdge) true.
func (e *NoEdgeError) Is(target error) bool { return target == ErrNoEdge }

// StepLimitError says which limit was exceeded, and the node that would have been next.
type StepLimitError struct {
	Limit int
	Node  string
}

func (e *StepLimitError) Error() string {
	return fmt.Sprintf("the traversal took %d steps without reaching an end; next would be %q", e.Limit, e.Node)
}

// Is makes errors.Is(err, ErrStepLimit) true.
func (e *StepLimitError) Is(target error) bool { return target == ErrStepLimit }

// FanOut runs branches side by side, at most limit at once (0: all), and hands their results to arrive one by one, in the order in which
// they come, from the goroutine of the caller: the fan-in needs no lock. It returns when every branch has arrived; none is ever lost. A
// branch states its own failure in its result. A panic in a branch is one in the program.
func FanOut[R any](branches []func() R, limit int, arrive func(branch int, result R)) {
	if limit <= 0 || limit > len(branches) {
		limit = len(branches)
	}
	type arrival struct {
		branch int
		result R
	}
	arrivals := make(chan arrival, len(branches))
	slots := make(chan struct{}, limit)
	var running sync.WaitGroup
	for i, run := range branches {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			arrivals <- arrival{i, run()}
		})
	}
	for range branches {
		a := <-arrivals
		arrive(a.branch, a.result)
	}
	running.Wait()
}

// Outcome is what a traversal did.
type Outcome struct {
	// Start is the first node.
	Start string
	// End is the end that was reached, empty for a traversal that failed.
	End string
	// Steps are in the order in which they were made, one for each visit.
	Steps []Step
}

// Step is a visit to a node and the move that followed. Exactly one of EdgeID, Fallthrough and Again is set, and none
// in a last step that failed with [ErrNoEdge].
type Step struct {
	Node string
	// Visit counts the visits of the traversal to this node, from 1.
	Visit int
	// EdgeID is the edge that was taken.
	EdgeID string
	// To is where the traversal went: a node or an end.
	To string
	// Fallthrough: no edge fired, and the traversal continued to the next node in file order.
	Fallthrough bool
	// Again: no edge fired, and the same node was visited again.
	Again bool
	// Answers of all edges that leave the node, those of every node first.
	Answers []EdgeAnswer
}

// EdgeAnswer is the answer for one edge.
type EdgeAnswer struct {
	Edge *pipeline.Edge
	Answer
}

// Path gives the arrivals of the traversal: a bare node name for the start and for falling through, "EDGE:target" for an
// edge. Repeated visits of a node are no arrivals.
//
//	indict discover defend HD4:hearing HD5:verdict HD7:_done
func (o *Outcome) Path() []string { return pipeline.PathOf(o.Start, o.Moves()) }

// Moves gives the steps in the form in which a picture draws them.
func (o *Outcome) Moves() []pipeline.Move {
	moves := make([]pipeline.Move, 0, len(o.Steps))
	for i := range o.Steps {
		if s := &o.Steps[i]; s.To != "" {
			moves = append(moves, pipeline.Move{From: s.Node, Edge: s.EdgeID, To: s.To})
		}
	}
	return moves
}
