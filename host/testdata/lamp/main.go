// A module for tests that plays the Light path as the parameter `behave` of a
// node or an edge says.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/edges"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

func init() {
	node.Handle(func(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) { return light(r, behaviour(r.Params)) })
	edges.Handle(answer)
}

func main() {}

func behaviour(params []abi.Param) string {
	for _, p := range params {
		if p.Name == "behave" && p.Text != nil {
			return *p.Text
		}
	}
	return ""
}

// answer fires what it is told to.
func answer(r *abi.EdgeRequest) ([]abi.EdgeAnswer, *abi.Failure) {
	answers := make([]abi.EdgeAnswer, len(r.Questions))
	for i, q := range r.Questions {
		answers[i] = abi.EdgeAnswer{ID: q.ID, Fires: behaviour(q.Params) == "yes", Why: "as told"}
	}
	return answers, nil
}
