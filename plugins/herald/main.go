// Command herald is the module that meets a case first: it asks the casebook
// whether the failure is known, and sorts the symptom.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/capability"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

func init() { node.Handle(herald{capability.Recall}.play) }

func main() {}

// herald plays recall and triage. recall asks the casebook.
type herald struct {
	recall func(abi.RecallQuery) ([]abi.PriorCase, *abi.Failure)
}

func (h herald) play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if len(r.Case.Labels) == 0 {
		return nil, guest.Fail("incomplete_request", "the case has no labels")
	}
	switch r.Family {
	case abi.FamilyRecall:
		prior, failure := h.recall(abi.RecallQuery{Limit: maxPrior})
		if failure != nil {
			return nil, failure
		}
		return &abi.Artifact{Recall: recall(r, prior)}, nil
	case abi.FamilyTriage:
		return &abi.Artifact{Triage: triage(r)}, nil
	default:
		return nil, guest.Fail(guest.WrongFamily, "the herald doesn't play "+string(r.Family))
	}
}
