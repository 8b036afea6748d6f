// Command warden is the security judge of an audit: it looks for what addresses the reader in the opinion and in the evidence.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/judge"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
)

func init() { judge.Handle(score) }

func main() {}

func score(r *abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure) {
	return reading.Judge("the warden", r, func(r *abi.JudgeRequest) func(string) (abi.CriterionOpinion, bool) {
		found := inspect(&r.Opinion, r.Evidence)
		return func(criterion string) (abi.CriterionOpinion, bool) { return found, criterion == "security" }
	})
}
