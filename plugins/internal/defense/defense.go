// Package defense is what the defense does without a language model: it answers the indictment, rebuts in the hearing, and
// contests the items that fall to its element.
package defense

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
)

// Play gives the artifact of a node of the defense.
func Play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if failure := check(r); failure != nil {
		return nil, failure
	}
	if r.Family == abi.FamilyDefend {
		return &abi.Artifact{DefenseBrief: brief(r)}, nil
	}
	return &abi.Artifact{HearingTurn: rebut(r)}, nil
}

// check says why a request cannot be answered, or nothing.
func check(r *abi.NodeRequest) *abi.Failure {
	if r.Indictment == nil || len(r.Case.Labels) == 0 {
		return guest.Fail(incomplete, "the defense needs the indictment and the labels of the case")
	}
	switch r.Family {
	case abi.FamilyDefend:
		return params.Check("the defense", r.Params, "rival_ratio")
	case abi.FamilyHearing:
		if r.Turn == nil {
			return guest.Fail(incomplete, "a turn of the hearing needs whose turn it is")
		}
		return nil // the parameters of a hearing are for three personas
	default:
		return guest.Fail(guest.WrongFamily, "the abyss doesn't play "+string(r.Family))
	}
}

const incomplete = "incomplete_request"

// Contest contests the items that fall to the defense's element, whatever label they speak for: an item that is flawed serves neither
// side.
func Contest(r *abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
	return proceeding.Contest(r, proceeding.Everything), nil
}
