package invoker

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/traverse"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Steps converts the steps of a traversal.
func Steps(outcome *traverse.Outcome) []trial.Step {
	list := make([]trial.Step, len(outcome.Steps))
	for i := range outcome.Steps {
		w := &outcome.Steps[i]
		s := trial.Step{Node: w.Node, Edge: w.EdgeID, To: w.To, Asked: make([]abi.EdgeAnswer, len(w.Answers))}
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
