// Command specter is the module of the arbiter: it gives the verdict, and
// contests the items that fall to its element.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

func init() {
	node.Handle(arbitrate)
	contest.Handle(contestBrittle)
}

func main() {}

func arbitrate(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if r.Family != abi.FamilyVerdict {
		return nil, guest.Fail(guest.WrongFamily, "the specter doesn't play "+string(r.Family))
	}
	if r.Indictment == nil || len(r.Case.Labels) == 0 {
		return nil, guest.Fail("incomplete_request", "a verdict needs the indictment and the labels of the case")
	}
	return &abi.Artifact{Verdict: judge(r)}, nil
}
