// Command assayer is a judge of an audit: it traces claims
// to the evidence, and checks the confidence against it.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/judge"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
)

func init() { judge.Handle(score) }

func main() {}

func score(r *abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure) {
	if failure := params.Check("the assayer", r.Params); failure != nil {
		return nil, failure
	}
	hand := newReading(r)
	opinions := make([]abi.CriterionOpinion, len(r.Criteria))
	for i := range r.Criteria {
		o, ok := hand.judge(r.Criteria[i].CriterionID)
		if !ok {
			return nil, guest.Fail(unknownCriterion, "the assayer can't judge "+r.Criteria[i].CriterionID)
		}
		o.Judge, o.CriterionID = r.Judge, r.Criteria[i].CriterionID
		reading.Reconsider(&o, r.Evidence)
		opinions[i] = o
	}
	return opinions, nil
}

const unknownCriterion = "unknown_criterion"
