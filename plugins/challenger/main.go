// Command challenger is the module of the prosecution: it indicts, argues in
// the hearing, and contests what speaks against its charge.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/experiments"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

func init() {
	node.Handle(prosecute)
	node.HandleOffers(choose)
	contest.Handle(contestAgainst)
}

func main() {}

func prosecute(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if len(r.Case.Labels) == 0 {
		return nil, guest.Fail(incomplete, "the case has no labels")
	}
	switch r.Family {
	case abi.FamilyIndict:
		if r.Case.Light == nil {
			return nil, guest.Fail(incomplete, "an indictment needs Light's classification")
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

// choose asks at its turns of the hearing for the experiment that would confirm the charge, if it is right.
func choose(r *abi.NodeRequest) *abi.Experiment {
	if r.Family != abi.FamilyHearing || r.Indictment == nil || r.Turn == nil || len(r.Case.Labels) == 0 {
		return nil
	}
	before := proceeding.Challenges(r)
	scale := weigh.Weigh(proceeding.Matter(r, append(before, ownChallenges(r, before)...)))
	return experiments.Next(r, scale, experiments.For(r.Indictment.ChargedDefectType))
}

const incomplete = "incomplete_request"
