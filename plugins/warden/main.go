// Command warden is the security judge of an audit: it looks for what
// addresses the reader in the opinion and in the evidence.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/judge"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
)

func init() { judge.Handle(score) }

func main() {}

func score(r *abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure) {
	if failure := params.Check("the warden", r.Params); failure != nil {
		return nil, failure
	}
	found := inspect(&r.Opinion, r.Evidence)
	opinions := make([]abi.CriterionOpinion, len(r.Criteria))
	for i := range r.Criteria {
		if r.Criteria[i].CriterionID != "security" {
			return nil, guest.Fail("unknown_criterion", "the warden can't judge "+r.Criteria[i].CriterionID)
		}
		found.Judge, found.CriterionID = r.Judge, r.Criteria[i].CriterionID
		opinions[i] = found
	}
	return opinions, nil
}
