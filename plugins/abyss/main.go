// Command abyss is the module of the defense: it answers the indictment,
// rebuts in the hearing, and contests the items that fall to its element.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/params"
)

func init() {
	node.Handle(defend)
	contest.Handle(contestOwn)
}

func main() {}

func defend(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if r.Indictment == nil || len(r.Case.Labels) == 0 {
		return nil, guest.Fail(incomplete, "the defense needs the indictment and the labels of the case")
	}
	switch r.Family {
	case abi.FamilyDefend:
		if failure := params.Check("the defense", r.Params, "rival_ratio"); failure != nil {
			return nil, failure
		}
		return &abi.Artifact{DefenseBrief: brief(r)}, nil
	case abi.FamilyHearing:
		if r.Turn == nil {
			return nil, guest.Fail(incomplete, "a turn of the hearing needs whose turn it is")
		}
		return &abi.Artifact{HearingTurn: rebut(r)}, nil
	default:
		return nil, guest.Fail(guest.WrongFamily, "the abyss doesn't play "+string(r.Family))
	}
}

const incomplete = "incomplete_request"
