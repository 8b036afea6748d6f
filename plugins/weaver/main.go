// Command weaver concludes the Light path: it correlates the failure with earlier cases, reviews the conclusion, and reports it.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/capability"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

func init() { node.Handle(weaver{capability.Correlate}.play) }

func main() {}

// weaver plays correlate, review and report. correlate searches the casebook.
type weaver struct {
	correlate func(abi.CorrelateQuery) ([]abi.PriorCase, *abi.Failure)
}

func (w weaver) play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if len(r.Case.Labels) == 0 {
		return nil, guest.Fail("incomplete_request", "the case has no labels")
	}
	switch r.Family {
	case abi.FamilyCorrelate:
		prior, failure := w.correlate(abi.CorrelateQuery{Text: query(r), Limit: maxPrior})
		if failure != nil {
			return nil, failure
		}
		return &abi.Artifact{Correlate: correlate(r, prior)}, nil
	case abi.FamilyReview:
		return &abi.Artifact{Review: review(r)}, nil
	case abi.FamilyReport:
		return &abi.Artifact{Report: report(r)}, nil
	default:
		return nil, guest.Fail(guest.WrongFamily, "the weaver doesn't play "+string(r.Family))
	}
}
