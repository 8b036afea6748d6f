// Package judgment is what the judge does without a language model: it gives the verdict, and contests nothing.
package judgment

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Play gives the verdict.
func Play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if failure := check(r); failure != nil {
		return nil, failure
	}
	verdict := judge(r)
	verdict.Reasoning = proceeding.Join(proceeding.BaseFails(r.Case.Experiments), verdict.Reasoning)
	return &abi.Artifact{Verdict: verdict}, nil
}

// Choose asks for the experiment that tells most about the label, while none is settled.
func Choose(r *abi.NodeRequest) *abi.Experiment {
	if check(r) != nil || broken(r) != "" {
		return nil
	}
	return proceeding.Next(r, weigh.Weigh(proceeding.Indicted(r).Matter(proceeding.Challenges(r))))
}

// check says why a request cannot be answered, or nothing.
func check(r *abi.NodeRequest) *abi.Failure {
	if r.Family != abi.FamilyVerdict {
		return guest.Fail(guest.WrongFamily, "the specter doesn't play "+string(r.Family))
	}
	if r.Indictment == nil || len(r.Case.Labels) == 0 {
		return guest.Fail("incomplete_request", "a verdict needs the indictment and the labels of the case")
	}
	return params.Check("the verdict", r.Params, append(proceeding.ExperimentParams(), "min_confidence", "min_lead", "close_lead", params.EnvironmentLabels)...)
}
