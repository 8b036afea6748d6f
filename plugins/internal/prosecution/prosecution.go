// Package prosecution is what the prosecution does without a language model: it indicts, argues in the hearing, and contests what
// speaks against its charge.
package prosecution

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
)

// Play gives the artifact of a node of the prosecution.
func Play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if len(r.Case.Labels) == 0 {
		return nil, guest.Fail(incomplete, "the case has no labels")
	}
	switch r.Family {
	case abi.FamilyIndict:
		if r.Case.Light == nil {
			return nil, guest.Fail(incomplete, "an indictment needs Light's classification")
		}
		if failure := params.Check("the prosecution", r.Params, proceeding.ExperimentParams()...); failure != nil {
			return nil, failure
		}
		return &abi.Artifact{Indictment: indict(r)}, nil
	case abi.FamilyHearing:
		if r.Indictment == nil || r.Turn == nil {
			return nil, guest.Fail(incomplete, "a turn of the hearing needs the indictment and whose turn it is")
		}
		return &abi.Artifact{HearingTurn: argue(r)}, nil
	default:
		return nil, guest.Fail(guest.WrongFamily, "the challenger doesn't play "+string(r.Family))
	}
}

// Choose asks at the indictment where labels are guarded: only runs can carry a charge then. In the hearing the prosecution asks for none.
func Choose(r *abi.NodeRequest) *abi.Experiment {
	if r.Family != abi.FamilyIndict || r.Case.Light == nil || len(r.Case.Labels) == 0 || proceeding.GuardOf(r.Params) == nil {
		return nil
	}
	return proceeding.Next(r, weighIndictment(r))
}

const incomplete = "incomplete_request"

// Contest contests the items that fall to the prosecution's element, as far as they speak against its charge.
func Contest(r *abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
	return proceeding.Contest(r, speaksAgainst(r.ChargedDefectType)), nil
}
