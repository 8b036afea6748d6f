package traverse

import "github.com/shadowcourt/shadowcourt/host/pipeline"

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
