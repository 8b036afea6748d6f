package invoker

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/walk"
)

// Step is one step of a walk, for people.
type Step struct {
	Node string
	// Edge that fired; empty for a fall-through.
	Edge string
	To   string
	// Why is what the evaluator said of the edge that fired.
	Why string
	// Asked are all edges that were put to the clerk, with their answers.
	Asked []abi.EdgeAnswer
}

// Steps states the steps of a walk.
func Steps(walked *walk.Outcome) []Step {
	list := make([]Step, len(walked.Steps))
	for i := range walked.Steps {
		w := &walked.Steps[i]
		s := Step{Node: w.Node, Edge: w.EdgeID, To: w.To, Asked: make([]abi.EdgeAnswer, len(w.Answers))}
		for j, a := range w.Answers {
			s.Asked[j] = abi.EdgeAnswer{ID: a.Edge.ID, Fires: a.Fires, Why: a.Why}
			if a.Edge.ID == w.EdgeID {
				s.Why = a.Why
			}
		}
		list[i] = s
	}
	return list
}
