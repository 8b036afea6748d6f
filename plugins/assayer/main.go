// Command assayer is a judge of an audit: it traces claims to the evidence, and checks the confidence against it.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/judge"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
)

func init() { judge.Handle(score) }

func main() {}

func score(r *abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure) {
	return reading.Judge("the assayer", r, func(r *abi.JudgeRequest) func(string) (abi.CriterionOpinion, bool) { return newAssay(r).judge })
}
