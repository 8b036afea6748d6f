// Command bulwark is the module of the bench: it reads the documents at
// discovery, keeps the notes of the hearing, and contests the items that fall
// to its element.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

func init() {
	node.Handle(preside)
	contest.Handle(contestVague)
}

func main() {}

func preside(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if len(r.Case.Labels) == 0 {
		return nil, guest.Fail(incomplete, "the case has no labels")
	}
	switch r.Family {
	case abi.FamilyDiscover:
		return &abi.Artifact{Discovery: discover(r)}, nil
	case abi.FamilyHearing:
		if r.Indictment == nil || r.Turn == nil {
			return nil, guest.Fail(incomplete, "a turn of the hearing needs the indictment and whose turn it is")
		}
		return &abi.Artifact{HearingTurn: note(r)}, nil
	default:
		return nil, guest.Fail(guest.WrongFamily, "the bulwark doesn't play "+string(r.Family))
	}
}

const incomplete = "incomplete_request"
