// Command rhetor is a judge of an audit: it reads how an opinion argues.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/judge"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
)

func init() { judge.Handle(score) }

func main() {}

func score(r *abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure) {
	return reading.Judge("the rhetor", r, func(r *abi.JudgeRequest) func(string) (abi.CriterionOpinion, bool) { return newRhetoric(r).judge })
}
